"""Simulated boards on pseudo-terminals: whoever opens the printed path finds a board, on which a game is being played.

A board begins to play when its host first asks for updates, so that nothing is missed. When the game is over, the
terminal stays open until the host has read the rest.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import fcntl
import os
import selectors
import sys
import termios
import time
import tty
from collections.abc import Sequence
from pathlib import Path
from random import Random

from gateway.events import BoardDump, Senses
from gateway.registry import DRIVERS
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, OCCUPANCY, Board, Timed, drawn_board
from gateway.simulate.games import opera, read_scores
from gateway.simulate.habits import PACES, Habits, Pace
from gateway.simulate.score import Score
from gateway.simulate.session import Evening
from gateway.simulate.wire import SERIAL, wire_board
from gateway.simulate.wire_families import Answering

DRAIN_S = 5.0
"""How long a host may take to read the last bytes."""
TURN_S = 0.25
"""The loop looks around at least this often."""


class Terminal:
    """One board behind one pseudo-terminal."""

    def __init__(
        self,
        score: Score,
        seed: int,
        pace: Pace,
        habits: Habits,
        driver: str = "dgt",
        occupancy: bool = False,
        speed: float = 1.0,
        linger: float = 10.0,
    ) -> None:
        rng = Random(seed)
        occupancy = occupancy or DRIVERS[driver].senses == "occupancy"
        performance = Evening([score], pace, habits, rng).perform(linger)
        model = drawn_board(OCCUPANCY if occupancy else CLASSIC, rng)
        trace = Board(model, performance, score.game, rng).trace(ClockModel(pace.base, pace.increment))
        self.truth = performance.games[0]
        self._speed = speed
        self._waiting: list[Timed] = [
            timed for timed in reversed(trace.observations) if not isinstance(timed[1], Senses)
        ]
        first = next(said for _, said in trace.observations if isinstance(said, BoardDump))
        self._board = wire_board(driver, score.game, first.pieces, not occupancy, str(10001 + seed % 50000))
        self._period = self._board.period if isinstance(self._board, Answering) else None
        self._scan_at = 0.0
        self._began: float | None = None
        self._out = bytearray()
        self._drained_by: float | None = None
        self.done = False
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self._slave)

    def heard(self, now: float) -> None:
        """The host has written something."""
        with contextlib.suppress(BlockingIOError):
            self._out += self._board.take(os.read(self.master, 4096))
        if self._began is None and self._board.listening:
            self._began = now

    def advance(self, now: float) -> float | None:
        """Play what is due; return when to come back, None for not before the host says something."""
        if self._period is not None:
            self._scan(now, self._period)
        if self._began is not None:
            while self._waiting and self._began + self._waiting[-1][0] / self._speed <= now:
                self._out += self._board.sense(self._waiting.pop()[1])
        self._write()
        if self._began is None:
            return None if self._period is None else self._scan_at
        if self._waiting:
            return self._began + self._waiting[-1][0] / self._speed
        self._drained_by = self._drained_by or now + DRAIN_S
        self.done = now >= self._drained_by or (not self._out and not self._unread())
        return now + 0.05

    def _scan(self, now: float, period: float) -> None:
        """Tell a scan if it is time; what nobody reads is not said. The game begins with the first that is read."""
        if self._scan_at and self._began is None and not self._unread():
            self._began = now
        if now >= self._scan_at and self._waiting:
            self._scan_at = now + period / self._speed
            if not self._out and not self._unread() and isinstance(self._board, Answering):
                self._out += self._board.scan()

    def _write(self) -> None:
        """Hand over what the terminal takes; a host that does not read makes it wait, as a real line would."""
        with contextlib.suppress(BlockingIOError):
            while self._out:
                del self._out[: os.write(self.master, self._out[:1024])]

    def _unread(self) -> int:
        """Bytes that the host has not read yet."""
        count = array.array("i", [0])
        fcntl.ioctl(self._slave, termios.FIONREAD, count)
        return count[0]

    def close(self) -> None:
        """Take the board away."""
        os.close(self.master)
        os.close(self._slave)


def serve(terminals: Sequence[Terminal]) -> None:
    """Play on all terminals until every game is over and read."""
    with selectors.DefaultSelector() as selector:
        for terminal in terminals:
            selector.register(terminal.master, selectors.EVENT_READ, terminal)
        while selector.get_map():
            now = time.monotonic()
            due = [terminal.advance(now) for terminal in terminals if not terminal.done]
            for terminal in terminals:
                if terminal.done and terminal.master in selector.get_map():
                    selector.unregister(terminal.master)
            wait = min((at - now for at in due if at is not None), default=TURN_S)
            for key, _ in selector.select(min(TURN_S, max(0.0, wait))):
                key.data.heard(time.monotonic())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `simulate`."""
    parser.add_argument("--game", type=Path, metavar="FILE", help="PGN or PDN; each table plays the next game of it")
    parser.add_argument("--driver", choices=SERIAL, default="dgt", help="what the board speaks")
    parser.add_argument("--occupancy", action="store_true", help="generic: a board that cannot tell pieces apart")
    parser.add_argument("--pace", choices=sorted(PACES), default="blitz", help="how fast the hands are")
    parser.add_argument("--noise", type=float, default=1.0, metavar="FACTOR", help="how clumsy they are (1: ordinary)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other hands")
    parser.add_argument("--speed", type=float, default=1.0, metavar="FACTOR", help="how much faster time goes")
    parser.add_argument("--tables", type=int, default=1, metavar="N", help="how many boards")


def run(arguments: argparse.Namespace) -> int:
    """Print each board's path, then play."""
    if arguments.occupancy and arguments.driver != "generic":
        print("simulate: --occupancy needs --driver generic", file=sys.stderr)
        return os.EX_USAGE
    if arguments.speed <= 0 or arguments.tables < 1 or arguments.noise < 0:
        print("simulate: --speed must be above 0, --noise not below it, --tables 1 or more", file=sys.stderr)
        return os.EX_USAGE
    scores = read_scores(arguments.game) if arguments.game else [opera()]
    habits = Habits().noisy(arguments.noise)
    terminals = [
        Terminal(
            scores[number % len(scores)],
            arguments.seed + number,
            PACES[arguments.pace],
            habits,
            arguments.driver,
            arguments.occupancy,
            arguments.speed,
        )
        for number in range(arguments.tables)
    ]
    for terminal in terminals:
        print(terminal.path, flush=True)
    try:
        serve(terminals)
    finally:
        for terminal in terminals:
            terminal.close()
    return os.EX_OK
