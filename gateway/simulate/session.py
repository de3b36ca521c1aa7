"""An evening at one board: games, how each ends, what is done with the pieces afterwards, and the next start position.

After a game nothing obeys rules any more: kings are put in the centre, the last plies are gone through again with the
clocks stopped, pieces are swept together and set up. None of it belongs to any game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from gateway.events import Piece, Square
from gateway.simulate.habits import Habits, Pace
from gateway.simulate.hand import Act, Change, ClockSwitch, Performance, Players, Truth
from gateway.simulate.score import Pieces, Score

SIGNALS: Mapping[str, tuple[tuple[Square, Square], ...]] = {
    "1-0": (("e4", "d5"),),
    "0-1": (("d4", "e5"),),
    "1/2-1/2": (("e4", "e5"), ("d4", "d5"), ("e4", "d4"), ("e5", "d5")),
}
"""Result -> where the two kings may stand for it; which king is where does not matter."""

SEEN = 4.0
"""A signal that is left standing for this many seconds is meant."""


@dataclass(frozen=True, slots=True)
class Manners:
    """What people do when a game is over. Rates from 0 to 1."""

    signal: float = 0.5
    """The kings are put in the centre; else only the clocks are stopped."""
    signal_first: float = 0.3
    """The kings come before the clocks are stopped."""
    corrected: float = 0.12
    """The kings are first put on the squares of another result."""
    one_king: float = 0.1
    """Of the games without a signal: one king is laid in the centre, which says nothing."""
    clock_runs_on: float = 0.08
    """Nobody stops the clocks."""
    analysis: float = 0.6


class Evening:
    """Plays scores one after the other."""

    def __init__(
        self, scores: Sequence[Score], pace: Pace, habits: Habits, rng: Random, manners: Manners | None = None
    ) -> None:
        self.scores = scores
        self.pace = pace
        self.habits = habits
        self.rng = rng
        self.manners = manners or Manners()
        self.acts: list[Act] = []
        self.board: Pieces = dict(scores[0].start)

    def perform(self, linger: float = 20.0) -> Performance:
        """Return everything that happens, until `linger` seconds after the last of it."""
        performance = Performance(dict(self.board))
        at = self.rng.uniform(2.0, 6.0)
        for index, score in enumerate(self.scores):
            if index:
                at = self._between(score, at)
            players = Players(score, self.pace, self.habits, self.rng)
            at = players.play(at)
            self.acts += players.acts
            if players.acts:
                at = max(at, max(act.at for act in players.acts))
            self.board = dict(players.board)
            performance.games.append(players.truth)
            self._agree(players.truth, score)
            at = self._end(players.truth, score, at)
        self.acts.sort(key=lambda act: act.at)
        performance.acts = self.acts
        performance.end = at + linger
        return performance

    # --- the end of a game --------------------------------------------------------------------------------------

    def _agree(self, truth: Truth, score: Score) -> None:
        """What the result is, as both players know: a last position that ends the game outweighs any score sheet."""
        truth.result = score.result
        if score.ended_by:
            wins, draws = (("2-0", "0-2"), "1-1") if score.game == "draughts" else (("1-0", "0-1"), "1/2-1/2")
            truth.result = wins[score.plies[-1].side == "black"] if score.ended_by != "stalemate" else draws
            truth.shown = truth.result

    def _end(self, truth: Truth, score: Score, at: float) -> float:
        """Stop the clocks and show the result, or not; return when that is done."""
        rng, manners = self.rng, self.manners
        signals = score.game != "draughts" and score.result in SIGNALS and not score.ended_by
        signal = signals and rng.random() < manners.signal
        stop = at + rng.uniform(0.8, 6.0)
        done = at
        if signal:
            begin = at + rng.uniform(0.5, 2.0) if rng.random() < manners.signal_first else stop + rng.uniform(0.3, 4.0)
            done = self._kings(truth, score.result, begin)
            if begin < stop:
                stop = max(stop, done - SEEN + rng.uniform(0.0, 2.0))
        elif signals and rng.random() < manners.one_king:
            done = self._king_alone(stop + 1.0)
        if signal or rng.random() >= manners.clock_runs_on:
            self.acts.append(ClockSwitch(stop, "stop"))
        return max(done, stop)

    def _kings(self, truth: Truth, result: str, at: float) -> float:
        """Both kings go to the centre; return when they have stood there long enough."""
        rng = self.rng
        if rng.random() < self.manners.corrected:
            wrong = rng.choice([other for other in SIGNALS if other != result])
            at = self._put_kings(rng.choice(SIGNALS[wrong]), at) + rng.uniform(0.4, 2.2)
        at = self._put_kings(rng.choice(SIGNALS[result]), at)
        truth.shown = result
        return at + SEEN + rng.uniform(0.0, 6.0)

    def _put_kings(self, squares: tuple[Square, Square], at: float) -> float:
        """Clear two squares, lift the kings and set them down there."""
        rng = self.rng
        kings = [square for square, piece in self.board.items() if piece in "Kk"]
        for square in squares:
            if square in self.board and square not in kings:
                at = self._set(square, None, at)
        rng.shuffle(kings)
        goals = list(squares)
        rng.shuffle(goals)
        pieces = [self.board[square] for square in kings]
        if all(king in goals for king in kings):
            return at
        together = rng.random() < 0.5
        if together:
            for square in kings:
                at = self._set(square, None, at, 0.3)
            for piece, goal in zip(pieces, goals, strict=True):
                at = self._set(goal, piece, at + 0.2)
            return at
        # one after the other: the first must not go where the second still stands
        if goals[0] == kings[1]:
            goals.reverse()
        for square, piece, goal in zip(kings, pieces, goals, strict=True):
            at = self._set(square, None, at)
            at = self._set(goal, piece, at + 0.2)
        return at

    def _king_alone(self, at: float) -> float:
        """A loser lays his king down in the middle."""
        free = [square for square in ("d4", "e4", "d5", "e5") if square not in self.board]
        if not free:
            return at
        king = self.rng.choice(sorted(square for square, piece in self.board.items() if piece in "Kk"))
        piece = self.board[king]
        at = self._set(king, None, at)
        return self._set(self.rng.choice(free), piece, at + 0.2)

    # --- between two games --------------------------------------------------------------------------------------

    def _between(self, score: Score, at: float) -> float:
        """Look at the game again, set up, set the clock; return when the next game's clock is started."""
        rng = self.rng
        previous = self.scores[self.scores.index(score) - 1]
        if rng.random() < self.manners.analysis and len(previous.plies) > 12:
            at = self._analyse(previous, at + rng.uniform(2.0, 20.0))
        reset = at + rng.uniform(1.0, 60.0)
        at = self._set_up(score.start, at + rng.uniform(2.0, 20.0))
        reset = reset if rng.random() < 0.5 else at + rng.uniform(0.5, 5.0)
        self.acts += [ClockSwitch(reset - 0.4, "stop"), ClockSwitch(reset, "reset")]
        return max(at, reset) + rng.uniform(3.0, 30.0)

    def _analyse(self, score: Score, at: float) -> float:
        """Go back some plies and forward again, another way and back, until somebody wants to go."""
        rng = self.rng
        index = len(score.plies) - 1
        at = self._become(score.plies[index].after, at)
        for _ in range(rng.randint(6, 25)):
            choice = rng.random()
            if choice < 0.45 and index > 2:
                index -= 1
                at = self._become(score.plies[index].after, at)
            elif choice < 0.75 and index + 1 < len(score.plies):
                index += 1
                at = self._become(score.plies[index].after, at)
            elif index + 1 < len(score.plies) and (other := score.plies[index + 1].elsewhere):
                ply = score.plies[index + 1]
                at = self._set(ply.departure, None, at)
                at = self._set(rng.choice(other), ply.piece, at + 0.2) + rng.uniform(0.5, 8.0)
                at = self._become(score.plies[index].after, at)
            at += rng.uniform(0.3, 5.0)
        return at

    def _become(self, target: Mapping[Square, Piece], at: float) -> float:
        """Change what differs: first what must go, then what must come."""
        differing = [s for s in {**self.board, **target} if self.board.get(s) != target.get(s)]
        self.rng.shuffle(differing)
        for square in differing:
            if square in self.board:
                at = self._set(square, None, at)
        for square in differing:
            if square in target:
                at = self._set(square, target[square], at)
        return at

    def _set_up(self, start: Mapping[Square, Piece], at: float) -> float:
        """Set up the start position: some pieces over the board, some from the box, a king and queen mixed up."""
        rng = self.rng
        wrong = [s for s, piece in self.board.items() if start.get(s) != piece]
        rng.shuffle(wrong)
        if rng.random() < 0.5:
            # everything is swept off first
            for square in wrong:
                at = self._set(square, None, at, 0.15)
        missing = [square for square in start if self.board.get(square) != start[square]]
        rng.shuffle(missing)
        if rng.random() < 0.15 and "d1" in missing and "e1" in missing:
            at = self._set("d1", start["e1"], at)
            at = self._set("e1", start["d1"], at)
        for square in missing:
            # a piece of this kind that stands where it should not is nearer than the box
            spare = [s for s, p in self.board.items() if p == start[square] and start.get(s) != p]
            if spare:
                at = self._set(rng.choice(spare), None, at, 0.3)
            if square in self.board:
                at = self._set(square, None, at, 0.3)
            at = self._set(square, start[square], at, 0.5)
        for square in [s for s in self.board if s not in start]:
            at = self._set(square, None, at, 0.3)
        return self._become(start, at)

    def _set(self, square: Square, piece: Piece | None, at: float, pause: float = 0.6) -> float:
        """Touch one square at `at`; return when the hand is ready for the next."""
        self.acts.append(Change(at, square, piece))
        if piece is None:
            self.board.pop(square, None)
        else:
            self.board[square] = piece
        return at + self.rng.uniform(0.3, 1.0) * pause + 0.03
