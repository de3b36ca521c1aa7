"""record: write down all that a board says and is asked, as a capture that `replay` plays."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import os
import signal
import sys
import time
from pathlib import Path
from typing import IO, Any, Literal, get_args

from gateway import capture, logs
from gateway.config import TableConfig, table_from
from gateway.errors import UsageError
from gateway.events import GameKind, LinkState
from gateway.link import Link, Told
from gateway.ports import Keeper
from gateway.registry import DRIVERS
from gateway.ways import Ways

GATEWAY = "record"
FLUSH_S = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    boards = sorted(name for name, entry in DRIVERS.items() if entry.device == "board")
    parser.add_argument("--driver", required=True, choices=boards, metavar="NAME", help="`drivers` lists them")
    parser.add_argument(
        "--port", required=True, help="as in the configuration: a path, socket://HOST:PORT, usb:, hid:, ble:..."
    )
    parser.add_argument("--game", choices=get_args(GameKind), default="chess", help="default: %(default)s")
    parser.add_argument("--bus-address", type=int, metavar="N", help="of a board on a bus")
    parser.add_argument("--regulations", metavar="NAME", help="what is played under, such as fide-blitz")
    parser.add_argument("--time-control", metavar="TEXT", help="such as 180+2; what a replay judges by")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help="*.gz is compressed")
    parser.add_argument("--seconds", type=float, metavar="N", help="end by itself after so long")


def run(arguments: argparse.Namespace) -> int:
    """Record until told to stop; say what was heard."""
    table = _table(arguments)
    logs.set_up(os.environ)
    with _opened(arguments.output) as file:
        recording = asyncio.run(_record(table, file, arguments.seconds))
    print(f"{arguments.output}: {recording.summary()}", file=sys.stderr)
    return os.EX_OK if recording.answered else os.EX_UNAVAILABLE


def _table(arguments: argparse.Namespace) -> TableConfig:
    """The table as a configuration would have it. Raises `ConfigError`, naming every mistake."""
    board = {"driver": arguments.driver, "port": arguments.port, "bus_address": arguments.bus_address}
    values: dict[str, Any] = {
        "id": "1",
        "game": arguments.game,
        "regulations": arguments.regulations,
        "time_control": arguments.time_control,
        "board": {key: value for key, value in board.items() if value is not None},
    }
    return table_from({key: value for key, value in values.items() if value is not None}, DRIVERS)


def _opened(path: Path) -> IO[str]:
    """The file for the capture; one that is there already is somebody's evidence. Raises `UsageError`."""
    try:
        if path.suffix == ".gz":
            return gzip.open(path, "xt", encoding="utf-8")
        return path.open("x", encoding="utf-8")
    except FileExistsError as error:
        raise UsageError(f"{path} is there already") from error


class Recording:
    """One table's capture while it grows."""

    def __init__(self, table: TableConfig, file: IO[str]) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._last = 0.0
        self.answered = False
        self._ended = False
        self._received = 0
        self._link = Link(
            DRIVERS[table.board.driver], {table.board.bus_address: (table.id, table.game)}, options=table.board.options
        )
        board, entry = table.board, DRIVERS[table.board.driver]
        name = f"{board.driver} on {board.port}"
        self._ways = Ways()
        targets, make = self._ways.to(entry, board.port, None, board.options, name)
        self._keeper = Keeper(name, self._link, targets, make, self._tell, self._note)
        file.write(capture.header_line(capture.CaptureHeader(time.time(), GATEWAY, table)))

    async def run(self) -> None:
        """Record until cancelled. Raises what went wrong in the link, which is a bug."""
        try:
            await self._keeper.run()
        finally:
            await self._ways.close()

    def end(self) -> None:
        """Timers of a replay run to now. That we close the port is no news of the board."""
        self._write(capture.End(self._t(self._loop.time())))
        self._ended = True

    def flush(self) -> None:
        """What was heard is safe, also from kill -9."""
        self._file.flush()

    def summary(self) -> str:
        """What was heard, in a sentence."""
        if not self.answered:
            return "no device has answered"
        counters = next(iter(self._link.counters.values()))
        refused = sum(counters.rejected.values())
        return f"{self._last:.0f} s, {self._received} bytes, {counters.frames} frames, {refused} refused"

    def _t(self, at: float) -> float:
        """Seconds since the start, never going back: a chunk's time may be a moment older than that of a timer."""
        self._last = max(self._last, at - self._began)
        return self._last

    def _tell(self, told: list[Told], at: float) -> None:
        for _, said in told:
            if isinstance(said, LinkState):
                self.answered |= said.up
                self._write(capture.Link(self._t(at), said.device, said.up, said.detail))

    def _note(self, direction: Literal["rx", "tx"], data: bytes, channel: str | None, at: float) -> None:
        line = capture.Rx if direction == "rx" else capture.Tx
        self._received += len(data) if direction == "rx" else 0
        self._write(line(self._t(at), "board", data, channel))

    def _write(self, entry: capture.Entry) -> None:
        if not self._ended:
            self._file.write(capture.entry_line(entry))


async def _record(table: TableConfig, file: IO[str], seconds: float | None) -> Recording:
    recording = Recording(table, file)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    if seconds is not None:
        loop.call_later(seconds, stop.set)
    keeping = asyncio.create_task(recording.run())
    try:
        while not stop.is_set() and not keeping.done():
            recording.flush()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), FLUSH_S)
        if keeping.done():
            await keeping
    finally:
        recording.end()
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
    return recording
