"""What has arrived, and when it may be told: every event waits until `delay` after its own time. Pure.

The delay counts from the event's time, not from its arrival: a broker that was away for five minutes makes nothing
later, and a correction in time means that the mistake is never seen outside.

Each table's events have a `seq` without gaps, so a missing one is noticed at once. The retained `game` topic then says
what the game is, at its own `time`, and waits like an event. `keep` lines are what must be on disk: given again after
a restart, in the same order, they lead to the same state.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import msgspec

from gateway.feed.games import Game, Payload, Table

AHEAD_S = 10.0
"""A gateway's clock that is further ahead than this is told of."""

Sort = Literal["event", "game", "names"]
"""`game` is a whole payload that is adopted, `names` one of which only the assignment counts."""

_DECODE = msgspec.json.Decoder().decode
_ENCODE = msgspec.json.Encoder().encode
_RANK: dict[str, int] = {"event": 0, "names": 1, "game": 1}
_WAITING = tuple[float, int, int, Sort, Payload]


@dataclass
class _Lane:
    """One table: what is expected next, and what waits."""

    table: Table
    seq: int | None = None
    stamp: float = float("-inf")
    """Of the last event."""
    wanting: bool = True
    """Something is missing: the next `game` payload that is not older is adopted."""
    latest: tuple[float, Payload] | None = None
    names: tuple[Any, ...] | None = None
    waiting: list[_WAITING] = field(default_factory=list)


class Relay:
    """All tables of the hall."""

    def __init__(self, delay_s: float, *, confirmed_only: bool) -> None:
        self.delay_s = delay_s
        self.notes: list[str] = []
        """Sentences for the operator's log; taken and cleared by the caller."""
        self._confirmed_only = confirmed_only
        self._lanes: dict[str, _Lane] = {}
        self._count = 0
        self._ahead: set[str] = set()

    # --- what arrives -------------------------------------------------------------------------------------------

    def hear(self, table: str, topic: str, data: bytes, now: float, *, retained: bool = False) -> list[bytes]:
        """Take a message.

        Args:
            table: id of the table.
            topic: the rest of the topic: ``game`` or ``event/KIND``.
            now: seconds since 1970, only to notice clocks that are wrong.
            retained: it was kept by the broker, so it may be old, and nothing is known of what was before.

        Returns:
            Lines to keep, if it says something new.
        """
        try:
            payload = _DECODE(data)
            stamp = _stamp(payload["time"])
            if topic == "game":
                return self._hear_game(table, payload, stamp, retained)
            if stamp > now + AHEAD_S and table not in self._ahead:
                self._ahead.add(table)
                self.notes.append(f"table {table}: its gateway's clock is {stamp - now:.0f} s ahead; check the time")
            return self._hear_event(table, payload, stamp)
        except (KeyError, TypeError, ValueError, AttributeError, msgspec.DecodeError) as problem:
            self.notes.append(f"table {table}: {topic} cannot be read: {problem!r:.200}")
            return []

    def recall(self, line: bytes) -> None:
        """Take a line that was kept. A damaged one is left out."""
        try:
            sort, table, payload = _DECODE(line)
            stamp = _stamp(payload["time"])
            lane = self._lane(table)
            if sort == "event":
                lane.seq, lane.stamp = payload["seq"], stamp
            self._wait(lane, stamp, sort, payload)
        except (KeyError, TypeError, ValueError, msgspec.DecodeError):
            self.notes.append("a damaged line of the kept events is left out")

    def _hear_event(self, table: str, event: Payload, stamp: float) -> list[bytes]:
        lane = self._lane(table)
        seq = event["seq"]
        if not isinstance(seq, int):
            raise TypeError("seq is no number")
        if lane.seq is not None and seq <= lane.seq:
            if stamp <= lane.stamp:
                return []  # once more; delivery is at least once
            self.notes.append(f"table {table}: its events are counted from {seq} anew")
            lane.wanting = True
        elif seq != (lane.seq or 0) + 1:
            if lane.seq is not None:
                self.notes.append(f"table {table}: events {lane.seq + 1} to {seq - 1} are missing")
            lane.wanting = True
        lane.seq, lane.stamp = seq, stamp
        kept = self._keep(lane, stamp, "event", event)
        return kept + self._heal(lane)

    def _hear_game(self, table: str, payload: Payload, stamp: float, retained: bool) -> list[bytes]:
        lane = self._lane(table)
        lane.latest = stamp, payload
        lane.wanting |= retained
        kept = self._heal(lane)
        names = tuple(payload[key] for key in ("game_id", "game", "white", "black", "event", "round", "time_control"))
        if not kept and names != lane.names:
            kept = self._keep(lane, stamp, "names", {**payload, "moves": []})
        lane.names = names
        return kept

    def _heal(self, lane: _Lane) -> list[bytes]:
        """Adopt the latest payload where something is missing and it is new enough to hold it."""
        if not lane.wanting or lane.latest is None or lane.latest[0] < lane.stamp:
            return []
        lane.wanting = False
        return self._keep(lane, lane.latest[0], "game", lane.latest[1])

    def _keep(self, lane: _Lane, stamp: float, sort: Sort, payload: Payload) -> list[bytes]:
        self._wait(lane, stamp, sort, payload)
        return [_ENCODE([sort, lane.table.id, payload])]

    def _wait(self, lane: _Lane, stamp: float, sort: Sort, payload: Payload) -> None:
        self._count += 1
        heapq.heappush(lane.waiting, (stamp, _RANK[sort], self._count, sort, payload))

    def _lane(self, table: str) -> _Lane:
        if table not in self._lanes:
            self._lanes[table] = _Lane(Table(table, self._confirmed_only))
        return self._lanes[table]

    # --- what is due --------------------------------------------------------------------------------------------

    def advance(self, now: float) -> list[bytes]:
        """Apply all that is due at `now`; return lines to keep."""
        kept = []
        for lane in self._lanes.values():
            while lane.waiting and lane.waiting[0][0] + self.delay_s <= now:
                stamp, _, _, sort, payload = heapq.heappop(lane.waiting)
                self._apply(lane.table, sort, payload, stamp)
                if lane.table.lost and not any(waiting[3] == "game" for waiting in lane.waiting):
                    lane.table.lost = False
                    lane.wanting = True
                    kept += self._heal(lane)
        return kept

    @property
    def deadline(self) -> float | None:
        """When `advance` has something to do."""
        return min((lane.waiting[0][0] + self.delay_s for lane in self._lanes.values() if lane.waiting), default=None)

    def _apply(self, table: Table, sort: Sort, payload: Payload, stamp: float) -> None:
        try:
            if sort == "event":
                table.apply(payload, stamp)
            elif sort == "game":
                table.adopt(payload, stamp)
            else:
                table.expect(payload, stamp)
        except (KeyError, TypeError, ValueError) as problem:
            table.lost = True
            self.notes.append(f"table {table.id}: {payload.get('kind', 'game')} makes no sense here: {problem!r:.200}")

    # --- what is known ------------------------------------------------------------------------------------------

    def games(self) -> Iterator[Game]:
        """Every game, by table."""
        for lane in self._lanes.values():
            yield from lane.table.all()

    def forget(self, games: list[Game]) -> None:
        """These are not wanted any more."""
        for lane in self._lanes.values():
            lane.table.forget(game for game in games if game.table == lane.table.id)


def is_of(line: bytes, game_ids: set[str], since: float) -> bool:
    """Whether a kept line is still needed: it is of one of these games, or not older than `since`."""
    try:
        _, _, payload = _DECODE(line)
        return payload["game_id"] in game_ids or _stamp(payload["time"]) >= since
    except (KeyError, TypeError, ValueError, msgspec.DecodeError):
        return False


def _stamp(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
