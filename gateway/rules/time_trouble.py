"""Time that is about to run out, and the claims that it opens; each is said once for a side and a period.

Articles: FIDE 8.4 (no score need be kept), III.4, III.5 (games without increment); FMJD III 6.12; FMJD VI 9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

from gateway.draughts import Position
from gateway.events import Side
from gateway.record import GamePosition
from gateway.rules import Finding, Situation
from gateway.rules.readings import SIDES, completed

SHORT = 300
"""FIDE 8.4, FMJD III 6.12: less than five minutes."""
CLAIM = 120
"""FIDE III.4: less than two minutes."""
LAST_MINUTE = 60
FEW_PIECES = 8
"""FMJD VI 9."""


class ShortOfTime:
    """A side is short of time; what that opens depends on game, regulations and control."""

    kinds: ClassVar[tuple[str, ...]] = ("time_trouble", "quickplay_claim", "draw_claim_last_minute")

    def __init__(self) -> None:
        self._game: str | None = None
        self._said: dict[tuple[str, Side, int], float] = {}
        """Kind, side, period: since when."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.phase not in ("play", "suspended"):
            self._said = {}
            return
        if game.id != self._game:
            self._game, self._said = game.id, {}
        report = seen.clock.report
        if seen.playing and report is not None and seen.clock.connected and seen.time_control.periods:
            for side in SIDES:
                self._weigh(side, report.reading(side), seen)
        for (kind, side, period), since in self._said.items():
            if kind != "time_trouble" or period == _period(seen, side):
                yield self._finding(kind, side, period, since, seen)

    def _weigh(self, side: Side, reading: float, seen: Situation) -> None:
        found = {
            "time_trouble": _short(side, reading, seen),
            "quickplay_claim": _claim(side, reading, seen),
            "draw_claim_last_minute": _last_minute(reading, seen),
        }
        for kind, holds in found.items():
            name = kind, side, _period(seen, side) if kind == "time_trouble" else 0
            if holds:
                self._said.setdefault(name, seen.at)
            elif kind == "draw_claim_last_minute" and self._said.get(name, -1.0) > seen.at - 1:
                # It has not held for the second that is asked.
                del self._said[name]

    def _finding(self, kind: str, side: Side, period: int, since: float, seen: Situation) -> Finding:
        report = seen.clock.report
        assert report is not None and seen.game is not None
        pieces = seen.record.node.occupied.bit_count()
        both = all((kind, each, period) in self._said for each in SIDES)
        facts = {"reading": float(report.reading(side)), "count": pieces}
        due = seen.time_control.next_control(completed(seen, side))
        left = None if due is None else due - completed(seen, side)
        evidence: dict[str, Any] = {"both": both, "moves_to_make": left}
        if kind == "draw_claim_last_minute":
            evidence["material"] = _material(seen.game.position)
        return Finding(kind, since, side, str(period), facts=facts, evidence=evidence)

    def state(self) -> list[Any]:
        return [self._game, [[*name, since] for name, since in self._said.items()]]

    def restore(self, state: list[Any]) -> None:
        self._game, said = state
        self._said = {(kind, side, period): since for kind, side, period, since in said}


def _period(seen: Situation, side: Side) -> int:
    return seen.time_control.controls_passed(completed(seen, side))


def _short(side: Side, reading: float, seen: Situation) -> bool:
    """FIDE 8.4: under five minutes without 30 s a move; FMJD III 6.12: without 60 s."""
    if not seen.in_force.endswith("standard"):
        return False
    period = seen.time_control.period_at(completed(seen, side))
    enough = 60 if seen.in_force.startswith("fmjd") else 30
    return period is not None and reading < SHORT and max(period.increment, period.delay) < enough


def _claim(side: Side, reading: float, seen: Situation) -> bool:
    """FIDE III.4, III.5, where the event announced it; never in blitz."""
    assert seen.game is not None
    control = seen.time_control
    return (
        seen.config.rules.guidelines_iii
        and seen.in_force in ("fide-standard", "fide-rapid")
        and control.last_period(completed(seen, side))
        and not control.periods[-1].increment
        and not control.periods[-1].delay
        and seen.game.record.turn == side
        and reading < CLAIM
    )


def _last_minute(reading: float, seen: Situation) -> bool:
    assert seen.game is not None
    position = seen.game.position
    return (
        isinstance(position, Position)
        and seen.in_force in ("fmjd-rapid", "fmjd-blitz")
        and not seen.time_control.has_bonus
        and reading <= LAST_MINUTE
        and seen.record.node.occupied.bit_count() <= FEW_PIECES
    )


def _material(position: GamePosition) -> dict[Side, list[int]]:
    """How many men and kings each side has: who stands better is the arbiter's to judge (FMJD VI 9)."""
    kinds = Counter(position.pieces().values())
    return {"white": [kinds["w"], kinds["W"]], "black": [kinds["b"], kinds["B"]]}


RULES = (ShortOfTime,)
