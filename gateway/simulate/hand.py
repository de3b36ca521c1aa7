"""Two people play a game: what their hands do to the squares and the clock, moment by moment, and what it meant.

The tricky idea is that nobody waits. Each ply is a gesture with a start of its own, and the next may begin before the
last one's press, or before its captured pawn has gone. Two hands cannot be on one square, though: `busy` keeps, per
square, when the last touch so far has been, and a gesture that would come too early on any of its squares is put off
as a whole. So the touches, played in order of time, always lead to the positions of the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from gateway.events import OTHER, Piece, Side, Square
from gateway.simulate.gesture import TURN_OVER, Gesture, Hand, Mishap, drawn
from gateway.simulate.habits import Habits, Pace
from gateway.simulate.score import Pieces, Ply, Score


@dataclass(frozen=True, slots=True)
class Change:
    """A square holds `piece`, or nothing, from `at` on."""

    at: float
    square: Square
    piece: Piece | None
    ply: int | None = None
    """The standing ply (from 1) whose own change this is; None: a ply taken back, or nobody's ply."""


@dataclass(frozen=True, slots=True)
class Press:
    """A player pushes his button."""

    at: float
    side: Side


@dataclass(frozen=True, slots=True)
class ClockSwitch:
    """The clock is started or stopped by hand, or set (`reset`) to the times of a new game."""

    at: float
    action: Literal["start", "stop", "reset"]
    side: Side = "white"
    """Whose clock is started."""


Act = Change | Press | ClockSwitch


@dataclass(frozen=True, slots=True)
class StandingPly:
    """A ply that stood at the end."""

    ply: int
    name: str
    side: Side
    fen: str
    placed: float
    """When the last square that it changes was as it should be."""
    pressed: float | None
    also: str | None = None
    """Another name that is as right: a pawn for which no piece was ever put on the board."""


@dataclass(frozen=True, slots=True)
class Takeback:
    """Plies that were played and taken back."""

    from_ply: int
    names: tuple[str, ...]
    played: float
    """When the first of them began."""
    start: float
    end: float


@dataclass(slots=True)
class Truth:
    """What really happened in one game."""

    game: str
    start_fen: str
    started: float = 0.0
    """When the clock was started for it."""
    ended: float = 0.0
    """When it was over for the players; later touches belong to no game."""
    plies: list[StandingPly] = field(default_factory=list)
    takebacks: list[Takeback] = field(default_factory=list)
    mishaps: list[Mishap] = field(default_factory=list)
    result: str = "*"
    """What the players agreed on, whether they showed it or not."""
    shown: str | None = None
    """What the board shows: a kings signal left standing, or mate and the like."""


@dataclass(slots=True)
class Performance:
    """All acts of an evening at one board, in order of time, and the truth of each game."""

    start: Pieces
    """What stands at time 0."""
    acts: list[Act] = field(default_factory=list)
    games: list[Truth] = field(default_factory=list)
    end: float = 0.0
    base: float = 0.0
    increment: float = 0.0

    def changes(self) -> list[Change]:
        return [act for act in self.acts if isinstance(act, Change)]

    def final(self) -> Pieces:
        """What stands at last."""
        pieces = dict(self.start)
        for change in self.changes():
            if change.piece is None:
                pieces.pop(change.square, None)
            else:
                pieces[change.square] = change.piece
        return pieces


class Players:
    """Both players of one game, from the start of the clock to the last press."""

    def __init__(self, score: Score, pace: Pace, habits: Habits, rng: Random) -> None:
        self.score = score
        self.pace = pace
        self.habits = habits
        self.rng = rng
        self.hand = Hand(pace, habits, rng)
        self.acts: list[Act] = []
        self.truth = Truth(score.game, score.start_fen)
        self.busy: dict[Square, float] = {}
        self.left: dict[Side, float] = {}
        self.running: Side = "white"
        self.switched = 0.0
        """When the running clock began to run."""
        self.placed = 0.0
        """When the last ply was complete for its mover."""
        self.board: Pieces = dict(score.start)

    def play(self, at: float) -> float:
        """Start the clock at `at` and play to the end; return the time of the last act."""
        first = self.score.plies[0].side if self.score.plies else "white"
        base = self.pace.base
        self.left = {"white": base, "black": base}
        self.acts.append(ClockSwitch(at, "start", first))
        self.truth.started = at
        self.running, self.switched, self.placed = first, at, at
        plies = self.score.plies
        for index, ply in enumerate(plies):
            if detour := self.score.detours.get(index):
                self._take_back(detour, index + 1, ply.side)
            reply = plies[index + 1] if index + 1 < len(plies) else None
            previous = plies[index - 1] if index else None
            self._ply(ply, index + 1, reply, previous)
        self._adjust()
        self.acts.sort(key=lambda act: act.at)
        end = max(self.acts[-1].at, self.placed)
        self.truth.ended = end
        return end

    # --- one ply ------------------------------------------------------------------------------------------------

    def _ply(self, ply: Ply, number: int | None, reply: Ply | None, previous: Ply | None) -> None:
        """Play one ply; `number` None: it will be taken back."""
        gesture = self.hand.gesture(ply, self.board, reply)
        start, thought = self._begin(ply, previous, gesture)
        if thought is not None and self.hand.chance(self.pace.early * self.habits.lift_early):
            start = self._hold(gesture, start)
        start = self._put_off(start, gesture)
        self._commit(gesture, start, number)
        self.board = dict(ply.after)
        self.placed = start + gesture.released
        complete, pressed = start + gesture.complete, self._press(ply.side)
        if number is not None:
            also = None if gesture.crowned or ply.departure.isdigit() else ply.name[:4]
            self.truth.plies.append(StandingPly(number, ply.name, ply.side, ply.fen, complete, pressed, also))

    def _begin(self, ply: Ply, previous: Ply | None, gesture: Gesture) -> tuple[float, float | None]:
        """When the first touch comes, and how long was thought about it (None: not at all)."""
        pace, rng = self.pace, self.rng
        if pace.every is not None:
            gap = max(0.12, rng.gauss(pace.every, pace.every * 0.3))
            return self.placed + gap - gesture.released, None
        recapture = bool(previous and ply.victims and ply.victims[0][0] == previous.arrival and previous.victims)
        if previous and self.hand.chance(pace.instant_recapture if recapture else pace.instant):
            return self.placed + drawn(rng, pace.reaction), None
        left = self.left[ply.side]
        # as people do: a fortieth of what is left, and the increment; in the end there is no time to think
        budget = max(0.0, left / 12 + self.pace.increment - 1.0)
        if ply.think is not None and pace.scale:
            think = ply.think * pace.scale * rng.uniform(0.7, 1.3)
        else:
            usual = min(pace.think, left / 40 + 0.7 * pace.increment)
            think = rng.lognormvariate(0.0, pace.spread) * usual
        think = min(think, pace.longest, budget)
        return max(self.switched, self.placed) + max(think, drawn(rng, pace.reaction)), think

    def _hold(self, gesture: Gesture, start: float) -> float:
        """Lift the piece early, while the opponent still reaches for the clock, and hold it until its time."""
        early = self.placed + (self.switched - self.placed) * self.rng.uniform(0.1, 0.9)
        first = gesture.touches[0]
        if early >= start or self.switched <= self.placed or first[2] is not None or start - early > 3.0:
            return start
        held = start - early
        gesture.touches[1:] = [(at + held, square, piece) for at, square, piece in gesture.touches[1:]]
        gesture.released += held
        gesture.complete += held
        for mishap in gesture.mishaps:
            mishap.start += held
            mishap.end += held
        gesture.mishaps.append(Mishap("lifted_before_press", 0.0, held, (first[1],)))
        return early

    def _put_off(self, start: float, gesture: Gesture) -> float:
        """The first moment from `start` on at which no other hand is in the way."""
        for at, square, _ in gesture.touches:
            if square in self.busy:
                start = max(start, self.busy[square] + TURN_OVER - at)
        return start

    def _commit(self, gesture: Gesture, start: float, number: int | None) -> None:
        for at, square, piece in gesture.touches:
            self.acts.append(Change(start + at, square, piece, number))
            self.busy[square] = max(self.busy.get(square, 0.0), start + at)
        for mishap in gesture.mishaps:
            mishap.start += start
            mishap.end += start
            self.truth.mishaps.append(mishap)

    def _press(self, side: Side) -> float | None:
        """The mover presses, unless he forgets. Pressing a button that is down changes nothing."""
        if self.hand.chance(self.habits.forgotten_press):
            noticed = self.placed + self.rng.uniform(3.0, 15.0)
            self.truth.mishaps.append(Mishap("forgotten_press", self.placed, noticed))
            if self.hand.chance(0.5):
                # the opponent replies on the other's time; his own press then finds the lever as it was
                return None
            return self._pressed(side, noticed)
        return self._pressed(side, self.placed + drawn(self.rng, self.pace.press))

    def _pressed(self, side: Side, at: float) -> float:
        at = max(at, self.switched + 0.12)
        self.acts.append(Press(at, side))
        if self.running == side:
            self.left[side] = max(0.0, self.left[side] - (at - self.switched)) + self.pace.increment
            self.running, self.switched = OTHER[side], at
        return at

    # --- plies that do not last ---------------------------------------------------------------------------------

    def _take_back(self, detour: Sequence[Ply], number: int, side: Side) -> None:
        """Play the plies of `detour`, think again, and put everything back."""
        boards: list[Pieces] = []
        played = self.placed
        for index, ply in enumerate(detour):
            boards.append(dict(self.board))
            self._ply(ply, None, None, detour[index - 1] if index else None)
        thought = self.rng.uniform(20.0, 70.0) if self.hand.chance(0.3) else self.hand.time(1.0, 6.0)
        start = max(self.placed, self.switched) + thought
        at = start
        for ply, board in zip(reversed(detour), reversed(boards), strict=True):
            at = self._undo(ply, board, at)
        self.placed = at
        if self.running != side:
            # the clock is put right at once, or only by the lever when the next ply is complete
            wait = self.hand.time(0.3, 2.0)
            if self.hand.chance(0.6):
                self._pressed(OTHER[side], at + wait)
        self.truth.takebacks.append(Takeback(number, tuple(ply.name for ply in detour), played, start, at))

    def _undo(self, ply: Ply, before: Pieces, at: float) -> float:
        """Put back what `ply` changed, one square after the other; return when that is done."""
        at = max([at, *(self.busy.get(square, 0.0) + 0.1 for square in ply.touches())])
        now = dict(self.board)
        filled = [square for square in ply.touches() if now.get(square) != before.get(square)]
        # a hand first takes the piece from where it went; only then is there room for the victim
        filled.sort(key=lambda square: (square not in now, square != ply.departure, square))
        for square in filled:
            if square in now:
                self.acts.append(Change(at, square, None))
                at += self.hand.time(0.2, 1.2)
        for square in sorted(filled, key=lambda square: (square != ply.departure, square)):
            if square in before:
                self.acts.append(Change(at, square, before[square]))
                at += self.hand.time(0.2, 1.5)
        for square in filled:
            self.busy[square] = at
        self.board = before
        return at

    # --- touches between the plies ------------------------------------------------------------------------------

    def _adjust(self) -> None:
        """Pieces are straightened where no hand needs them: lifted a little and set down on the same square."""
        touched: dict[Square, list[float]] = {}
        for act in self.acts:
            if isinstance(act, Change):
                touched.setdefault(act.square, []).append(act.at)
        starts = [self.truth.started, *(p.pressed or p.placed for p in self.truth.plies)]
        fens: list[Mapping[Square, Piece]] = [self.score.start, *(p.after for p in self.score.plies)]
        for index, ply in enumerate(self.score.plies):
            for rate, own in ((self.habits.adjust, True), (self.habits.adjust_out_of_turn, False)):
                if not self.hand.chance(rate):
                    continue
                colour = ply.side if own else OTHER[ply.side]
                mine = [s for s, p in fens[index].items() if self._owner(p) == colour]
                if not mine:
                    continue
                square = self.rng.choice(sorted(mine))
                begin = starts[index] + self.rng.uniform(0.0, max(0.1, self.truth.plies[index].placed - starts[index]))
                end = begin + self.hand.time(0.1, 1.4)
                # other touches of that square, or of it as somebody's goal, stay half a second away
                if any(begin - 0.5 < at < end + 0.5 for at in touched.get(square, ())):
                    continue
                piece = self._standing(square, begin)
                if piece is None:
                    continue
                self.acts += [Change(begin, square, None), Change(end, square, piece)]
                touched.setdefault(square, []).extend((begin, end))
                kind = "adjusted" if own else "adjusted_out_of_turn"
                self.truth.mishaps.append(Mishap(kind, begin, end, (square,), piece))

    def _owner(self, piece: Piece) -> Side:
        if self.score.game == "draughts":
            return "white" if piece in "wW" else "black"
        return "white" if piece.isupper() else "black"

    def _standing(self, square: Square, at: float) -> Piece | None:
        """What stands on a square at a moment, by the acts so far."""
        piece = self.score.start.get(square)
        latest = -1.0
        for act in self.acts:
            if isinstance(act, Change) and act.square == square and latest <= act.at <= at:
                piece, latest = act.piece, act.at
        return piece
