"""A director for hands: plies of a score at a steady pace, and between them what an arbiter is called for.

`gateway.simulate` draws mishaps by lot. Here each is put where it is wanted, so that within a minute and a half every
kind has been seen to come and to go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from gateway.events import OTHER, Piece, Side, Square
from gateway.simulate.gesture import Hand, drawn
from gateway.simulate.habits import TIDY, Habits, Pace
from gateway.simulate.hand import Act, Change, ClockSwitch, Performance, Press
from gateway.simulate.score import Pieces, Ply, Score
from gateway.simulate.session import SIGNALS

CALM = replace(TIDY, slide=0.05, victim_first=0.3, victim_pushed=0.3, pawn_shown=0.5, tapped=0.6)
"""Ordinary hands without mishaps."""

SETTLE_S = 2.0
"""From the position to the start of the clock."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """Median seconds from the opponent's press to the first touch."""

    white: float
    black: float

    def drawn(self, side: Side, rng: Random) -> float:
        median = self.white if side == "white" else self.black
        return rng.uniform(0.6, 1.4) * median


class Stage:
    """One game at one board, from the start of the clock until the next two players have set up."""

    def __init__(self, score: Score, pace: Pace, thinking: Thinking, rng: Random, habits: Habits = CALM) -> None:
        self.at = SETTLE_S
        """When the next hand may come."""
        self._score = score
        self._pace = pace
        self._thinking = thinking
        self._rng = rng
        self._hand = Hand(pace, habits, rng)
        self._board: Pieces = dict(score.start)
        self._played = 0
        self._acts: list[Act] = [ClockSwitch(self.at, "start")]

    # --- what is played --------------------------------------------------------------------------------------------

    def play(self, until: int | None = None) -> None:
        """Play the score up to and with this ply, or to its end."""
        last = len(self._score.plies) if until is None else until
        while self._played < last:
            self._play(self._next)

    def think(self, seconds: float) -> None:
        """Nothing happens."""
        self.at += seconds

    # --- what an arbiter is called for -----------------------------------------------------------------------------

    def sweep(self, pieces: Mapping[Square, Square], seconds: float) -> None:
        """A sleeve moves pieces onto other squares; everybody looks at them, and then they are put back."""
        for origin, onto in pieces.items():
            self._carry(self._board[origin], origin, onto, self.at + 0.5, 0.2)
            self._carry(self._board[origin], onto, origin, self.at + seconds, 0.5)
        self.at += seconds + 0.5

    def slip(self, onto: Square, noticed: float) -> None:
        """The next ply's piece is set down on a wrong square and the clock is pressed; it is noticed and put back."""
        ply = self._next
        self.at += self._thinking.drawn(ply.side, self._rng)
        self._carry(ply.piece, ply.departure, onto, self.at)
        self._press(ply.side, self.at + 1.6)
        restored = self._stopped(noticed, 7.0, ply.side)
        self._carry(ply.piece, onto, ply.departure, restored)

    def leave_pawn(self, noticed: float) -> None:
        """The next ply promotes, but the pawn stays a pawn and the clock is pressed."""
        ply = self._leave_uncrowned()
        exchanged = self._stopped(noticed, 7.0, OTHER[ply.side])
        self._put(ply.arrival, None, exchanged)
        self._put(ply.arrival, ply.becomes, exchanged + 1.2)

    def leave_man(self, noticed: float) -> None:
        """The next ply crowns a man, but nobody puts a second one on it for a while, and the clock runs on."""
        ply = self._leave_uncrowned()
        self.at += noticed
        self._put(ply.arrival, ply.becomes, self.at)

    def leave_victim(self, square: Square, noticed: float) -> None:
        """The next ply takes the piece on this square but leaves it there for a while, and the clock runs on."""
        before = len(self._acts)
        self._play(self._next)
        [gone] = [act for act in self._acts[before:] if isinstance(act, Change) and act.square == square]
        self.at += noticed
        self._acts[self._acts.index(gone)] = replace(gone, at=self.at)

    # --- how it ends -----------------------------------------------------------------------------------------------

    def agree(self, result: str) -> None:
        """The clocks are stopped, and the kings show the result, before anybody wonders why the clocks stand."""
        self._acts.append(ClockSwitch(self.at + 1.0, "stop"))
        self.at += 1.0
        for king, square in zip("Kk", SIGNALS[result][0], strict=True):
            home = next(at for at, piece in self._board.items() if piece == king)
            if square in self._board:
                self._put(square, None, self.at)
            self._carry(king, home, square, self.at + 0.2)
            self._board[square] = self._board.pop(home)
            self.at += 1.0
        self.at += 8.0

    def stop(self) -> None:
        """The clocks are stopped: the game is over."""
        self._acts.append(ClockSwitch(self.at + 1.0, "stop"))
        self.at += 2.5

    def set_up(self) -> Performance:
        """Set the pieces up again, and the clock for the next two players; return everything that happened."""
        self.at += 5.0
        start = self._score.start
        for square in sorted(square for square, piece in self._board.items() if start.get(square) != piece):
            self._put(square, None, self.at)
            self.at += self._rng.uniform(0.05, 0.2)
        for square in sorted(square for square, piece in start.items() if self._board.get(square) != piece):
            self._put(square, start[square], self.at)
            self.at += self._rng.uniform(0.2, 0.5)
        self._acts.append(ClockSwitch(self.at + 1.0, "reset"))
        self.at += 4.0
        return Performance(dict(start), sorted(self._acts, key=lambda act: act.at), end=self.at)

    # --- inside ----------------------------------------------------------------------------------------------------

    @property
    def _next(self) -> Ply:
        return self._score.plies[self._played]

    def _play(self, ply: Ply) -> None:
        plies = self._score.plies
        reply = plies[self._played + 1] if self._played + 1 < len(plies) else None
        gesture = self._hand.gesture(ply, self._board, reply)
        begin = self.at + self._thinking.drawn(ply.side, self._rng)
        self._acts += [Change(begin + at, square, piece) for at, square, piece in gesture.touches]
        self._press(ply.side, begin + gesture.released + drawn(self._rng, self._pace.press))
        self.at = max(self.at, begin + gesture.complete)
        self._board = dict(ply.after)
        self._played += 1

    def _leave_uncrowned(self) -> Ply:
        """Play the next ply without its last touch; return it as it should have been."""
        ply = self._next
        self._play(replace(ply, becomes=ply.piece))
        return ply

    def _stopped(self, noticed: float, seconds: float, then: Side) -> float:
        """Both clocks are stopped, and started again for `then`; return when the board can be put right meanwhile."""
        stop = self.at + noticed
        self.at = stop + seconds
        self._acts += [ClockSwitch(stop, "stop"), ClockSwitch(self.at, "start", then)]
        return stop + seconds / 2

    def _press(self, side: Side, at: float) -> None:
        self._acts.append(Press(at, side))
        self.at = at

    def _carry(self, piece: Piece, origin: Square, onto: Square, at: float, seconds: float = 0.7) -> None:
        self._put(origin, None, at)
        self._put(onto, piece, at + seconds)

    def _put(self, square: Square, piece: Piece | None, at: float) -> None:
        self._acts.append(Change(at, square, piece))
