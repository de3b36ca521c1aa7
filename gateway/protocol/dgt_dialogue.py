"""DGT boards: what to ask, and when.

One question at a time, in either mode: a board buffers little, and the next question goes out when the last is
answered or has been waited for long enough. Nothing that takes a board off line or writes into it is ever sent, and
no single-board command on a bus: it would take every board out of bus mode.

A single board is asked who it is (version, serial numbers), what stands on it, and to report changes by itself. From
then on it talks unasked, so two things remain. A lost update cannot be seen in the bytes, so a full dump is asked for
now and then, after any refused frame, and after each press, for that is when a turn is judged; with it goes the request
for updates, because a board that lost power comes back silent. And an idle board says nothing: after some silence it is
asked for anything at all, so that the link can tell idle from dead.

A bus speaks only when spoken to: each board in turn is asked what changed, for its clock, and now and then, and after a
press, for a dump.

The log that a board keeps (option ``eeprom_recovery``) tells which moves were made while nobody listened, but reading
it takes 8 s in which the board reports nothing, on a bus no board does. After a break the game usually goes on at that
very moment, and the dump that follows is enough to find one or two missed moves; so it is off unless the operator
wants it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gateway.events import (
    Battery,
    BoardDump,
    BoardLog,
    ClockAbsent,
    ClockSide,
    ClockTimes,
    FrameRejected,
    GameKind,
    Identity,
    Observation,
)
from gateway.protocol import Address, Decoder, Dialogue, Reject
from gateway.protocol.dgt import CHESS, GEOMETRY, Dgt
from gateway.protocol.dgt_bus import DgtBus
from gateway.protocol.dgt_commands import BusCommand, Command, build_bus_command, build_command
from gateway.protocol.options import Option, settle

OPTIONS = (
    Option(
        "dump_s", 10.0, "seconds between full dumps that check for lost updates; a press asks for one too", lowest=2.0
    ),
    Option("silence_s", 2.0, "seconds of silence after which a board is asked whether it is there", lowest=0.5),
    Option("battery", True, "ask a single board for its charge; boards without a battery do not answer"),
    Option("poll_s", 0.5, "bus: seconds from asking a board what changed until asking again", lowest=0.1),
    Option("eeprom_recovery", False, "after a break read the board's own log; takes 8 s in which nothing is reported"),
)

Answers = Callable[[Observation], bool]


class Question(NamedTuple):
    """What counts as the answer, and how many seconds to wait for it."""

    answered_by: Answers
    patience: float


def _kind(*kinds: type) -> Answers:
    return lambda observation: isinstance(observation, kinds)


def _identity(kind: str) -> Answers:
    return lambda observation: isinstance(observation, Identity) and observation.kind == kind


def _log(complete: bool) -> Answers:
    return lambda observation: isinstance(observation, BoardLog) and observation.complete is complete


def _never(_: Observation) -> bool:
    return False


_DUMP = Question(_kind(BoardDump), 1.0)
_CLOCK = _kind(ClockTimes, ClockAbsent)

QUESTIONS: Mapping[Command, Question] = {
    Command.SEND_VERSION: Question(_identity("version"), 2.0),
    Command.RETURN_SERIALNR: Question(_identity("serial"), 1.0),
    Command.RETURN_LONG_SERIALNR: Question(_identity("long_serial"), 1.0),
    Command.SEND_BRD: _DUMP,
    Command.SEND_BRD_50B: _DUMP,
    Command.SEND_CLK: Question(_CLOCK, 1.0),
    Command.SEND_BATTERY_STATUS: Question(_kind(Battery), 1.0),
    Command.SEND_UPDATE_NICE: Question(_never, 0.1),
    Command.SEND_EE_MOVES: Question(_log(complete=True), 15.0),
}
"""All that a single board is ever asked."""

SETTLE_S = 0.5
"""After opening; picochess waits as long."""
DUMP_GAP_S = 1.0
"""At least this long between two dumps, so that a noisy line is not flooded."""
BATTERY_S = 60.0


class DgtDialogue:
    """With one board on its own port."""

    def __init__(self, game: GameKind = "chess", options: Mapping[str, Any] | None = None) -> None:
        settings = settle(OPTIONS, options or {})
        self.deadline: float | None = None
        self._dump_s: float = settings["dump_s"]
        self._silence_s: float = settings["silence_s"]
        self._recover: bool = settings["eeprom_recovery"]
        self._battery: bool = settings["battery"]
        # A draughts board set to scan 50 squares may not answer the first of these.
        self._dumps = deque([Command.SEND_BRD, *([Command.SEND_BRD_50B] if game == "draughts" else [])])
        self._queue: deque[Command] = deque()
        self._asked: Command | None = None
        self._known = False
        self._opened_before = False
        self._lever: ClockSide | None = None
        self._heard_at = self._dumped_at = float("-inf")
        self._dump_due = self._battery_due = float("inf")

    def opened(self, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`. Waits before the first word."""
        recovering, self._opened_before = self._opened_before and self._recover, True
        self._queue = deque(self._introduction(recovering))
        self._asked, self._known = None, False
        self._heard_at = at
        self._dump_due = self._battery_due = float("inf")
        self.deadline = at + SETTLE_S
        return []

    def heard(self, address: Address, observation: Observation, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`. The next question goes out as soon as the last is answered."""
        if self.deadline is None:
            return []
        if isinstance(observation, FrameRejected):
            self._dump_soon(at)
        else:
            self._heard_at = at
            if isinstance(observation, ClockTimes):
                if _pressed(self._lever, observation):
                    self._dump_soon(at)
                self._lever = observation.lever
            if self._asked and QUESTIONS[self._asked].answered_by(observation):
                return self._answered(at)
        if self._known and not self._asked:
            self.deadline = max(at, self._next_due())
        return []

    def tick(self, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        if self.deadline is None or at < self.deadline:
            return []
        if self._asked in self._dumps:
            self._dumps.rotate(-1)
            if self._dumps[0] is not Command.SEND_BRD:
                self._queue.appendleft(self._dumps[0])
        self._asked = None
        return self._go_on(at)

    def _dump_soon(self, at: float) -> None:
        self._dump_due = min(self._dump_due, max(at, self._dumped_at + DUMP_GAP_S))

    def _introduction(self, recovering: bool) -> Iterable[Command]:
        yield Command.RETURN_SERIALNR
        yield Command.RETURN_LONG_SERIALNR
        if recovering:
            yield Command.SEND_EE_MOVES
        yield self._dumps[0]
        yield Command.SEND_UPDATE_NICE
        yield Command.SEND_CLK
        if self._battery:
            yield Command.SEND_BATTERY_STATUS

    def _answered(self, at: float) -> list[bytes]:
        if self._asked is Command.SEND_VERSION:
            self._known = True
        if self._asked is Command.SEND_BATTERY_STATUS:
            self._battery_due = at + BATTERY_S
        self._asked = None
        return self._go_on(at)

    def _go_on(self, at: float) -> list[bytes]:
        """Ask what is to be asked now, or set the deadline for it."""
        if not self._known:
            return self._ask(Command.SEND_VERSION, at)
        if self._queue:
            return self._ask(self._queue.popleft(), at)
        if self._dump_due <= at:
            self._queue.append(self._dumps[0])
            return self._ask(Command.SEND_UPDATE_NICE, at)
        if self._battery_due <= at:
            self._battery_due = float("inf")
            return self._ask(Command.SEND_BATTERY_STATUS, at)
        if self._heard_at + self._silence_s <= at:
            self._queue.append(Command.RETURN_SERIALNR)
            return self._ask(Command.SEND_CLK, at)
        self.deadline = self._next_due()
        return []

    def _next_due(self) -> float:
        return min(self._dump_due, self._battery_due, self._heard_at + self._silence_s)

    def _ask(self, command: Command, at: float) -> list[bytes]:
        if QUESTIONS[command] is _DUMP:
            self._dumped_at = at
            self._dump_due = at + self._dump_s
        self._asked = command
        self.deadline = at + QUESTIONS[command].patience
        return [build_command(command)]


def _pressed(before: ClockSide | None, now: ClockTimes) -> bool:
    """Whether the lever has been turned since it was seen `before`."""
    return None not in (before, now.lever) and now.lever != before


# --- bus --------------------------------------------------------------------------------------------------------

BUS_QUESTIONS: Mapping[BusCommand, Question] = {
    BusCommand.PING: Question(_identity("bus_address"), 0.2),
    BusCommand.SEND_VERSION: Question(_identity("version"), 0.2),
    BusCommand.SEND_CHANGES: Question(_log(complete=False), 0.3),
    BusCommand.REPEAT_CHANGES: Question(_log(complete=False), 0.3),
    BusCommand.SEND_BRD: Question(_kind(BoardDump), 0.3),
    BusCommand.SEND_BRD_50B: Question(_kind(BoardDump), 0.3),
    BusCommand.SEND_CLK: Question(_CLOCK, 0.2),
    BusCommand.SEND_FROM_START: Question(_log(complete=True), 15.0),
}
"""All that a bus is asked. An answer begins within 80 ms, the vendor says; a dump takes 75 ms more at 9600 baud."""

QUIET_S = 0.05
"""After a refused frame the line must fall silent before the same question is put again."""
TRIES = 4
ABSENT_S = 2.0
"""Between two pings of a board that is not there."""


@dataclass
class _Member:
    """One board of the bus, as the host sees it."""

    address: int
    present: bool = False
    due: float = 0.0
    dump_due: float = 0.0
    log_wanted: bool = False
    lever: ClockSide | None = None
    dumps: deque[BusCommand] = field(default_factory=lambda: deque([BusCommand.SEND_BRD]))


class DgtBusDialogue:
    """With all boards of a bus, in turn."""

    def __init__(self, games: Mapping[int, GameKind], options: Mapping[str, Any] | None = None) -> None:
        settings = settle(OPTIONS, options or {})
        self.deadline: float | None = None
        self._dump_s: float = settings["dump_s"]
        self._poll_s: float = settings["poll_s"]
        self._recover: bool = settings["eeprom_recovery"]
        self._members = deque(_Member(address) for address in games)
        for member in self._members:
            if games[member.address] == "draughts":
                member.dumps.append(BusCommand.SEND_BRD_50B)
        self._queue: deque[BusCommand] = deque()
        self._asked: BusCommand | None = None
        self._tries = 0

    def opened(self, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        for member in self._members:
            member.present, member.due = False, at
        self._queue.clear()
        self._asked = None
        self.deadline = at + SETTLE_S
        return []

    def heard(self, address: Address, observation: Observation, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        if self.deadline is None or self._asked is None:
            return []
        member = self._members[0]
        if isinstance(observation, FrameRejected):
            return self._refused(member, address, observation, at)
        if isinstance(observation, ClockTimes) and address == member.address:
            if _pressed(member.lever, observation):
                member.dump_due = at
            member.lever = observation.lever
        if address == member.address and BUS_QUESTIONS[self._asked].answered_by(observation):
            self._note(member, at)
            return self._go_on(at)
        return []

    def tick(self, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        if self.deadline is None or at < self.deadline:
            return []
        return self._go_on(at) if self._asked is None else self._ask_again(at)

    def _refused(self, member: _Member, address: Address, rejected: FrameRejected, at: float) -> list[bytes]:
        if address == member.address and rejected.reason == Reject.VALUE:
            self._asked = None  # it came through whole; asking again would bring the same
            return self._go_on(at)
        self.deadline = at + QUIET_S
        return []

    def _note(self, member: _Member, at: float) -> None:
        """The question is answered: what follows from it."""
        if self._asked is BusCommand.PING:
            member.present = True
            self._queue.append(BusCommand.SEND_VERSION)
            self._queue.extend(self._round(member, at, dump=True))
        elif self._asked is BusCommand.SEND_FROM_START:
            member.log_wanted = False
        elif self._asked in member.dumps:
            member.dump_due = at + self._dump_s
        self._asked = None

    def _round(self, member: _Member, at: float, dump: bool = False) -> Iterable[BusCommand]:
        yield BusCommand.SEND_CHANGES
        if member.log_wanted:
            yield BusCommand.SEND_FROM_START
        if dump or member.dump_due <= at:
            yield member.dumps[0]
        yield BusCommand.SEND_CLK

    def _go_on(self, at: float) -> list[bytes]:
        """Ask this board the next thing, or turn to the next board, or wait until one is due."""
        if self._queue:
            return self._ask(self._queue.popleft(), at)
        member = min(self._members, key=lambda member: member.due)
        if member.due > at:
            self.deadline = member.due
            return []
        self._members.remove(member)
        self._members.appendleft(member)
        member.due = at + (self._poll_s if member.present else ABSENT_S)
        self._queue.extend(self._round(member, at) if member.present else (BusCommand.PING,))
        return self._ask(self._queue.popleft(), at)

    def _ask(self, command: BusCommand, at: float) -> list[bytes]:
        self._tries = 0
        return self._put(command, at)

    def _ask_again(self, at: float) -> list[bytes]:
        """No answer, or a broken one. What changed is told only once, so its repetition is asked for instead."""
        member, asked = self._members[0], self._asked
        assert asked is not None
        self._tries += 1
        if asked is BusCommand.PING or self._tries >= TRIES:
            return self._give_up(member, asked, at)
        if asked in member.dumps:
            member.dumps.rotate(-1)
            asked = member.dumps[0]
        if asked is BusCommand.SEND_CHANGES:
            asked = BusCommand.REPEAT_CHANGES
            member.dump_due = at  # if it was the question that got lost, the repetition is an older packet
        return self._put(asked, at)

    def _give_up(self, member: _Member, asked: BusCommand, at: float) -> list[bytes]:
        """A board may have no clock or no such command; one that does not tell its changes is not there."""
        self._asked = None
        if asked is BusCommand.REPEAT_CHANGES:
            member.present = False
            member.dump_due = member.due = at
            member.log_wanted = self._recover
            self._queue.clear()
        return self._go_on(at)

    def _put(self, command: BusCommand, at: float) -> list[bytes]:
        self._asked = command
        self.deadline = at + BUS_QUESTIONS[command].patience
        return [build_bus_command(command, self._members[0].address)]


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For a port of one board, or of a bus where addresses are given."""
    if None in games:
        return Dgt(GEOMETRY[games[None]])
    return DgtBus({address: GEOMETRY.get(game, CHESS) for address, game in games.items() if address is not None})


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """For a port of one board, or of a bus where addresses are given."""
    if None in games:
        return DgtDialogue(games[None], options)
    return DgtBusDialogue({address: game for address, game in games.items() if address is not None}, options)
