"""Which journalled event the broker is offered next. Pure: no I/O, and the caller says what time it is.

Each stream of each table is a *lane* that keeps its own order; lanes take turns, so that a table with a long backlog
does not hold up one without. Only the head of a lane is in memory: the rest is read from the journal as it drains.

A lane sends ahead without waiting for each answer. When an event is refused, what was sent after it is offered again
behind it, after a pause and one at a time until the broker takes it: a subscriber may then see an event twice, but a
stream never ends in the wrong order. A lost connection does the same to every lane.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gateway.store import Entry, Lane

LANE_MEMORY = 100
LANE_WINDOW = 20
REFUSED_BACKOFF_S = (1.0, 60.0)


@dataclass(slots=True)
class _Lane:
    delivered: int
    newest: int
    entries: deque[Entry] = field(default_factory=deque)
    """What comes after `delivered`, in order; the first `offered` of them are with the broker."""
    offered: int = 0
    unanswered: int = 0
    taken: set[int] = field(default_factory=set)
    window: int = LANE_WINDOW
    refused: bool = False
    """An event came back: nothing more is offered until all answers are in and the pause is over."""
    backoff: float = 0.0
    retry_at: float = 0.0
    reading: bool = False

    @property
    def held(self) -> int:
        """The last `seq` in memory."""
        return self.entries[-1].seq if self.entries else self.delivered

    def can_offer(self, at: float) -> bool:
        return (
            not self.refused
            and self.offered < len(self.entries)
            and self.unanswered < self.window
            and at >= self.retry_at
        )

    def rewind(self) -> None:
        """Offer everything that is not delivered again."""
        self.offered = 0
        self.taken.clear()
        self.refused = False


class Outbox:
    """All lanes of a gateway."""

    def __init__(self, lanes: Mapping[Lane, tuple[int, int]]) -> None:
        """Begin with what the journal knows: for each lane the last delivered and the last kept `seq`."""
        self._lanes = {lane: _Lane(delivered, max(delivered, newest)) for lane, (delivered, newest) in lanes.items()}
        self._turns: dict[Lane, None] = {}
        self._short = {key for key, lane in self._lanes.items() if lane.held < lane.newest}
        """Lanes of which the journal has more than is in memory."""

    def add(self, entries: Iterable[Entry]) -> None:
        """These are in the journal now."""
        for entry in entries:
            lane = self._lanes.setdefault(entry.lane, _Lane(entry.seq - 1, entry.seq - 1))
            if lane.held == lane.newest and len(lane.entries) < LANE_MEMORY:
                lane.entries.append(entry)
                self._turns[entry.lane] = None
            else:
                self._short.add(entry.lane)
            lane.newest = entry.seq

    def next(self, at: float) -> Entry | None:
        """Take the event to offer now, if there is one; its answer is `accepted` or `refused`."""
        while self._turns:
            key = next(iter(self._turns))
            del self._turns[key]
            lane = self._lanes[key]
            if lane.can_offer(at):
                entry = lane.entries[lane.offered]
                lane.offered += 1
                lane.unanswered += 1
                self._turns[key] = None
                return entry
        return None

    def accepted(self, entry: Entry) -> int | None:
        """The broker has it; return the lane's new last delivered `seq` if that moved."""
        lane = self._lanes[entry.lane]
        lane.unanswered -= 1
        lane.taken.add(entry.seq)
        moved = None
        while lane.entries and lane.entries[0].seq in lane.taken:
            moved = lane.entries.popleft().seq
            lane.taken.discard(moved)
            lane.delivered = moved
            lane.offered -= 1
        if moved is not None and not lane.refused:
            lane.backoff = 0.0
            lane.window = min(LANE_WINDOW, lane.window * 2)
        self._settle(entry.lane, lane)
        return moved

    def refused(self, entry: Entry, at: float) -> None:
        """The broker does not want it now."""
        lane = self._lanes[entry.lane]
        lane.unanswered -= 1
        if not lane.refused:
            lane.refused = True
            lane.backoff = min(max(lane.backoff * 2, REFUSED_BACKOFF_S[0]), REFUSED_BACKOFF_S[1])
            lane.retry_at = at + lane.backoff
            lane.window = 1
        self._settle(entry.lane, lane)

    def lost(self) -> None:
        """The connection is gone, and every answer with it."""
        for key, lane in self._lanes.items():
            lane.unanswered = 0
            lane.retry_at = 0.0
            lane.rewind()
            self._turns[key] = None

    def wake(self, at: float) -> None:
        """Let lanes whose pause is over take turns again."""
        for key, lane in self._lanes.items():
            if lane.backoff and lane.can_offer(at):
                self._turns[key] = None

    def wanted(self) -> list[tuple[Lane, int]]:
        """Lanes that must be read from the journal, each with its first missing `seq`; answered by `fill`."""
        found = []
        for key in self._short:
            lane = self._lanes[key]
            if not lane.reading and len(lane.entries) < LANE_MEMORY // 2:
                lane.reading = True
                found.append((key, lane.held + 1))
        return found

    def fill(self, key: Lane, entries: Iterable[Entry] | None) -> None:
        """What the journal had (None: it could not be read, ask again later)."""
        lane = self._lanes[key]
        lane.reading = False
        if entries is None:
            return
        held = lane.held
        fresh = [entry for entry in entries if entry.seq > held]
        lane.entries.extend(fresh)
        if not fresh:
            # Given up or damaged: there is nothing left to wait for.
            lane.newest = held
        if lane.held == lane.newest:
            self._short.discard(key)
        self._turns[key] = None

    @property
    def backlog(self) -> int:
        """Events that the broker has not acknowledged."""
        return sum(lane.newest - lane.delivered for lane in self._lanes.values())

    @property
    def held_up(self) -> list[Lane]:
        """Lanes whose last answer was a refusal."""
        return [key for key, lane in self._lanes.items() if lane.backoff]

    @property
    def deadline(self) -> float | None:
        """When `wake` has something to do."""
        return min((lane.retry_at for lane in self._lanes.values() if lane.backoff), default=None)

    def _settle(self, key: Lane, lane: _Lane) -> None:
        if lane.refused and lane.unanswered == 0:
            lane.rewind()
        self._turns[key] = None
