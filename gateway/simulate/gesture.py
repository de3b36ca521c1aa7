"""One ply as a hand makes it: squares that fill and empty at moments, counted from the first touch.

Every function draws from the `random.Random` it is given and from nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from gateway.events import Piece, Square
from gateway.simulate.habits import Habits, Pace, Range
from gateway.simulate.score import Ply

Touch = tuple[float, Square, Piece | None]
"""Seconds from the first touch; the square; what it holds from then on."""

TURN_OVER = 0.03
"""Seconds that no hand can beat between two touches of one square."""


def drawn(rng: Random, span: Range) -> float:
    """A time from a range: mostly quick, now and then slow."""
    least, most = span
    return rng.triangular(least, most, least + (most - least) / 3)


@dataclass(slots=True)
class Mishap:
    """Something in a gesture that a spectator could have seen and an arbiter may have to."""

    kind: str
    start: float
    end: float
    squares: tuple[Square, ...] = ()
    piece: Piece | None = None


@dataclass(slots=True)
class Gesture:
    """All touches of one ply."""

    touches: list[Touch] = field(default_factory=list)
    released: float = 0.0
    """When the mover has done what he thinks is his move, and reaches for the clock."""
    complete: float = 0.0
    """When the last square that the ply changes is as it should be."""
    crowned: bool = True
    """False: the piece is never put on the board."""
    mishaps: list[Mishap] = field(default_factory=list)

    def put(self, at: float, square: Square, piece: Piece | None) -> None:
        self.touches.append((at, square, piece))

    def show(self, at: float, length: float, square: Square, piece: Piece) -> float:
        """Let `piece` appear on an empty square for a while; return when it has gone."""
        self.put(at, square, piece)
        self.put(at + length, square, None)
        return at + length


def neighbours(square: Square) -> list[Square]:
    """The squares around a square, on whichever board it is."""
    if square.isdigit():
        row, place = divmod(int(square) - 1, 5)
        column = 2 * place + (row % 2 == 0)
        around = [(row + r, column + c) for r in (-1, 1) for c in (-1, 1)]
        return [str(r * 5 + c // 2 + 1) for r, c in around if 0 <= r < 10 and 0 <= c < 10]
    file, rank = ord(square[0]), int(square[1])
    around = [(file + f, rank + r) for f in (-1, 0, 1) for r in (-1, 0, 1) if f or r]
    return [f"{chr(f)}{r}" for f, r in around if "a" <= chr(f) <= "h" and 1 <= r <= 8]


def _free(ply: Ply, before: Mapping[Square, Piece], squares: list[Square]) -> list[Square]:
    """Those of `squares` that are empty before and after the ply and no part of it."""
    return [s for s in squares if s not in before and s not in ply.after and s not in ply.touches()]


class Hand:
    """Makes gestures: what `habits` allow at `pace`, as `rng` falls."""

    def __init__(self, pace: Pace, habits: Habits, rng: Random) -> None:
        self.pace = pace
        self.habits = habits
        self.rng = rng
        self.haste = pace.carry[1] / 1.5
        """1 at rapid pace, about a sixth in a scramble: what shortens every other movement too."""

    def chance(self, rate: float) -> bool:
        return self.rng.random() < rate

    def time(self, least: float, most: float) -> float:
        """A time from a range given for rapid pace."""
        return drawn(self.rng, (least, most)) * self.haste

    def gesture(self, ply: Ply, before: Mapping[Square, Piece], reply: Ply | None = None) -> Gesture:
        """Play `ply` on a board that holds `before`; `reply` is what the opponent will answer."""
        gesture = Gesture()
        if ply.departure.isdigit():
            self._draughts(gesture, ply, before, reply)
        elif ply.rook:
            self._castle(gesture, ply)
        else:
            self._chess(gesture, ply, before, reply)
        gesture.complete = max(gesture.complete, gesture.released)
        self._flicker(gesture, ply)
        self._knock(gesture, ply, before)
        gesture.touches.sort(key=lambda touch: touch[0])
        return gesture

    # --- chess --------------------------------------------------------------------------------------------------

    def _chess(self, gesture: Gesture, ply: Ply, before: Mapping[Square, Piece], reply: Ply | None) -> None:
        """A ply of one piece, with what it takes and what it becomes."""
        en_passant = bool(ply.victims) and ply.victims[0][0] != ply.arrival
        start = 0.0
        if ply.victims and not en_passant and self.chance(self.habits.victim_first):
            start = self._remove(gesture, 0.0, ply, ply.victims[0], before) + self.time(0.05, 0.5)
        at = self._carry(gesture, start, ply, before)
        if ply.victims and not en_passant and start == 0.0:
            at = self._swap(gesture, at, ply, before)
        gesture.released = self._arrive(gesture, at, ply, reply)
        if en_passant:
            late = self.chance(self.habits.en_passant_late)
            gone = at + self.time(0.3, 1.8) if late else max(0.05, at + self.rng.uniform(-0.4, 0.4) * self.haste)
            gesture.put(gone, ply.victims[0][0], None)
            if late and self.chance(0.2):
                # some reach for the clock first
                gesture.mishaps.append(Mishap("victim_late", gesture.released, gone, (ply.victims[0][0],)))
            else:
                gesture.released = max(gesture.released, gone)
            gesture.complete = max(gesture.complete, gone)

    def _carry(self, gesture: Gesture, start: float, ply: Ply, before: Mapping[Square, Piece]) -> float:
        """Take the piece from its departure to where it can be let go; return that moment."""
        gesture.put(start, ply.departure, None)
        arrive = start + drawn(self.rng, self.pace.carry)
        free = set(_free(ply, before, [*ply.path, *ply.elsewhere, *neighbours(ply.arrival)]))
        if ply.slides and ply.path and self.chance(self.habits.slide):
            return self._drag(gesture, start, arrive, ply)
        if self.chance(self.habits.hover) and (over := [s for s in (*ply.path, *neighbours(ply.arrival)) if s in free]):
            square = self.rng.choice(over)
            at = start + (arrive - start) * self.rng.uniform(0.2, 0.8)
            gone = gesture.show(at, self.time(0.05, 0.3), square, ply.piece)
            gesture.mishaps.append(Mishap("hover", at, gone, (square,), ply.piece))
            arrive = max(arrive, gone + self.time(0.05, 0.2))
        if self.chance(self.habits.hesitate):
            wrong = [s for s in ply.elsewhere if s in free] or [s for s in neighbours(ply.arrival) if s in free]
            if wrong:
                square = self.rng.choice(wrong)
                gone = gesture.show(arrive, self.time(*self.habits.dwell), square, ply.piece)
                gesture.mishaps.append(Mishap("hesitation", arrive, gone, (square,), ply.piece))
                arrive = gone + self.time(0.15, 0.6)
        return arrive

    def _drag(self, gesture: Gesture, start: float, arrive: float, ply: Ply) -> float:
        """Slide the piece over every square of its path; return when it is on its goal.

        A dragging hand makes four to ten squares a second, however long it held the piece before.
        """
        step = min((arrive - start) / (len(ply.path) + 1), self.rng.uniform(0.1, 0.25))
        at = start
        for square in ply.path:
            at += step * self.rng.uniform(0.2, 0.5)
            gone = gesture.show(at, step * self.rng.uniform(0.5, 0.9), square, ply.piece)
            gesture.mishaps.append(Mishap("slide", at, gone, (square,), ply.piece))
            at = gone
        return at + step * 0.3

    def _remove(
        self, gesture: Gesture, at: float, ply: Ply, victim: tuple[Square, Piece], before: Mapping[Square, Piece]
    ) -> float:
        """Take a victim off the board; return when the hand is free again."""
        gesture.put(at, victim[0], None)
        if not self.chance(self.habits.victim_shown):
            return at
        over = _free(ply, before, [*neighbours(victim[0]), *(s for n in neighbours(victim[0]) for s in neighbours(n))])
        if not over:
            return at
        shown = at + self.time(0.05, 0.4)
        gone = gesture.show(shown, self.time(0.15, 0.6), square := self.rng.choice(over), victim[1])
        gesture.mishaps.append(Mishap("victim_shown", shown, gone, (square,), victim[1]))
        return shown

    def _swap(self, gesture: Gesture, at: float, ply: Ply, before: Mapping[Square, Piece]) -> float:
        """Put the captor where the victim stands, in one gesture; return when it stands there.

        Two pieces touch but do not pass through each other, so the square is empty for a moment: the less, the more
        the captor pushes.
        """
        pushed = self.chance(self.habits.victim_pushed / max(1e-9, 1 - self.habits.victim_first))
        gap = self.rng.uniform(0.03, 0.06) if pushed else self.rng.uniform(0.03, 0.07 + 0.06 * min(1.0, self.haste))
        at = max(at, 0.06 + gap)
        self._remove(gesture, at - gap, ply, ply.victims[0], before)
        return at

    def _arrive(self, gesture: Gesture, at: float, ply: Ply, reply: Ply | None) -> float:
        """Set the piece down, and promote it; return when the mover is done."""
        if not ply.crowned:
            gesture.put(at, ply.arrival, ply.piece)
            return at
        taken_at_once = reply is not None and any(square == ply.arrival for square, _ in reply.victims)
        if taken_at_once and ply.becomes in "Qq" and self.chance(self.habits.never_promoted):
            gesture.put(at, ply.arrival, ply.piece)
            gesture.mishaps.append(Mishap("unpromoted", at, at + 3600, (ply.arrival,), ply.piece))
            gesture.crowned = False
            return at
        style = self.rng.random()
        if style >= self.habits.pawn_shown + self.habits.promoted_late:
            # the pawn goes off the board, the new piece is looked for, and put on
            put = at + self.time(0.1, 2.0)
            gesture.put(put, ply.arrival, ply.becomes)
            return put
        gesture.put(at, ply.arrival, ply.piece)
        late = style >= self.habits.pawn_shown
        off = at + (self.time(1.5, 6.0) if late else self.time(0.3, 1.5))
        put = off + self.time(0.05, 0.8)
        gesture.put(off, ply.arrival, None)
        gesture.put(put, ply.arrival, ply.becomes)
        gesture.complete = put
        if late and self.chance(0.5):
            gesture.mishaps.append(Mishap("unpromoted", at, put, (ply.arrival,), ply.piece))
            return at
        return put

    def _castle(self, gesture: Gesture, ply: Ply) -> None:
        """King and rook, in one order or the other or with both hands."""
        assert ply.rook
        rook_from, rook_to, rook = ply.rook
        style = self.rng.random()
        carry = drawn(self.rng, self.pace.carry)
        if style < self.habits.both_hands:
            lag = self.rng.uniform(-0.15, 0.15)
            lifts, places = {"k": 0.0, "r": lag}, {"k": carry, "r": carry + self.rng.uniform(-0.15, 0.15)}
        else:
            then = carry + self.time(0.15, 0.9)
            first, second = ("r", "k") if style < self.habits.both_hands + self.habits.rook_first else ("k", "r")
            lifts = {first: 0.0, second: then}
            places = {first: carry, second: then + drawn(self.rng, self.pace.carry)}
            if first == "r":
                gesture.mishaps.append(Mishap("rook_first", 0.0, places["k"]))
            crossing = {"k": (ply.arrival, rook_from), "r": (rook_to, ply.departure)}[first]
            if crossing[0] == crossing[1]:
                # Chess960: the other piece stands there, so it is taken into the hand first
                lifts[second] = self.rng.uniform(0.0, max(0.01, carry - 0.1))
        if min(lifts.values()) < 0:
            shift = -min(lifts.values())
            lifts = {k: v + shift for k, v in lifts.items()}
            places = {k: v + shift for k, v in places.items()}
        for who, start, goal in (("k", ply.departure, ply.arrival), ("r", rook_from, rook_to)):
            if start == goal:
                continue
            other_leaves = lifts["r" if who == "k" else "k"]
            other_start = rook_from if who == "k" else ply.departure
            piece = ply.piece if who == "k" else rook
            if goal == other_start:
                places[who] = max(places[who], other_leaves + TURN_OVER)
            places[who] = max(places[who], lifts[who] + 0.1)
            gesture.put(lifts[who], start, None)
            if who == "k" and ply.path and self.chance(self.habits.slide) and goal != other_start:
                self._drag_king(gesture, lifts[who], places[who], ply)
            gesture.put(places[who], goal, piece)
            gesture.released = max(gesture.released, places[who])

    def _drag_king(self, gesture: Gesture, start: float, end: float, ply: Ply) -> None:
        """The king slides over the square beside it, unless the rook uses it meanwhile."""
        assert ply.rook
        for index, square in enumerate(s for s in ply.path if s not in ply.rook[:2]):
            at = start + (end - start) * (index + 0.3) / (len(ply.path) + 1)
            gesture.show(at, (end - start) * 0.5 / (len(ply.path) + 1), square, ply.piece)

    # --- draughts -----------------------------------------------------------------------------------------------

    def _draughts(self, gesture: Gesture, ply: Ply, before: Mapping[Square, Piece], reply: Ply | None) -> None:
        """A man or king goes its way, then what it took is removed, then it is crowned."""
        gesture.put(0.0, ply.departure, None)
        at = drawn(self.rng, self.pace.carry)
        for square in ply.path:
            # a square on which the captor stood at first, or lands twice, is tapped like any other
            if square != ply.arrival and self.chance(self.habits.tapped) and square not in (s for s, _ in ply.victims):
                at = gesture.show(at, self.time(0.06, 0.35), square, ply.piece)
            at += self.time(0.15, 0.5)
        if ply.piece in "WB" and ply.elsewhere and self.chance(self.habits.overshoot):
            if beyond := _free(ply, before, list(ply.elsewhere)):
                gone = gesture.show(at, self.time(0.1, 0.8), square := self.rng.choice(beyond), ply.piece)
                gesture.mishaps.append(Mishap("hesitation", at, gone, (square,), ply.piece))
                at = gone + self.time(0.1, 0.4)
        elif self.chance(self.habits.hesitate) and (wrong := _free(ply, before, list(ply.elsewhere))):
            gone = gesture.show(at, self.time(*self.habits.dwell), square := self.rng.choice(wrong), ply.piece)
            gesture.mishaps.append(Mishap("hesitation", at, gone, (square,), ply.piece))
            at = gone + self.time(0.15, 0.6)
        gesture.put(at, ply.arrival, ply.piece)
        gesture.released = self._take_men(gesture, at, ply, before)
        if ply.crowned:
            self._crown(gesture, ply, reply)

    def _take_men(self, gesture: Gesture, arrived: float, ply: Ply, before: Mapping[Square, Piece]) -> float:
        """Remove the captured men one by one; return when the last has gone."""
        victims = list(ply.victims)
        order = self.rng.random()
        if order > 0.8:
            self.rng.shuffle(victims)
        elif order > 0.6:
            victims.reverse()
        early = bool(victims) and self.chance(self.habits.removed_early)
        at = self.rng.uniform(0.3, 0.9) * arrived if early else arrived + self.time(0.1, 0.6)
        if early:
            gesture.mishaps.append(Mishap("removed_early", at, arrived))
        for victim in victims:
            self._remove(gesture, at, ply, victim, before)
            last = at
            # two or three small men fit in one hand, and go in one sweep
            at += self.rng.uniform(0.03, 0.12) if self.chance(0.15) else self.time(0.15, 0.6)
        return max(arrived, last) if victims else arrived

    def _crown(self, gesture: Gesture, ply: Ply, reply: Ply | None) -> None:
        """A second man is put on top, so that the board reads a king: now, late, or by the opponent."""
        taken_at_once = reply is not None and any(square == ply.arrival for square, _ in reply.victims)
        if taken_at_once and self.chance(self.habits.never_promoted):
            gesture.mishaps.append(Mishap("uncrowned", gesture.released, gesture.released + 3600, (ply.arrival,)))
            return
        style = self.rng.random()
        late = style < self.habits.crowned_late + self.habits.crowned_by_opponent
        at = gesture.released + (self.time(1.5, 7.0) if late else self.time(0.3, 1.5))
        off = at - min(self.time(0.05, 0.5), (at - gesture.released) / 2)
        if self.chance(0.5):
            gesture.put(off, ply.arrival, None)
        gesture.put(at, ply.arrival, ply.becomes)
        gesture.complete = at
        if late:
            gesture.mishaps.append(Mishap("uncrowned", gesture.released, at, (ply.arrival,)))
        else:
            gesture.released = at

    # --- pieces that nobody meant to move -----------------------------------------------------------------------

    def _flicker(self, gesture: Gesture, ply: Ply) -> None:
        """The piece just set down stands badly: the board loses it now and then, for a second or two."""
        if not self.chance(self.habits.flicker):
            return
        at = gesture.complete
        for _ in range(self.rng.randint(1, 3)):
            at += self.time(0.1, 0.8)
            gesture.put(at, ply.arrival, None)
            gesture.put(at := at + self.rng.uniform(0.05, 0.5) * min(1.0, self.haste), ply.arrival, ply.becomes)
        gesture.mishaps.append(Mishap("flicker", gesture.complete, at, (ply.arrival,), ply.becomes))

    def _knock(self, gesture: Gesture, ply: Ply, before: Mapping[Square, Piece]) -> None:
        """Pieces beside the goal fall when the piece is set down, and are put back one by one."""
        if not self.chance(self.habits.knock):
            return
        near = [*neighbours(ply.arrival), *(n for s in neighbours(ply.arrival) for n in neighbours(s))]
        standing = [s for s in dict.fromkeys(near) if s in ply.after and s in before and s not in ply.touches()]
        fallen = self.rng.sample(standing, min(len(standing), self.rng.randint(1, 4)))
        if not fallen:
            return
        at = gesture.released
        for square in fallen:
            gesture.put(at + self.rng.uniform(0.0, 0.15), square, None)
        back = at + self.time(0.5, 2.5)
        for square in fallen:
            piece = ply.after[square]
            free = _free(ply, before, neighbours(square))
            if free and self.chance(self.habits.knocked_wrong):
                back = gesture.show(back, self.time(0.3, 2.0), self.rng.choice(free), piece) + self.time(0.1, 0.5)
            gesture.put(back, square, piece)
            back += self.time(0.4, 1.8)
        gesture.mishaps.append(Mishap("knocked", at, back, tuple(fallen)))
        # the one who knocked them over puts them back on his own time, as he should; some press first
        if self.chance(0.7):
            gesture.released = back
        gesture.complete = max(gesture.complete, gesture.released)
