"""Irregularities by the Laws: what a rule looks at, and what it may find.

A rule is a condition over the table's present situation. It says what it sees now; that the condition must hold for a
while, that one cause is one alert, and that an alert goes when its cause has gone, is `watch.py`'s business. What
happened before is in `history.py`. The list of rules is in `families.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

from gateway.catalogue import CATALOGUE, Fact, Severity
from gateway.clock import Clock, ClockChange, Report
from gateway.config import TableConfig, effective
from gateway.events import Event, GameKind, Piece, Side, Square
from gateway.game import Assignment, Game, Orientation
from gateway.reconstruct.observed import Observed
from gateway.rules.history import History, Played, Touch
from gateway.rules.recorded import Recorded
from gateway.time_control import TimeControl

__all__ = ["Finding", "Remembers", "Rule", "Situation", "Told", "Touch", "Undone", "Wake", "shown"]


class Told(Protocol):
    """An alert of this game that has been raised, as far as other rules may ask."""

    @property
    def kind(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def side(self) -> Side | None: ...
    @property
    def ply(self) -> int | None:
        """The record's ply when it was raised."""

    @property
    def at(self) -> float:
        """When it was raised."""

    @property
    def open(self) -> bool:
        """Raised, and neither cleared nor acknowledged; never True of an `info`."""

    @property
    def noted(self) -> bool:
        """It is an `info`: nobody is accused by it."""

    @property
    def ruling(self) -> str | None:
        """`upheld` or `dismissed`, if the arbiter said so."""

    @property
    def counts(self) -> bool:
        """The arbiter has dealt with it as a fault: acknowledged or upheld it, corrected the game or gave time."""

    @property
    def message(self) -> str: ...
    @property
    def facts(self) -> Mapping[str, Fact]: ...
    @property
    def acknowledged(self) -> bool: ...
    @property
    def closed_at(self) -> float | None:
        """When it was cleared or acknowledged."""


@dataclass
class Situation:
    """Everything a rule may look at, at one moment. What several rules ask is worked out once."""

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
    history: History = field(default_factory=History)
    """What happened before."""
    told: Sequence[Told] = ()
    """The alerts of this game so far, oldest first."""
    recorded: Recorded | None = None
    """What follows from the record of `game`; None without a game."""

    @property
    def record(self) -> Recorded:
        """What follows from the record of the game. There is one."""
        assert self.recorded is not None
        return self.recorded

    @cached_property
    def pieces(self) -> Mapping[Square, Piece]:
        """What stands on the board."""
        return self.board.pieces()

    @cached_property
    def differing(self) -> int:
        """The squares on which the board contradicts the record, crowns included, as a mask."""
        return self.record.node.difference(self.board) if self._same_board else 0

    @property
    def _same_board(self) -> bool:
        """Whether the board is still the game's, and was not given to another kind of game meanwhile."""
        return self.game is not None and self.game.board is self.board

    @cached_property
    def apart(self) -> int:
        """The same with crowns left aside."""
        return self.apart_from(self.record.ply) if self.differing else 0

    def apart_from(self, ply: int) -> int:
        """The squares on which the board contradicts the position after `ply`, crowns left aside, as a mask."""
        if not self._same_board:
            return 0
        node, board = self.record.node_at(ply), self.board
        differing = node.difference(board)
        if self.game_kind == "draughts":
            differing &= ~(node.white & board.white | node.black & board.black)
        return differing

    @cached_property
    def standing(self) -> list[Played]:
        """The last plies as they were recognised, those that stand, oldest first."""
        entries = self.record.entries
        found: dict[int, Played] = {}
        for played in self.history.played:
            if played.ply <= len(entries) and entries[played.ply - 1].move.notation == played.notation:
                found[played.ply] = played
        return [found[ply] for ply in sorted(found)]

    @property
    def in_force(self) -> str:
        """The regulations of the game in play or the last one; without a game those of the table."""
        return self.game.regulations if self.game else self.regulations

    @property
    def playing(self) -> bool:
        """Whether a game is in play: outside it no alert of moves, pieces or the use of the clock is raised."""
        return self.game is not None and self.game.phase == "play"

    def debounce(self, kind: str) -> float:
        """Seconds for which a finding of `kind` must hold here."""
        game = self.game.kind if self.game else self.game_kind
        return effective(CATALOGUE[kind], self.config.rules, game, self.in_force).debounce_s

    @property
    def supervised(self) -> bool:
        """Whether somebody watches each game, so that an illegal move does not stand by the reply (FIDE A.4, B.2)."""
        said = self.config.rules.supervision
        return self.in_force.endswith("standard") if said is None else said


@dataclass(frozen=True, slots=True)
class Undone:
    """By what an alert about a completed act is settled, whatever stands on the board meanwhile."""

    ply: int
    """The last ply before the act; the record without a later one means that the act was taken off it."""
    fen: str
    """The position before the act; the same again on the board means that it was put right."""
    by_reply: bool
    """The opponent's reply settles it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule sees now: the condition of one kind holds."""

    kind: str
    since: float
    """When it began to hold, by the observations' time; the debounce runs from here. May lie in the future."""
    side: Side | None = None
    key: str = ""
    """Tells two causes of one kind apart."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """What fills the catalogue's message."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    wait: float | None = None
    """Seconds for which it must hold, instead of the catalogue's; 0: what ends the wait has come."""
    severity: Severity | None = None
    """Instead of the catalogue's."""
    undone: Undone | None = None
    """It is a completed act: once raised, the alert stays until this."""


@dataclass(frozen=True, slots=True)
class Wake:
    """Nothing is found yet, but time alone may change that: look again at `at`."""

    at: float


class Rule(Protocol):
    """One kind of irregularity, or a few that share a condition. Each table has its own."""

    kinds: ClassVar[tuple[str, ...]]
    """Ids in the catalogue."""

    def look(self, seen: Situation) -> Iterable[Finding | Wake]:
        """What holds now. A finding that is not given again has gone."""


@runtime_checkable
class Remembers(Protocol):
    """A rule with a memory of its own, which must outlive a restart."""

    def state(self) -> Any:
        """The memory as plain JSON values."""

    def restore(self, state: Any) -> None:
        """Undo `state`."""


def shown(squares: Iterable[Square]) -> list[str | int]:
    """Squares as published: numbers in draughts; sorted."""
    names = set(squares)
    numbers: list[str | int] = sorted(int(name) for name in names if name.isdigit())
    return [*numbers, *sorted(name for name in names if not name.isdigit())]
