"""One port: bytes and time in, observations per table out, and what to send when. Opens nothing, waits for nothing.

Most ports have one table. A bus has several, told apart by address; they share the port, and are up and down each for
itself.

A device is *up* when it answers after the port was opened, and where a serial number is configured, when it has said
that very number; until then nothing of what it says reaches a table, since it may be another table's board. It is
*down* when the port closes, when another board is found on it, and when it keeps silent although asked. Silence alone
means nothing: an idle board has nothing to say.

In a replay all of this is in the capture already: the link only decodes, and is told of `up` and `down` by the
capture's lines, through `opened` and `closed`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.events import FrameRejected, GameKind, Identity, LinkState, Observation, Senses
from gateway.protocol import Address
from gateway.registry import Entry

Told = tuple[str, Observation]
"""A table's id, and what it is to be told."""

LOST_S = 7.0
"""Silence of a device that was asked. With it a table knows within the 10 s that the hall is promised."""
UNANSWERED = 3
"""Questions without an answer, at least, before silence counts."""
DECIDE_S = 3.0
"""For a board to say both its serial numbers, short and long, where one is configured."""

NO_ANSWER = "does not answer"


@dataclass
class Counters:
    """For the technician; all since the start."""

    frames: int = 0
    """Observations decoded."""
    rejected: Counter[str] = field(default_factory=Counter)
    reconnects: int = 0
    last_frame: float | None = None


@dataclass
class _Seat:
    """One table's device on this port."""

    table_id: str
    expected: str | None
    counters: Counters = field(default_factory=Counters)
    up: bool = False
    was_up: bool = False
    said: LinkState | None = None
    heard_at: float = float("-inf")
    unanswered: int = 0
    """Questions put on the port since the device was last heard."""
    lost: bool = False
    decide_at: float | None = None
    """When it is settled that the board is not the configured one."""
    serials: dict[str, str] = field(default_factory=dict)
    held: list[Identity] = field(default_factory=list)
    """What the board said about itself before it was known to be the right one."""
    senses_told: bool = False

    @property
    def admitted(self) -> bool:
        """Whether what the device says is for the table."""
        return self.expected is None or self.expected in self.serials.values()

    def note_serial(self, identity: Identity) -> None:
        """Keep a serial number; a changed one means another board, of which nothing else is known yet."""
        serial = _plain(identity.text)
        if self.serials.get(identity.kind, serial) != serial:
            self.serials.clear()
        self.serials[identity.kind] = serial

    def forget(self) -> None:
        """The device is gone; who comes next may be another."""
        self.up = False
        self.decide_at = None
        self.serials.clear()
        self.held.clear()


class Link:
    """One port with the tables behind it.

    Args:
        entry: what kind of device is on the port.
        tables: per bus address (None on a port of one device) the table's id and its game.
        serials: per table id the serial number that is configured, if any. On a bus the address says as much.
        options: the driver's own settings.
        replaying: only decode.
    """

    def __init__(
        self,
        entry: Entry,
        tables: Mapping[Address, tuple[str, GameKind]],
        serials: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        replaying: bool = False,
    ) -> None:
        self.entry = entry
        self.failed = False
        """The port is open and nothing answers: close it, wait, open it again."""
        self.wrong_device = False
        """Another board is on this port: close it, and look for the right one elsewhere."""
        self._games = {address: game for address, (_, game) in tables.items()}
        self._options = dict(options or {})
        self._replaying = replaying
        self._decoder = entry.family.decoder(self._games, self._options)
        self._dialogue = None if replaying else entry.family.dialogue(self._games, self._options)
        self._opened_at: float | None = None
        self._outgoing: list[tuple[bytes, str | None]] = []
        expected = serials or {}
        self._seats = {
            address: _Seat(table_id, _plain(expected[table_id]) if address is None and table_id in expected else None)
            for address, (table_id, _) in tables.items()
        }

    @property
    def counters(self) -> Mapping[str, Counters]:
        """Per table id."""
        return {seat.table_id: seat.counters for seat in self._seats.values()}

    @property
    def deadline(self) -> float | None:
        """When `tick` wants to be called next."""
        if not self._alive:
            return None
        times = [self._dialogue.deadline if self._dialogue else None]
        for seat in self._seats.values():
            times += [self._lost_at(seat), seat.decide_at]
        return min((time for time in times if time is not None), default=None)

    def opened(self, at: float) -> None:
        """The port was opened."""
        self._opened_at = at
        self.failed = self.wrong_device = False
        for seat in self._seats.values():
            seat.unanswered, seat.lost = 0, False
        if self._dialogue:
            self._ask(self._dialogue.opened(at))

    def closed(self, at: float, detail: str | None = None) -> list[Told]:
        """The port was closed, or could not be opened. Without a detail, a reason given before stands."""
        self._opened_at = None
        self._outgoing.clear()
        if None in self._seats:  # on a bus half a frame may be another table's
            self._decoder = self.entry.family.decoder(self._games, self._options)
        told = []
        for seat in self._seats.values():
            if seat.up or detail or seat.said is None:
                told += self._say(seat, False, detail)
            seat.forget()
        return told

    def receive(self, data: bytes, at: float, channel: str | None = None) -> list[Told]:
        """Take what arrived; return what the tables are told, `LinkState` first.

        So the states come before the bytes in a capture too: note the states first, then the chunk.
        """
        if not (self._alive or self._replaying):
            return []
        states: list[Told] = []
        told: list[Told] = []
        for address, observation in self._decoder.feed(data, at, channel):
            for seat in self._seats_of(address, observation):
                self._take(seat, observation, at, states, told)
            if self._dialogue and self._alive:
                self._ask(self._dialogue.heard(address, observation, at))
        return states + told

    def tick(self, at: float) -> list[Told]:
        """The deadline has come."""
        if not self._alive:
            return []
        if self._dialogue and self._dialogue.deadline is not None and self._dialogue.deadline <= at:
            self._ask(self._dialogue.tick(at))
        told: list[Told] = []
        for seat in self._seats.values():
            lost_at = self._lost_at(seat)
            if lost_at is not None and lost_at <= at:
                seat.lost = True
                told += self._down(seat, NO_ANSWER)
            if seat.decide_at is not None and seat.decide_at <= at:
                told += self._decide(seat)
        self.failed = all(seat.lost for seat in self._seats.values())
        return told

    def outgoing(self) -> list[tuple[bytes, str | None]]:
        """What is to be sent now, once: bytes and channel, in order; one write each."""
        sent, self._outgoing = self._outgoing, []
        return sent

    def state(self, table_id: str, at: float) -> dict[str, Any] | None:
        """What a table's capture needs to go on in the middle of a message, as plain JSON values.

        None while the table's device is not up: a capture has what such a device said from the beginning.
        """
        seat = next(seat for seat in self._seats.values() if seat.table_id == table_id)
        return {"decoder": self._decoder.state(at), "senses_told": seat.senses_told} if seat.up else None

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """Undo `state`, for the one table of a replay. Raises as `Decoder.restore` does."""
        self._decoder.restore(state["decoder"], at)
        for seat in self._seats.values():
            seat.up, seat.senses_told = True, bool(state["senses_told"])

    # --- inside -------------------------------------------------------------------------------------------------

    @property
    def _alive(self) -> bool:
        return self._opened_at is not None and not (self._replaying or self.failed or self.wrong_device)

    def _seats_of(self, address: Address, observation: Observation) -> list[_Seat]:
        """What was refused on a bus has no address; it may have been any table's."""
        if address is None and None not in self._seats:
            return list(self._seats.values()) if isinstance(observation, FrameRejected) else []
        return [self._seats[address]] if address in self._seats else []

    def _ask(self, questions: list[bytes]) -> None:
        for question in questions:
            self._outgoing.append((question, None))
        for seat in self._seats.values():
            seat.unanswered += len(questions)

    def _take(self, seat: _Seat, observation: Observation, at: float, states: list[Told], told: list[Told]) -> None:
        if isinstance(observation, FrameRejected):
            seat.counters.rejected[observation.reason] += 1
        else:
            self._note_life(seat, at)
            if isinstance(observation, Identity) and observation.kind in ("serial", "long_serial"):
                seat.note_serial(observation)
        if not seat.admitted:
            states += self._withhold(seat, observation, at)
            return
        if not seat.up and not isinstance(observation, FrameRejected):
            states += self._up(seat)
            told += self._catch_up(seat)
        told.append((seat.table_id, observation))

    def _note_life(self, seat: _Seat, at: float) -> None:
        seat.counters.frames += 1
        seat.counters.last_frame = seat.heard_at = at
        seat.unanswered, seat.lost = 0, False

    def _withhold(self, seat: _Seat, observation: Observation, at: float) -> list[Told]:
        """It may be another table's board."""
        if isinstance(observation, Identity) and observation not in seat.held:
            seat.held.append(observation)
        if len(seat.serials) == 2:
            return self._decide(seat)
        if seat.decide_at is None and not isinstance(observation, FrameRejected):
            seat.decide_at = at + DECIDE_S
        return []

    def _decide(self, seat: _Seat) -> list[Told]:
        """It is not the configured board, or does not say which it is."""
        seat.decide_at = None
        if not seat.serials:
            return self._down(seat, f"does not say its serial number; {seat.expected} is expected")
        self.wrong_device = not self._replaying
        found = " or ".join(sorted(set(seat.serials.values())))
        return self._down(seat, f"another board is on this port: {found}; {seat.expected} is expected")

    def _up(self, seat: _Seat) -> list[Told]:
        seat.counters.reconnects += seat.was_up
        seat.up = seat.was_up = True
        seat.decide_at = None
        return self._say(seat, True, None)

    def _catch_up(self, seat: _Seat) -> list[Told]:
        """What a table has to know first: what the board senses, and who it is."""
        told: list[Observation] = []
        if self.entry.senses == "occupancy" and not seat.senses_told:
            told.append(Senses(pieces=False))
            seat.senses_told = True
        told += seat.held
        seat.held.clear()
        return [(seat.table_id, observation) for observation in told]

    def _down(self, seat: _Seat, detail: str) -> list[Told]:
        told = self._say(seat, False, detail)
        seat.forget()
        return told

    def _say(self, seat: _Seat, up: bool, detail: str | None) -> list[Told]:
        state = LinkState(self.entry.device, up, detail)
        if self._replaying or state == seat.said:
            return []
        seat.said = state
        return [(seat.table_id, state)]

    def _lost_at(self, seat: _Seat) -> float | None:
        """When the seat's silence will mean that its device is gone."""
        if seat.lost or self._opened_at is None:
            return None
        since = max(seat.heard_at, self._opened_at)
        if self.entry.silence_s is not None:
            return since + self.entry.silence_s
        return since + LOST_S if seat.unanswered >= UNANSWERED else None


def _plain(serial: str) -> str:
    """Leading zeros do not count."""
    return serial.strip().lstrip("0")
