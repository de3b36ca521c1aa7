"""Whether the round has begun at this table, and whether anybody is there.

Absence is never seen, only that nobody touched board or clock; a player may sit and think about the first move.
Articles: FIDE 6.6, 6.7; FMJD III 4.4, 4.5, 5.7, 5.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from gateway.catalogue import Severity
from gateway.events import Side
from gateway.game import Game
from gateway.rules import Finding, Situation
from gateway.rules.readings import SIDES

NOT_STARTED = 120.0
"""Seconds after the appointed time. What happens at other tables is not seen from this one."""
ABSENT = 300.0
"""Seconds of White's clock."""
FMJD_DEFAULT = 60
"""Minutes (FMJD III 5.7)."""
SETTLING = 2.0
"""Seconds after the first ply in which whoever made it may still straighten the piece."""


class ClockNotStarted:
    """The appointed time has passed and no clock runs."""

    kinds: ClassVar[tuple[str, ...]] = ("clock_not_started",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        waiting = game is None or game.phase == "ended"
        unstarted = game is not None and game.phase == "play" and not game.record.ply and game.clock_started is None
        if not waiting and not unstarted:
            return
        assigned = seen.assigned if waiting or game is None else game.assigned
        start = assigned.scheduled_start
        if start is None or not seen.clock.connected or seen.clock.running != "none" or not seen.link_up:
            return
        yield Finding("clock_not_started", start + NOT_STARTED - (seen.stamp - seen.at))


class Absent:
    """A clock runs and the player, or both, give no sign of being there."""

    kinds: ClassVar[tuple[str, ...]] = ("late_arrival", "both_players_absent")

    def __init__(self) -> None:
        self._game: str | None = None
        self._started: float | None = None
        """When this game's clock was started, and for whom."""
        self._runs: Side | None = None
        self._signs = 0
        """Signs of life before the first ply."""
        self._first_ply: float | None = None
        self._black_there = False

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.phase != "play" or game.resumed_at is not None or not _at_the_start(seen):
            self._started = None
            return
        if game.id != self._game:
            self.restore([game.id, None, None, 0, None, False])
        if self._started is None:
            if seen.clock.one_running is None or game.record.ply:
                return
            self._started, self._runs = seen.at, seen.clock.one_running
        self._note_signs(seen)
        yield from self._both(game, seen)
        yield from self._one(game, seen)

    def _note_signs(self, seen: Situation) -> None:
        assert seen.game is not None
        if not seen.game.record.ply:
            self._first_ply, self._black_there = None, False
            presses = [change for change in seen.clock_changes if change.change == "pressed"]
            self._signs += len(seen.touched) + len(presses)
            return
        if self._first_ply is None:
            self._first_ply = seen.at
        later = [touch for touch in seen.touched if touch.at > self._first_ply + SETTLING]
        pressed = any(change.change == "pressed" and change.side == "black" for change in seen.clock_changes)
        self._black_there |= bool(later) or pressed

    def _both(self, game: Game, seen: Situation) -> Iterator[Finding]:
        """White's clock runs and nothing has moved since the start."""
        assert self._started is not None
        zero = _default_time(game, seen) == 0
        if self._signs or game.record.ply or self._runs != "white" or seen.clock.one_running != "white" or zero:
            return
        elapsed = ABSENT
        facts = {"elapsed": elapsed, "half": elapsed / 2}
        evidence = {"elapsed": elapsed, "half": elapsed / 2}
        yield Finding("both_players_absent", self._started + ABSENT, facts=facts, evidence=evidence)

    def _one(self, game: Game, seen: Situation) -> Iterator[Finding]:
        assert self._started is not None
        start = game.assigned.scheduled_start
        if start is None:
            return
        side: Side = "black" if game.record.ply else "white"
        if not game.record.ply and seen.in_force.startswith("fmjd") and seen.clock.one_running:
            side = seen.clock.one_running
        if self._black_there if game.record.ply else self._signs:
            return
        minutes = _default_time(game, seen)
        fmjd = seen.in_force.startswith("fmjd")
        allowed = minutes if minutes is not None else FMJD_DEFAULT if fmjd else 0
        began = self._started if not game.record.ply or self._first_ply is None else self._first_ply
        since = max(start + 60 * allowed - (seen.stamp - seen.at), began)
        severity: Severity | None = "info" if minutes is None and not fmjd else None
        yield Finding("late_arrival", since, side, evidence={"minutes": allowed}, severity=severity)

    def state(self) -> list[Any]:
        return [self._game, self._started, self._runs, self._signs, self._first_ply, self._black_there]

    def restore(self, state: list[Any]) -> None:
        self._game, self._started, self._runs, self._signs, self._first_ply, self._black_there = state


def _at_the_start(seen: Situation) -> bool:
    """Whether no more than the first ply of the whole game has been made."""
    return seen.record.ply <= 1 and sum(map(seen.record.moves_completed, SIDES)) <= 1


def _default_time(game: Game, seen: Situation) -> int | None:
    """Minutes that a player may be late, if that was said."""
    said = game.assigned.default_time
    return seen.config.default_time if said is None else said


RULES = (ClockNotStarted, Absent)
