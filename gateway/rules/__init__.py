"""Irregularities by the Laws: what a rule looks at, and what it may find.

A rule is a condition over the table's present situation. It says what it sees now; that the condition must hold for a
while, that one cause is one alert, and that an alert goes when its cause has gone, is `watch.py`'s business. What
happened before is in `history.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from gateway.catalogue import Fact
from gateway.clock import Clock, ClockChange, Report
from gateway.config import TableConfig
from gateway.events import Event, GameKind, Piece, Side, Square
from gateway.game import Assignment, Game, Orientation
from gateway.reconstruct.observed import Observed
from gateway.time_control import TimeControl


@dataclass(frozen=True, slots=True)
class Touch:
    """One square's change, as White sees the board."""

    at: float
    square: Square
    was: Piece | None
    now: Piece | None


@dataclass(slots=True)
class Situation:
    """Everything a rule may look at, at one moment."""

    at: float
    stamp: float
    """The wall clock, seconds since 1970."""
    config: TableConfig
    game_kind: GameKind
    regulations: str
    time_control: TimeControl
    assigned: Assignment
    """For the next game; a game that has begun keeps its own (`game.assigned`)."""
    board: Observed
    clock: Clock
    link_up: bool
    orientation: Orientation | None
    game: Game | None
    """The game in play, or the last one."""
    next: Game | None
    """A game whose start position stands, and which has not begun."""
    happened: list[Event]
    """What has just been concluded, in order."""
    touched: list[Touch]
    """What has just changed on the board."""
    clock_changes: list[ClockChange]
    """What has just changed on the clock."""
    report_before: Report | None
    """The clock's report before this step; the same as now if none came."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule sees now: the condition of one kind holds."""

    kind: str
    since: float
    """When it began to hold, by the observations' time; the debounce runs from here."""
    side: Side | None = None
    key: str = ""
    """Tells two causes of one kind apart."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """What fills the catalogue's message."""
    evidence: Mapping[str, Any] = field(default_factory=dict)


class Rule(Protocol):
    """One kind of irregularity, or a few that share a condition."""

    kinds: ClassVar[tuple[str, ...]]
    """Ids in the catalogue."""

    def look(self, seen: Situation) -> Iterable[Finding]:
        """What holds now. A finding that is not given again has gone."""
