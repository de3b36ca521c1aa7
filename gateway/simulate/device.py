"""How boards sample what hands do, and what they say: a performance in, timed observations out.

A board never sees a change, only what a square holds when its turn comes. So each square is sampled at its own
moments, `phase + n * period + its share of the scan`; what came and went between two of them was never there, and of
two changes in one scan the later may be reported first, because its square comes earlier in the order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal, NamedTuple

from gateway.events import (
    BoardDump,
    BoardLog,
    ClockTimes,
    FieldUpdate,
    GameKind,
    LinkState,
    LogEntry,
    Observation,
    Piece,
    Senses,
    Square,
)
from gateway.simulate.clock import FACE_SIDE, ClockModel, polled
from gateway.simulate.hand import Change, Performance
from gateway.simulate.score import Pieces

Timed = tuple[float, Observation]


@dataclass(frozen=True, slots=True)
class BoardModel:
    """A kind of board, and how well it does today."""

    senses: Literal["pieces", "occupancy"] = "pieces"
    reports: Literal["updates", "positions"] = "updates"
    """One message per changed square, or the whole position after each scan that found a change."""
    period: float = 0.225
    """Seconds per scan."""
    scan: float = 1.0
    """Share of the period that the scan itself takes; the rest is pause."""
    rotated: bool = False
    """Turned by 180 degrees: squares are named from Black's side."""
    misread: float = 0.0
    """Share of reports that name another piece, until the next scan puts it right."""
    lost: float = 0.0
    """Share of updates that never arrive. The board does not know, and says nothing more of that square."""
    latency: float = 0.008
    """At most this long from the sample to the host; order is kept."""
    out: tuple[float, float] | None = None
    """The cable is out from, to; a dump follows its return."""
    log: bool = False
    """After the cable's return the host asks for the board's own log of changes (DGT EE_MOVES, 8.3 s)."""
    dump_every: float | None = None
    """The host asks for a whole dump now and then, and after each press."""


DUMP_TAKES = 0.2
"""Seconds from a press to the dump for which it made the host ask."""

CLASSIC: Final = BoardModel()
OCCUPANCY: Final = BoardModel(senses="occupancy", period=0.04)
WHOLE: Final = BoardModel(reports="positions", period=0.33)


def drawn_board(model: BoardModel, rng: Random) -> BoardModel:
    """One board of this kind: scan periods differ from board to board by a tenth."""
    return replace(model, period=model.period * rng.uniform(0.9, 1.1))


def scan_order(game: GameKind) -> list[Square]:
    """The squares in the order in which a board samples them: row by row from the far left."""
    if game == "draughts":
        return [str(number) for number in range(1, 51)]
    return [f"{file}{rank}" for rank in range(8, 0, -1) for file in "abcdefgh"]


def turned(square: Square) -> Square:
    """The name of a square on a board that lies the other way."""
    if square.isdigit():
        return str(51 - int(square))
    return f"{chr(ord('a') + ord('h') - ord(square[0]))}{9 - int(square[1])}"


class Sampled(NamedTuple):
    """A change that a scan found."""

    at: float
    square: Square
    piece: Piece | None
    ply: int | None
    """The standing ply to which it belongs."""


@dataclass(slots=True)
class Trace:
    """What arrived, and when each change of the hands was seen."""

    observations: list[Timed]
    seen: dict[int, float]
    """Standing ply -> when the last of its changes was reported (lost and hidden ones left out)."""
    end: float


class Board:
    """One board during one performance."""

    def __init__(self, model: BoardModel, performance: Performance, game: GameKind, rng: Random) -> None:
        self.model = model
        self.performance = performance
        self.rng = rng
        self.order = scan_order(game)
        self.kinds = "wbWB" if game == "draughts" else "PNBRQKpnbrqk"
        self.phase = rng.uniform(0.0, model.period)
        place = len(self.order)
        squares = [turned(square) for square in self.order] if model.rotated else self.order
        self.offset = {
            square: self.phase + model.period * model.scan * index / place for index, square in enumerate(squares)
        }

    def trace(self, clock: ClockModel | None) -> Trace:
        """Everything that the host hears."""
        sampled = self.sampled()
        seen: dict[int, float] = {}
        heard: list[Timed] = []
        if self.model.reports == "positions":
            heard += self._positions(sampled, seen)
        else:
            heard += self._updates(sampled, seen)
        times: list[Timed] = []
        if clock:
            if self.model.rotated:
                clock = replace(clock, white=FACE_SIDE[clock.white])
            times += polled(self.performance.acts, clock, self.performance.end, self.rng.uniform(0.05, clock.poll))
        heard += times
        heard += [(at, BoardDump(self._read(self._standing(sampled, at)))) for at in self._asked_for_dumps(times)]
        heard.sort(key=lambda timed: timed[0])
        opening: list[Timed] = [(0.0, LinkState("board", True))]
        if self.model.senses == "occupancy":
            opening.append((0.0, Senses(pieces=False)))
        opening.append((0.02, BoardDump(self._read(self.performance.start))))
        observations = opening + [(max(at, 0.02), said) for at, said in heard]
        return Trace(self._cut(observations, sampled), seen, self.performance.end)

    def _asked_for_dumps(self, times: list[Timed]) -> list[float]:
        """When dumps arrive for which the host asked."""
        every = self.model.dump_every
        if not every:
            return []
        due = [every * number for number in range(1, math.ceil(self.performance.end / every))]
        for (_, before), (at, now) in itertools.pairwise(times):
            if isinstance(before, ClockTimes) and isinstance(now, ClockTimes) and before.lever != now.lever:
                due.append(at + DUMP_TAKES)
        return due

    # --- sampling -----------------------------------------------------------------------------------------------

    def sampled(self) -> list[Sampled]:
        """What the scans find changed, in order of time."""
        by_square: dict[Square, list[Change]] = {}
        for change in self.performance.changes():
            by_square.setdefault(change.square, []).append(change)
        found: list[Sampled] = []
        period = self.model.period
        for square, changes in by_square.items():
            held = self._sense(self.performance.start.get(square))
            for index, change in enumerate(changes):
                turns = math.ceil((change.at - self.offset[square]) / period)
                sample = self.offset[square] + max(0, turns) * period
                if index + 1 < len(changes) and changes[index + 1].at <= sample:
                    continue
                now = self._sense(change.piece)
                if now != held:
                    found.append(Sampled(sample, square, now, change.ply))
                    held = now
        found.sort(key=lambda item: item[0])
        return found

    def _sense(self, piece: Piece | None) -> Piece | None:
        return "?" if piece and self.model.senses == "occupancy" else piece

    def _read(self, pieces: Mapping[Square, Piece]) -> Pieces:
        """A position in the board's own frame, as far as it senses it."""
        return {self._named(square): self._sense(piece) or "?" for square, piece in pieces.items()}

    def _named(self, square: Square) -> Square:
        return turned(square) if self.model.rotated else square

    def _standing(self, sampled: list[Sampled], at: float) -> Pieces:
        """What the scans have found by `at`."""
        pieces = {square: self._sense(piece) or "?" for square, piece in self.performance.start.items()}
        for moment, square, piece, _ in sampled:
            if moment > at:
                break
            if piece is None:
                pieces.pop(square, None)
            else:
                pieces[square] = piece
        return pieces

    # --- talking ------------------------------------------------------------------------------------------------

    def _updates(self, sampled: list[Sampled], seen: dict[int, float]) -> list[Timed]:
        """One message per change that was found."""
        said: list[Timed] = []
        rng, model = self.rng, self.model
        arrives = 0.0
        following = _next_on_square(sampled)
        for (at, square, piece, ply), following_at in zip(sampled, following, strict=True):
            arrives = max(arrives, at + rng.uniform(0.0, model.latency))
            if rng.random() < model.lost:
                continue
            name = self._named(square)
            right_at = arrives
            if piece and piece != "?" and rng.random() < model.misread:
                said.append((arrives, FieldUpdate(name, rng.choice([kind for kind in self.kinds if kind != piece]))))
                right_at = arrives + model.period
                if following_at <= at + model.period:
                    continue
            said.append((right_at, FieldUpdate(name, piece)))
            if ply is not None:
                seen[ply] = max(seen.get(ply, 0.0), right_at)
        return sorted(said, key=lambda timed: timed[0])

    def _positions(self, sampled: list[Sampled], seen: dict[int, float]) -> list[Timed]:
        """The whole position at the end of each scan that found a change."""
        said: list[Timed] = []
        pieces = self._standing([], 0.0)
        index = 0
        while index < len(sampled):
            # a hair later, so that the first square's own moment belongs to the scan that it begins
            turn = math.floor((sampled[index].at - self.phase) / self.model.period + 1e-6)
            whole = self.phase + (turn + 1) * self.model.period
            while index < len(sampled) and sampled[index][0] < whole:
                _, square, piece, ply = sampled[index]
                if piece is None:
                    pieces.pop(square, None)
                else:
                    pieces[square] = piece
                if ply is not None:
                    seen[ply] = max(seen.get(ply, 0.0), whole)
                index += 1
            said.append((whole, BoardDump(self._read(pieces))))
        return said

    def _cut(self, observations: list[Timed], sampled: list[Sampled]) -> list[Timed]:
        """Leave out what a cable that is out did not carry; add what is heard when it is back."""
        if not self.model.out:
            return observations
        off, on = self.model.out
        before = [timed for timed in observations if timed[0] < off]
        after = [timed for timed in observations if timed[0] >= on + 0.3]
        clocks = [said for at, said in observations if at < on + 0.3 and isinstance(said, ClockTimes)]
        back: list[Timed] = [
            (off, LinkState("board", False)),
            (on, LinkState("board", True)),
            (on + 0.3, BoardDump(self._read(self._standing(sampled, on + 0.3)))),
        ]
        if clocks:
            back.append((on + 0.3, clocks[-1]))
        if self.model.log:
            after.append((on + 8.6, self._kept(sampled, on + 8.3)))
            after.sort(key=lambda timed: timed[0])
        return before + back + after

    def _kept(self, sampled: list[Sampled], until: float) -> BoardLog:
        """All that the board has noted since it was switched on."""
        start = self._read(self.performance.start)
        told = [LogEntry(tag="power_up"), *(LogEntry(square, piece) for square, piece in start.items())]
        told += [LogEntry(self._named(item.square), item.piece) for item in sampled if item.at <= until]
        return BoardLog(tuple(told), complete=True)


def _next_on_square(sampled: list[Sampled]) -> list[float]:
    """For each change, when the next one on its square is found."""
    latest: dict[Square, float] = {}
    following = [math.inf] * len(sampled)
    for index in range(len(sampled) - 1, -1, -1):
        change = sampled[index]
        following[index] = latest.get(change.square, math.inf)
        latest[change.square] = change.at
    return following
