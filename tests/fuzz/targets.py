"""What may come in from outside, each as a function of bytes that must neither raise, hang nor grow.

Hypothesis calls them in the tests, and `scripts/fuzz` under atheris, which looks for inputs that reach new code.
"""

from __future__ import annotations

import contextlib
import gc
import io
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import msgspec

from gateway import capture
from gateway.arbiter import command_from
from gateway.config import BoardConfig, TableConfig, load
from gateway.errors import ConfigError, UsageError
from gateway.events import LinkState
from gateway.link import Link
from gateway.mqtt import _since
from gateway.registry import DRIVERS, Entry
from gateway.replay import replayed
from gateway.sections import Section
from gateway.station import Station
from gateway.time_control import TimeControl

NAMES = sorted(DRIVERS)
CHUNK = 24
STEP_S = 0.2


def channels(entry: Entry) -> list[str | None]:
    """What the bytes of a driver may come by."""
    return [None, *dict.fromkeys(uuid for match in entry.matches for uuid in getattr(match, "notify", ()))]


def links(name: str) -> Iterator[tuple[str, Link]]:
    """A link of this driver for each of its games; a bus too."""
    entry = DRIVERS[name]
    for game in entry.games:
        yield game, Link(entry, {None: ("1", game)})
        if entry.bus:
            yield game, Link(entry, {1: ("1", game), 2: ("2", game)})


def drive(link: Link, data: bytes, tell: Callable[[Any, float], None] = lambda said, at: None) -> None:
    """Open the port and say all this, timers firing between, as the keeper of a port does."""
    at, ways = 1.0, channels(link.entry)
    link.opened(at)
    for start in range(0, len(data), CHUNK):
        at += STEP_S
        chunk = data[start : start + CHUNK]
        for _, said in link.receive(chunk, at, ways[chunk[0] % len(ways)]):
            tell(said, at)
        if link.deadline is not None and link.deadline <= at:
            for _, said in link.tick(at):
                tell(said, at)
        for sent, _ in link.outgoing():
            assert isinstance(sent, bytes)
        if link.failed or link.wrong_device:
            link.closed(at, "again")
            link.opened(at)
    link.closed(at, None)


def decoders(data: bytes) -> None:
    """The first byte says which board; the rest is what it says."""
    if data:
        for _, link in links(NAMES[data[0] % len(NAMES)]):
            drive(link, data[1:])


def table(data: bytes) -> None:
    """The same all the way to the table's events and topics."""
    if len(data) < 2:
        return
    name = NAMES[data[0] % len(NAMES)]
    entry = DRIVERS[name]
    if entry.device != "board":
        return
    game = entry.games[data[1] % len(entry.games)]
    regulations = "fmjd-blitz" if game == "draughts" else "fide-blitz"
    config = TableConfig(id="1", game=game, board=BoardConfig(name), regulations=regulations, time_control="180+2")
    station = Station(config, "g")
    station.observe(LinkState("board", True), 1.0)

    def tell(said: Any, at: float) -> None:
        station.observe(said, at)

    drive(Link(entry, {None: ("1", game)}), data[2:], tell)
    station.advance(1000.0)
    msgspec.json.encode(station.state()["replies"])


def captures(data: bytes) -> None:
    """A file that somebody sends in, read and played."""
    with contextlib.suppress(capture.CaptureError):
        reader = capture.Reader(io.BytesIO(data), DRIVERS, lambda number, problem: None)
        for _ in replayed(reader):
            pass


def configuration(data: bytes) -> None:
    """A file that somebody wrote."""
    with tempfile.NamedTemporaryFile(suffix=".toml") as file:
        file.write(data)
        file.flush()
        with contextlib.suppress(ConfigError):
            load(Path(file.name), DRIVERS)


def commands(data: bytes) -> None:
    """What came on the command topic, by the way of `LiveTable.command`; the answer must be a text to send."""
    config = TableConfig(id="1", game="chess", board=BoardConfig("dgt"))
    station = Station(config, "g")
    for number, line in enumerate(data.split(b"\n")):
        try:
            decoded = msgspec.json.decode(line)
            command = command_from(decoded)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UsageError):
            continue
        capture.entry_line(capture.CommandLine(1.0, decoded)).encode()
        reply = station.command(command, 1.0 + number)[-1].reply
        assert reply is not None and msgspec.json.decode(reply.payload)["ok"] in (True, False)


def small(data: bytes) -> None:
    """Short texts: a time control, a retained status of a gateway with our id."""
    _since(data)
    with contextlib.suppress(ValueError):
        TimeControl.parse(data.decode(errors="replace"))
    noted: list[str] = []
    Section({"key": data.decode(errors="replace")}, "", noted.append).read({})


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (decoders, table, captures, configuration, commands, small)
}


def weight(thing: object) -> int:
    """Bytes that hang on it, classes and modules left out."""
    seen: set[int] = set()
    waiting, total = [thing], 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        waiting += gc.get_referents(one)
    return total
