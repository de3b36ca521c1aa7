"""What is known of a hall by what a subscriber has received. Pure: messages and times in.

Everything that comes is from elsewhere, so each payload is checked for its shape; what does not fit is counted and
otherwise let be. Times of messages are the gateway's; ages are told by it, whatever our own clock says.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from gateway.terminal.words import Weight, event_text, sentence, weight_of

STALE_S = 3.0
"""A running clock is published every second."""
GONE_S = 30.0
"""How long an alert that has cleared is still told of."""
BLIND_S = 2.0
"""Whoever may read alerts has them this long after the first table."""
TICKER = 200


class Link(msgspec.Struct):
    """``table/+/link``"""

    board: str = "down"
    clock: str = "unconfigured"
    gateway: str | None = None
    detail: str | None = None
    since: str | None = None


class Position(msgspec.Struct):
    """``table/+/position``"""

    fen: str | None = None


class Clock(msgspec.Struct):
    """``table/+/clock``"""

    white: float | None = None
    black: float | None = None
    running: str = "none"
    flags: list[str] = []


class Move(msgspec.Struct):
    """One of ``table/+/game``'s moves."""

    ply: int
    side: str
    notation: str
    legal: bool = True
    confirmed: bool = True
    uci: str | None = None
    squares: list[int] | None = None


class Game(msgspec.Struct):
    """``table/+/game``"""

    game: str = "chess"
    phase: str = "setup"
    regulations: str | None = None
    time_control: str | None = None
    white: str | None = None
    black: str | None = None
    moves: list[Move] = []
    result: str | None = None
    reason: str | None = None


class Alert(msgspec.Struct):
    """One of ``arbiter/+/alerts``."""

    alert_id: str
    irregularity: str
    severity: str
    message: str
    since: str
    attended_by: str | None = None


class Alerts(msgspec.Struct):
    """``arbiter/+/alerts``"""

    alerts: list[Alert] = []


class Physical(msgspec.Struct):
    """``arbiter/+/board``"""

    physical: str | None = None
    differs: list[int | str] = []


class Status(msgspec.Struct):
    """``gateway/+/status``"""

    state: str


RETAINED: dict[tuple[str, str], type[msgspec.Struct]] = {
    ("table", "link"): Link,
    ("table", "position"): Position,
    ("table", "clock"): Clock,
    ("table", "game"): Game,
    ("arbiter", "alerts"): Alerts,
    ("arbiter", "board"): Physical,
}


@dataclass(slots=True)
class Table:
    """One table, as last heard."""

    id: str
    first_heard: float
    link: Link | None = None
    position: Position | None = None
    clock: Clock | None = None
    clock_at: float = 0.0
    """When the clock was last heard."""
    clock_live: bool = False
    """Heard since we are connected, and not from the broker's memory."""
    game: Game | None = None
    alerts: Alerts | None = None
    board: Physical | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """One event, in words."""

    time: float
    table: str
    text: str
    weight: Weight


@dataclass(frozen=True, slots=True)
class Gone:
    """An alert that has cleared."""

    at: float
    table: str
    message: str
    lasted: float | None


@dataclass(slots=True)
class Hall:
    """Everything that is known now."""

    root: str = "hall"
    at: float = 0.0
    """Now, seconds since 1970."""
    tables: dict[str, Table] = field(default_factory=dict)
    gateways: dict[str, str] = field(default_factory=dict)
    """Gateway -> `online` or `offline`."""
    told: deque[Told] = field(default_factory=lambda: deque(maxlen=TICKER))
    gone: deque[Gone] = field(default_factory=lambda: deque(maxlen=20))
    trouble: str | None = "connecting"
    """Why nothing is heard at all; None while the broker is there."""
    trouble_at: float = 0.0
    received: int = 0
    strange: int = 0
    """Messages that were not as the contract has them."""
    raised: int = 0
    """Alerts (not mere information) that were raised while we listened."""
    moves: int = 0
    ahead: float | None = None
    """By how much our clock is ahead of the gateways', at most."""

    # --- what comes in ---------------------------------------------------------------------------------------------

    def connected(self, at: float) -> None:
        """The broker is there; what it remembers is on its way."""
        self.at, self.trouble = at, None

    def lost(self, why: str, at: float) -> None:
        """Nothing more is heard."""
        self.at = at
        if self.trouble is None:
            self.trouble_at = at
        self.trouble = why
        for table in self.tables.values():
            table.clock_live = False

    def hear(self, topic: str, payload: bytes, retained: bool, at: float) -> Told | None:
        """Take a message; return it in words if it is an event."""
        self.at = at
        self.received += 1
        parts = topic.removeprefix(f"{self.root}/").split("/")
        try:
            match parts:
                case ["gateway", name, "status"]:
                    self.gateways[name] = msgspec.json.decode(payload, type=Status).state
                case ["table" | "arbiter", name, "event", kind]:
                    return self._event(name, kind, json.loads(payload))
                case [branch, name, what] if (branch, what) in RETAINED and payload:
                    said = msgspec.json.decode(payload, type=RETAINED[branch, what])
                    self._state(name, what, said, retained)
        except (ValueError, msgspec.MsgspecError, LookupError, TypeError):
            self.strange += 1
        return None

    def _state(self, name: str, what: str, said: Any, retained: bool) -> None:
        table = self.tables.get(name)
        if table is None:
            table = self.tables[name] = Table(name, self.at)
            self.tables = dict(sorted(self.tables.items(), key=lambda item: _natural(item[0])))
        setattr(table, what, said)
        if what == "clock":
            table.clock_at, table.clock_live = self.at, not retained

    def _event(self, name: str, kind: str, said: Any) -> Told:
        told = Told(moment(said["time"]), name, event_text(said), weight_of(said))
        late = self.at - told.time
        self.ahead = late if self.ahead is None else min(late, self.ahead)
        self.told.append(told)
        self.moves += kind == "move"
        if kind == "alert" and said["severity"] != "info":
            self.raised += said["state"] == "raised"
            if said["state"] == "cleared":
                self.gone.append(Gone(self.at, name, sentence(name, said["message"]), self._lasted(name, said)))
        return told

    def _lasted(self, name: str, said: Any) -> float | None:
        """How long it was open: its table's list still has it."""
        alerts = self.tables[name].alerts if name in self.tables else None
        for alert in alerts.alerts if alerts else ():
            if alert.alert_id == said["alert_id"]:
                return moment(said["time"]) - moment(alert.since)
        return None

    # --- what it means ---------------------------------------------------------------------------------------------

    def age(self, time: str) -> float:
        """Seconds since a moment that a gateway has told."""
        return max(0.0, self.at - (self.ahead or 0.0) - moment(time))

    def open_alerts(self) -> list[tuple[Table, Alert]]:
        """All that is open: the graver before the less grave, then the older before the newer."""
        found = [(table, alert) for table in self.tables.values() for alert in _alerts(table)]
        return sorted(found, key=lambda item: (item[1].severity != "alert", item[1].since))

    def gone_lately(self) -> list[Gone]:
        """Alerts that have cleared by themselves or were dealt with, newest first."""
        return [gone for gone in reversed(self.gone) if self.at - gone.at < GONE_S]

    def blind(self) -> bool:
        """Whether this account is not shown alerts, which must never look like there being none."""
        return any(
            table.alerts is None and self.at - table.first_heard > BLIND_S for table in self.tables.values()
        ) and all(table.alerts is None for table in self.tables.values())

    def missing(self, table: Table) -> str | None:
        """Why what is shown of a table cannot be trusted, in words."""
        link = table.link
        if self.trouble is not None:
            return "not heard"
        if link is None:
            return "no link told"
        if self.gateways.get(link.gateway or "", "online") != "online":
            return f"gateway {link.gateway} gone"
        if link.board != "up":
            return f"board {link.board}" + (f": {link.detail}" if link.detail else "")
        return "clock down" if link.clock == "down" else None

    def stale(self, table: Table) -> float | None:
        """How old the reading of a clock is that should be running; None while all is well."""
        if table.clock is None or table.clock.running == "none":
            return None
        age = self.at - table.clock_at
        return age if age > STALE_S or not table.clock_live else None


def moment(time: str) -> float:
    """RFC 3339 as seconds since 1970."""
    return datetime.fromisoformat(time).timestamp()


def _alerts(table: Table) -> Iterable[Alert]:
    return table.alerts.alerts if table.alerts else ()


def _natural(name: str) -> list[tuple[int, str]]:
    """2 before 10, and numbers before names."""
    return [(int(part), "") if part.isdigit() else (1 << 30, part) for part in re.split(r"(\d+)", name) if part]
