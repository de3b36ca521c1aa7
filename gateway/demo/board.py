"""A board on a pseudo-terminal, on which game after game is played until nobody wants to see more."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tty
from collections.abc import Iterator
from random import Random

from gateway.demo.scripts import DemoTable
from gateway.events import BoardDump, ClockTimes, FieldUpdate, Observation
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, Board, Timed, drawn_board
from gateway.simulate.wire import wire_board


def evening(table: DemoTable, rng: Random) -> Iterator[Timed]:
    """What the board senses, first of all what stands on it, for ever."""
    model = drawn_board(CLASSIC, rng)
    clock = ClockModel(table.base, table.increment, credited_at_start=True)
    begin = 0.0
    while True:
        performance = table.play(rng)
        if begin == 0.0:
            yield 0.0, BoardDump(performance.start)
        for at, observation in Board(model, performance, table.game, rng).trace(clock).observations:
            # The pieces were set up by hand: the board has seen each of them.
            if isinstance(observation, FieldUpdate | ClockTimes):
                yield begin + at, observation
        begin += performance.end


class PtyBoard:
    """One board: it plays once its host has asked for updates, as it would not be heard before."""

    def __init__(self, table: DemoTable, rng: Random) -> None:
        self._evening = evening(table, rng)
        _, first = next(self._evening)
        assert isinstance(first, BoardDump)
        serial = str(20000 + rng.randrange(10000))
        self._board = wire_board("dgt", table.game, first.pieces, serial=serial)
        self._out = bytearray()
        self._began: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self._slave)
        self._loop.add_reader(self._master, self._heard)

    def close(self) -> None:
        """Take the board away."""
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._master)
        self._loop.remove_writer(self._master)
        os.close(self._master)
        os.close(self._slave)

    def _heard(self) -> None:
        self._say(self._board.take(os.read(self._master, 4096)))
        if self._began is None and self._board.listening:
            self._began = self._loop.time()
            self._wait()

    def _wait(self) -> None:
        """Come back when the next thing happens on the board."""
        assert self._began is not None
        at, observation = next(self._evening)
        self._timer = self._loop.call_at(self._began + at, self._happens, observation)

    def _happens(self, observation: Observation) -> None:
        self._say(self._board.sense(observation))
        self._wait()

    def _say(self, data: bytes) -> None:
        """Hand over what the line takes; the rest when it takes more."""
        self._out += data
        with contextlib.suppress(BlockingIOError):
            while self._out:
                del self._out[: os.write(self._master, self._out[:1024])]
        if self._out:
            self._loop.add_writer(self._master, self._say, b"")
        else:
            self._loop.remove_writer(self._master)
