"""Captures: all that came in for one table, as lines, so that any run can be repeated exactly. Contract section 6.

Reading is forgiving line by line: what is damaged is reported with its number, the rest is played. Only a header that
cannot be understood ends it, because nothing after it would mean anything.

Writing is sparing with an SD card: lines go to the operating system at most once a second, a file is closed when it
has grown too large or too old and compressed afterwards, and the folder keeps to its bound by giving up the oldest.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import shutil
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, BinaryIO

from gateway.config import TableConfig, table_from, table_to
from gateway.errors import ConfigError, GatewayError
from gateway.events import Device
from gateway.publish import rfc3339
from gateway.sections import shown
from gateway.settings import Drivers

SUFFIX = ".capture.jsonl"
VERSION = 1
LATEST_T = 366 * 86400.0
"""No capture lasts longer than a year; a larger `t` is damage, and would let timers run for ages."""

Report = Callable[[int, str], None]
"""Takes the number of a damaged line, from 1, and what is wrong with it."""


class CaptureError(GatewayError):
    """The capture's header cannot be understood, so that nothing after it could be."""


class LineError(ValueError):
    """One line is damaged."""


# --- lines as values --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaptureHeader:
    """The first line: whose capture it is, and since when."""

    started: float
    """Seconds since 1970 UTC, to the millisecond."""
    gateway: str
    table: TableConfig


@dataclass(frozen=True, slots=True)
class Rx:
    """Bytes that came in; chunks may split frames anywhere."""

    t: float
    link: Device
    data: bytes
    channel: str | None = None
    """The characteristic's UUID on BLE links."""


@dataclass(frozen=True, slots=True)
class Tx:
    """Bytes that were sent: a record, not a script."""

    t: float
    link: Device
    data: bytes
    channel: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A device answered, or stopped answering."""

    t: float
    link: Device
    up: bool
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class CommandLine:
    """An arbiter's command, as received."""

    t: float
    command: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class State:
    """The table's whole state: the capture goes on from another one. Second line only."""

    t: float
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class End:
    """Timers run to this time, and no further."""

    t: float


Entry = Rx | Tx | Link | CommandLine | State | End


# --- writing ----------------------------------------------------------------------------------------------------


def header_line(header: CaptureHeader) -> str:
    """Return the header as a line."""
    return _line(
        {
            "capture": VERSION,
            "started": rfc3339(header.started),
            "gateway": header.gateway,
            "table": table_to(header.table),
        }
    )


def entry_line(entry: Entry) -> str:
    """Return an entry as a line."""
    t = {"t": round(entry.t, 3)}
    match entry:
        case Rx() | Tx():
            direction = "rx" if isinstance(entry, Rx) else "tx"
            channel = {} if entry.channel is None else {"channel": entry.channel}
            return _line({**t, "link": entry.link, "dir": direction, **channel, "hex": entry.data.hex()})
        case Link():
            detail = {} if entry.detail is None else {"detail": entry.detail}
            return _line({**t, "link": entry.link, "state": "up" if entry.up else "down", **detail})
        case CommandLine():
            return _line({**t, "command": entry.command})
        case State():
            return _line({**t, "state": entry.state})
        case End():
            return _line({**t, "end": True})


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


@dataclass(frozen=True, slots=True)
class Limits:
    """When a file is closed, and what all of them may take."""

    file_bytes: int = 16 << 20
    file_s: float = 12 * 3600.0
    folder_bytes: int = 1 << 30
    flush_s: float = 1.0


class Writer:
    """Writes one table's captures into a folder that all tables of the gateway share.

    Times of entries are the caller's `at`; the writer makes them `t` of the file they land in. When `due` says so the
    caller calls `rotate` with the table's state, so that the new file goes on exactly where the old one ended.
    """

    def __init__(
        self, folder: Path, gateway: str, table: TableConfig, epoch: float, at: float, limits: Limits | None = None
    ) -> None:
        """Begin the first file.

        Args:
            folder: where captures are kept; made if it is missing.
            gateway: id of the gateway.
            table: the table as configured.
            epoch: the wall clock, seconds since 1970, at `at` = 0.
            at: now.
            limits: sizes and ages.
        """
        self._folder = folder
        self._gateway = gateway
        self._table = table
        self._epoch = epoch
        self._limits = limits or Limits()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file: IO[str]
        self._begin(at, None)

    @property
    def path(self) -> Path:
        """The file that is written now."""
        return Path(self._file.name)

    def append(self, entry: Entry) -> None:
        """Write one entry, whose `t` is the caller's `at`."""
        line = entry_line(replace(entry, t=max(0.0, entry.t - self._opened)))
        self._file.write(line)
        self._bytes += len(line.encode())
        if entry.t - self._flushed >= self._limits.flush_s:
            self.flush(entry.t)

    def flush(self, at: float) -> None:
        """Hand what was written to the operating system; call it now and then when nothing is appended."""
        self._file.flush()
        self._flushed = at

    def due(self, at: float) -> bool:
        """Tell whether the file has grown too large or too old."""
        return self._bytes >= self._limits.file_bytes or at - self._opened >= self._limits.file_s

    def rotate(self, at: float, state: Mapping[str, Any], table: TableConfig | None = None) -> None:
        """Close the file and begin the next one with the table's state."""
        self.close(at)
        self._table = table or self._table
        self._begin(at, state)

    def close(self, at: float) -> None:
        """End the file."""
        self.append(End(at))
        self._file.close()

    def _begin(self, at: float, state: Mapping[str, Any] | None) -> None:
        # `started` keeps milliseconds; what is cut off is added to every `t`, so that stamps stay the same.
        started = int((self._epoch + at) * 1000) / 1000
        self._opened = started - self._epoch
        self._flushed = at
        self._file = self._create(started)
        lines = [header_line(CaptureHeader(started, self._gateway, self._table))]
        if state is not None:
            lines.append(entry_line(State(at - self._opened, state)))
        self._file.writelines(lines)
        self._file.flush()
        self._bytes = sum(len(line.encode()) for line in lines)
        self._prune()

    def _create(self, started: float) -> IO[str]:
        """Open a file that does not exist yet: ``TABLE.YYYYMMDDTHHMMSSZ[-N].capture.jsonl``."""
        name = f"{self._table.id}.{datetime.fromtimestamp(started, UTC):%Y%m%dT%H%M%SZ}"
        number = 1
        while True:
            path = self._folder / f"{name}{'' if number == 1 else f'-{number}'}{SUFFIX}"
            try:
                return path.open("x", encoding="utf-8")
            except FileExistsError:
                number += 1

    def _prune(self) -> None:
        """Remove the oldest files until the folder keeps its bound; the newest of each table may be in use."""
        found = []
        for path in self._folder.glob(f"*{SUFFIX}*"):
            stat = path.stat()
            found.append((stat.st_mtime, stat.st_size, path))
        found.sort(reverse=True)
        newest = {path.name.split(".")[0]: path for _, _, path in reversed(found)}
        newest[self._table.id] = self.path
        total = sum(size for _, size, _ in found)
        for _, size, path in reversed(found):
            if total <= self._limits.folder_bytes:
                return
            if path not in newest.values():
                path.unlink(missing_ok=True)
                total -= size


def closed(folder: Path, in_use: Collection[Path]) -> Path | None:
    """The oldest file that is not compressed and that nobody writes any more; None if there is none."""
    found = [path for path in folder.glob(f"*{SUFFIX}") if path not in in_use]
    return min(found, key=lambda path: path.stat().st_mtime, default=None)


def compress(path: Path) -> None:
    """Put a compressed file in the place of this one; to a tenth of it or less. Raises `OSError`."""
    part = path.with_name(f"{path.name}.gz.part")
    try:
        with path.open("rb") as source, gzip.open(part, "wb", compresslevel=6) as target:
            shutil.copyfileobj(source, target)
        # The oldest file goes first, by its time.
        shutil.copystat(path, part)
        part.replace(path.with_name(f"{path.name}.gz"))
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    path.unlink()


# --- reading ----------------------------------------------------------------------------------------------------


class Reader:
    """One capture: the header at once, the entries as they are asked for."""

    def __init__(self, source: Path | BinaryIO, drivers: Drivers, report: Report) -> None:
        """Read the header.

        Args:
            source: a file, or an open stream of bytes; compressed or not.
            drivers: the known drivers by name.
            report: told each damaged line.

        Raises:
            OSError: the file cannot be read.
            CaptureError: the header cannot be understood.
        """
        self._stream = _plain(source)
        self._report = report
        self._lines = self._numbered()
        try:
            _, line = next(self._lines)
            self.header = _header(_object(line), drivers)
        except StopIteration:
            self._stream.close()
            raise CaptureError("line 1: no header") from None
        except (LineError, ConfigError) as problem:
            self._stream.close()
            raise CaptureError("\n".join(f"line 1: {text}" for text in str(problem).splitlines())) from problem
        self._links: set[str] = {"board"}
        if self.header.table.clock.driver not in ("board", "none"):
            self._links.add("clock")

    def __iter__(self) -> Iterator[tuple[int, Entry]]:
        """Yield the sound entries with their line numbers, in order, once."""
        last, ended = 0.0, False
        with self._stream:
            for number, line in self._lines:
                try:
                    entry = self._entry(number, line)
                    if entry.t < last:
                        raise LineError(f"t goes back from {last} to {entry.t}")
                    if ended:
                        raise LineError("it comes after the end")
                except LineError as problem:
                    self._report(number, str(problem))
                    continue
                last, ended = entry.t, isinstance(entry, End)
                yield number, entry

    def _entry(self, number: int, line: bytes) -> Entry:
        values = _object(line)
        if "capture" in values:
            raise LineError("a second header")
        entry = _parsed(values)
        if isinstance(entry, Rx | Tx | Link) and entry.link not in self._links:
            raise LineError(f"unknown link {shown(entry.link)}")
        if isinstance(entry, State) and number != 2:
            raise LineError("a state that is not on the second line")
        return entry

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines with their numbers; empty ones are passed over, a broken end is reported."""
        number = 0
        try:
            for line in self._stream:
                number += 1
                if line.strip():
                    yield number, line
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            self._report(number + 1, f"the compressed file is damaged from here on ({problem})")


def _plain(source: Path | BinaryIO) -> io.BufferedIOBase:
    """Return the bytes, decompressed if they begin as gzip does, whatever the name."""
    raw = source.open("rb", buffering=0) if isinstance(source, Path) else source
    buffered = io.BufferedReader(raw)  # type: ignore[type-var]  # any stream with readinto will do
    return gzip.open(buffered) if buffered.peek(2)[:2] == b"\x1f\x8b" else buffered


def _object(line: bytes) -> dict[str, Any]:
    """Return the line as a JSON object."""
    try:
        values = json.loads(line.strip(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise LineError(f"not JSON ({problem})") from problem
    if not isinstance(values, dict):
        raise LineError("not a JSON object")
    return values


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _header(values: dict[str, Any], drivers: Drivers) -> CaptureHeader:
    version, started = values.get("capture"), values.get("started")
    if "capture" not in values:
        raise LineError("no header: the key capture is missing")
    if version != VERSION:
        raise LineError(f"capture: found {shown(version)}; allowed {VERSION}")
    try:
        moment = datetime.fromisoformat(started)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        raise LineError(f"started: found {shown(started)}; allowed a time such as 2026-11-29T10:00:00.000Z")
    for key, kind, words in (("gateway", str, "the gateway's id"), ("table", dict, "a table")):
        if not isinstance(values.get(key), kind):
            raise LineError(f"{key}: found {shown(values.get(key))}; allowed {words}")
    return CaptureHeader(moment.timestamp(), values["gateway"], table_from(values["table"], drivers))


def _parsed(values: dict[str, Any]) -> Entry:
    """Return the entry that a line says."""
    t = values.get("t")
    if isinstance(t, bool) or not isinstance(t, int | float) or not 0 <= t <= LATEST_T:
        raise LineError(f"t: found {shown(t)}; allowed seconds since the start")
    t = float(t)
    match values:
        case {"link": str(link), "dir": "rx" | "tx" as direction, "hex": str(digits)}:
            channel = values.get("channel")
            if channel is not None and not isinstance(channel, str):
                raise LineError(f"channel: found {shown(channel)}; allowed a UUID")
            return (Rx if direction == "rx" else Tx)(t, _device(link), _bytes(digits), channel)
        case {"link": str(link), "state": "up" | "down" as state}:
            detail = values.get("detail")
            return Link(t, _device(link), state == "up", None if detail is None else str(detail))
        case {"command": dict(command)}:
            return CommandLine(t, command)
        case {"state": dict(state)}:
            return State(t, state)
        case {"end": True}:
            return End(t)
    raise LineError("neither bytes, nor a link, a command, a state or the end")


def _device(link: str) -> Device:
    if link == "board":
        return "board"
    if link == "clock":
        return "clock"
    raise LineError(f"unknown link {shown(link)}")


def _bytes(digits: str) -> bytes:
    try:
        return bytes.fromhex(digits)
    except ValueError as problem:
        raise LineError(f"hex: {problem}") from problem
