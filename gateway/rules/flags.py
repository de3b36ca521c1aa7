"""Flags: time that has run out, time controls passed, and time that is about to run out.

A flag says nothing without the moves: a period with a number of moves is passed by whoever has made them. Where a
clock gives no flag, a reading of 0 that stays is one; readings are cut to seconds, so a second is waited for. The
gateway only dates the fact; with a move or a press within half a second of it nothing is decided. Articles: FIDE 6.4,
6.8, 6.9, A.5, III.3; FMJD III 3.7.5, 6.11; FMJD VI 7.1, 11.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from typing import Any, ClassVar

import chess

from gateway.events import Side
from gateway.reconstruct.phase import kings_signal
from gateway.record import ChessPosition, GamePosition
from gateway.rules import Finding, Situation, Wake
from gateway.rules.draws import PAUSE, SLICE
from gateway.rules.readings import SIDES, Step, completed, one, period_added, step
from gateway.winnable import Answer, Proof, mating

CLOSE = 0.5
"""Seconds between a flag and a move within which their order is not decided."""
ROUNDED = 1.0
"""Seconds for which a reading of 0 may still be a part of a second."""
WALK = 4_000
"""Positions that the proof after a flag may look at."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A side's time has run out."""

    side: Side
    earliest: float
    """The report before it."""
    at: float
    """The report that showed it."""
    certain: float
    """From when on it is no part of a second."""
    count: int
    """Moves completed then."""
    ply: int
    by_bit: bool
    """The clock itself says that the flag is down."""
    passed: bool = False
    """The reading went on into the next period."""
    together: bool = False
    """Both fell in one report."""


class FlagFall:
    """Flags that are down, and what follows for the game."""

    kinds: ClassVar[tuple[str, ...]] = (
        "flag_fall",
        "flag_fall_opponent_cannot_win",
        "both_flags_down",
        "play_after_flag_fall",
        "time_control_reached",
    )

    def __init__(self) -> None:
        self._falls: list[Fall] = []
        """In the order in which they were seen."""
        self._reached: list[tuple[Side, int, float, int]] = []
        """Side, control, since when and moves completed."""
        self._added: dict[Side, int] = {"white": 0, "black": 0}
        """Periods that each clock has been given."""
        self._assumed: list[Side] = []
        """Whose last period was not seen to be given: moves had been made when the game was taken up."""
        self._game: str | None = None
        self._proof: tuple[GamePosition, bool, Proof] | None = None
        """The position in which a flag fell, whether White is to win it, and the proof that he can or cannot."""

    def look(self, seen: Situation) -> Iterator[Finding | Wake]:
        game = seen.game
        if game is None or game.phase != "play" or not seen.clock.connected:
            if game is None or game.phase != "suspended":
                self.restore([[], [], {"white": 0, "black": 0}, None, []])
            return
        if game.id != self._game:
            passed: dict[Side, int] = {side: self._control(seen, side) for side in SIDES}
            self._falls, self._reached, self._added, self._game = [], [], passed, game.id
            self._assumed = [side for side in SIDES if passed[side]]
        self._note(seen)
        yield from self._findings(seen)

    @staticmethod
    def _control(seen: Situation, side: Side) -> int:
        return seen.time_control.controls_passed(completed(seen, side)) if seen.time_control.periods else 0

    # --- what the clock shows -----------------------------------------------------------------------------------

    def _note(self, seen: Situation) -> None:
        report, taken = seen.clock.report, step(seen)
        if report is None or (taken is None and not report.flags and not self._falls):
            return
        before = len(self._falls)
        for side in SIDES:
            if taken is not None:
                self._period(side, taken, seen)
            known = next((fall for fall in self._falls if fall.side == side), None)
            bit, zero = side in report.flags, report.reading(side) <= 0
            if known is not None:
                if not bit and not zero and not known.passed:
                    self._falls.remove(known)
                continue
            ran = taken is not None and side in (one(taken.before), one(taken.after))
            if bit or (zero and ran):
                self._fall(side, seen, by_bit=bit)
        if len(self._falls) == 2 and before == 0:
            self._falls = [_together(fall) for fall in self._falls]

    def _fall(self, side: Side, seen: Situation, *, by_bit: bool, passed: bool = False) -> None:
        """A reading is at 0: the flag, unless the moves of the period were made."""
        assert seen.game is not None
        if self._over_before(seen):
            return
        control, count = seen.time_control, completed(seen, side)
        if not passed and control.periods and self._added[side] < self._control(seen, side):
            self._reach(side, seen)
            return
        wait = 0.0 if by_bit or passed else ROUNDED + (control.delay if seen.config.delay_style == "wait" else 0)
        earliest = seen.report_before.at if seen.report_before else seen.at
        fall = Fall(side, earliest, seen.at, seen.at + wait, count, seen.game.record.ply, by_bit, passed)
        self._falls.append(fall)

    def _reach(self, side: Side, seen: Situation) -> None:
        control = self._added[side] + 1
        if not any(item[:2] == (side, control) for item in self._reached):
            count = seen.record.moves_completed(side)
            self._reached.append((side, control, seen.at, count))

    def _period(self, side: Side, taken: Step, seen: Situation) -> None:
        """The clock has added a period: rightly, or to a flag that had fallen before the moves were made."""
        record = seen.record
        n = record.moves_completed(side)
        pressed = taken.pressed == side and record.turn != side
        if period_added(taken, side, seen.time_control, n - pressed) is None:
            return
        if side in self._assumed:
            # Here it is.
            self._assumed.remove(side)
            self._added[side] -= 1
        made = seen.time_control.controls_passed(n) > self._added[side]
        self._falls = [fall for fall in self._falls if fall.side != side]
        if made:
            self._reach(side, seen)
        self._added[side] += 1
        if not made and taken.pressed != side:
            self._fall(side, seen, by_bit=False, passed=True)

    @staticmethod
    def _over_before(seen: Situation) -> bool:
        """Mate, stalemate and a shown result come before the flag (FIDE 6.9)."""
        if seen.record.over is not None:
            return True
        if seen.game_kind == "draughts" or not seen.board.pieces_known:
            return False
        return kings_signal(seen.pieces) is not None

    # --- what it means ------------------------------------------------------------------------------------------

    def _findings(self, seen: Situation) -> Iterator[Finding | Wake]:
        assert seen.game is not None
        for side, control, since, count in self._reached:
            facts = {"count": count}
            yield Finding("time_control_reached", since, side, key=str(control), facts=facts)
        if self._falls and not self._falls[0].together:
            # A flag that falls after another is no matter of its own.
            yield from self._flag(self._falls[0], seen)
        if len(self._falls) == 2 and not _decided(self._falls[0], seen):
            first, second = self._falls
            order = "not known" if second.at == first.at else first.side
            since = max(first.certain, second.certain)
            evidence = {"order": [[fall.side, fall.at] for fall in self._falls], "consequence": _both(order, seen)}
            yield Finding("both_flags_down", since, facts={"first": order}, evidence=evidence)

    def _flag(self, fall: Fall, seen: Situation) -> Iterator[Finding | Wake]:
        assert seen.game is not None
        evidence = _times(fall, seen)
        yield Finding("flag_fall", fall.certain, fall.side, facts={"count": fall.count}, evidence=evidence)
        proof = self._opponent(fall, seen)
        verdict = proof.advance(SLICE) if proof is not None else None
        if proof is not None and verdict is None:
            yield Wake(seen.at + PAUSE)
        elif verdict is not None and verdict.answer is Answer.CANNOT:
            evidence = {"answer": verdict.answer.value, "test": verdict.reason}
            yield Finding("flag_fall_opponent_cannot_win", fall.certain, fall.side, evidence=evidence)
        after = [entry for entry in seen.game.record.entries if entry.ply > fall.ply and entry.confirmed]
        told = any(told.kind == "flag_fall" and told.side == fall.side and told.open for told in seen.told)
        if told and len(after) >= 2:
            plies = {"plies": [entry.ply for entry in after]}
            yield Finding("play_after_flag_fall", fall.at, fall.side, evidence=plies)

    def _opponent(self, fall: Fall, seen: Situation) -> Proof | None:
        """The proof whether the opponent could still mate in the position in which the flag fell."""
        position = seen.record.position_at(min(fall.ply, seen.record.ply))
        if not isinstance(position, ChessPosition):
            return None
        winner = fall.side == "black"
        if self._proof is None or self._proof[0] is not position or self._proof[1] != winner:
            board = position.board.copy(stack=False)
            self._proof = position, winner, Proof(mating(board, chess.WHITE if winner else chess.BLACK, WALK))
        return self._proof[2]

    def state(self) -> list[Any]:
        return [
            [list(astuple(fall)) for fall in self._falls],
            [list(item) for item in self._reached],
            self._added,
            self._game,
            self._assumed,
        ]

    def restore(self, state: list[Any]) -> None:
        falls, reached, added, self._game, *assumed = state
        self._assumed = list(assumed[0]) if assumed else []
        self._falls = [Fall(*fall) for fall in falls]
        self._reached = [(side, control, since, count) for side, control, since, count in reached]
        self._added = dict(added)


def _together(fall: Fall) -> Fall:
    return replace(fall, together=True)


def _decided(first: Fall, seen: Situation) -> bool:
    """Whether the arbiter has dealt with the first flag."""
    return any(
        told.kind == "flag_fall" and told.side == first.side and told.counts and told.ruling != "dismissed"
        for told in seen.told
    )


def _times(fall: Fall, seen: Situation) -> dict[str, Any]:
    """When the flag fell, and the last move and press: too close together, their order is not decided."""
    played = seen.history.played[-1] if seen.history.played else None
    press = seen.history.last_press(fall.side)
    times = {"move": played.arrived if played else None, "press": press.at if press else None}
    return {
        "fell": [round(fall.earliest, 3), round(fall.at, 3)],
        **times,
        "undecided": any(at is not None and fall.earliest - CLOSE <= at <= fall.at + CLOSE for at in times.values()),
    }


def _both(order: str, seen: Situation) -> str:
    """What both flags mean (time controls; FMJD VI 11, FIDE III.3.1)."""
    control = seen.time_control
    if seen.in_force in ("fmjd-rapid", "fmjd-blitz") and not control.has_bonus:
        return "draw, whichever was first (FMJD VI 11)"
    guidelines = seen.config.rules.guidelines_iii and seen.in_force in ("fide-standard", "fide-rapid")
    if order == "not known" and guidelines and not control.has_bonus:
        last = all(control.last_period(completed(seen, side)) for side in SIDES)
        return "draw (FIDE III.3.1.2)" if last else "the game goes on (FIDE III.3.1.1)"
    return "the first to fall has lost"


RULES = (FlagFall,)
