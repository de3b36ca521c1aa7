"""One table, live: what its devices and arbiters say goes through its station to journal, broker and capture.

Events are offered to the broker when they are in the journal, and what followed them (retained state, the reply to a
command) not before them. A table whose code fails is begun again from its last journalled state, alone.

What comes in keeps its time and waits for the table's turn: a table that is hard to read, or of which many
plies came at once, holds up nobody else (`turns.py`).

`at` here is the table's own: the monotonic clock, moved forward where a reboot has set that back, so that it never
goes back over a table's whole life.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import structlog

from gateway import capture
from gateway.arbiter import command_from
from gateway.config import TableConfig
from gateway.errors import UsageError
from gateway.events import Device, LinkState, Observation, Reply
from gateway.journal import Journal, JournalError
from gateway.mqtt import Connection, Incoming
from gateway.publish import Message, event_message, reply_message
from gateway.station import Outcome, Resend, Station
from gateway.store import Entry
from gateway.turns import Turns

HELD_BYTES = 64 * 1024
"""What is kept for the capture of a device that has not been admitted yet."""
JUMP_S = 0.5
"""How far stamps may be from the wall clock."""
CAPTURE_AGAIN_S = 60.0
BEHIND = 5000
"""Steps that wait at most, of a thousand plies or so; a table that is further behind holds up all others."""
LONGEST_PAUSE_S = 60.0
BROKEN = "an internal error; the table begins again from its last state"

log = structlog.get_logger("table")


Answer = tuple[Message, bytes | None]
"""The reply to a command, and the correlation data that the sender gave."""


_Step = tuple[Callable[[], list[Outcome]], bytes | None]
"""What the station is to do, and the correlation data of the command, if it is one."""


@dataclass(slots=True)
class _Batch:
    """What followed from one or more steps, in order."""

    entries: list[Entry] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    """Of several states of one topic only the last matters."""
    replies: list[Answer] = field(default_factory=list)


class Clock:
    """The gateway's time for its tables: `at`, and the wall clock at `at` = 0."""

    def __init__(self, saved_at: float) -> None:
        """`saved_at` is the latest `at` that any table has seen."""
        self._loop = asyncio.get_running_loop()
        self.offset = max(0.0, saved_at - self._loop.time())
        """What is added to the event loop's time."""
        self.epoch = time.time() - self.now()

    def now(self) -> float:
        """The moment, as tables count."""
        return self._loop.time() + self.offset

    def jump(self) -> float:
        """Follow the wall clock if it has gone elsewhere by more than `JUMP_S`; return by how much, else 0."""
        moved = time.time() - self.now() - self.epoch
        if abs(moved) < JUMP_S:
            return 0.0
        self.epoch += moved
        return moved


class LiveTable:
    """A table of the configuration, being played at."""

    def __init__(
        self,
        config: TableConfig,
        gateway: str,
        clock: Clock,
        turns: Turns,
        journal: Journal,
        connection: Connection,
        captures: Path,
        broken: Callable[[str], None],
        links: Callable[[str], Mapping[Device, Any]],
    ) -> None:
        """A table as it was left, or a new one.

        Args:
            config: the table as configured.
            gateway: id of the gateway.
            clock: the gateway's time.
            turns: when it may work.
            journal: keeps its events and its state.
            connection: takes what is to be published.
            captures: the folder for them.
            broken: told the table's id when its code has failed.
            links: gives for a table's id what the links of its devices keep, see `Link.state`.
        """
        self.config = config
        self.failures = 0
        """How often its code has failed since it last worked."""
        self._gateway = gateway
        self._clock = clock
        self._turns = turns
        self._journal = journal
        self._connection = connection
        self._captures = captures
        self._broken = broken
        self._links = links
        self._loop = asyncio.get_running_loop()
        self._saved: dict[str, Any] | None = journal.state(config.id)
        self._station = self._restored()
        self._waiting: deque[_Step] = deque()
        """What came in, in order."""
        self._asked = False
        """For a turn."""
        self._latest = float("-inf")
        self._open = _Batch()
        """What is not in the journal yet."""
        self._writing: asyncio.Future[None] | None = None
        """The journal's answer for the batch before."""
        self._flush_soon = False
        self._timer: asyncio.TimerHandle | None = None
        self._quiet_until = 0.0
        self._up: set[Device] = set()
        self._held: deque[capture.Entry] = deque()
        self._held_bytes = 0
        self._writer: capture.Writer | None = None
        self._capture_at = 0.0
        self._resends: set[asyncio.Task[None]] = set()
        self._stopped = False

    @property
    def pause_s(self) -> float:
        """How long to leave it alone after a failure: what failed once may fail at the same point again."""
        return float(min(2.0**self.failures, LONGEST_PAUSE_S))

    @property
    def capture_file(self) -> Path | None:
        """The capture that is written now."""
        return None if self._writer is None else self._writer.path

    def start(self) -> None:
        """Go on from the last state: while we were away the devices were, to us, not there."""
        now = self._now()
        self._begin_capture(now, anew=self._saved is None)
        if self._saved is None:
            return
        devices: list[Device] = ["board"] if self.config.clock.driver in ("board", "none") else ["board", "clock"]
        for device in devices:
            self.observe(LinkState(device, False, "the gateway was not running"), now)

    async def stop(self) -> None:
        """Wait until everything is in the journal and offered."""
        self._stopped = True
        while self._waiting:
            self._do_next()
            await asyncio.sleep(0)
        if self._timer is not None:
            self._timer.cancel()
        self._flush(always=True)
        while self._writing is not None:
            # When it is done, `_written` has begun the next one if more was open.
            await asyncio.wait([self._writing])
        for task in self._resends:
            task.cancel()
        self._end_capture()

    # --- what comes in ---------------------------------------------------------------------------------------------

    def observe(self, observation: Observation, at: float) -> None:
        """A device said something."""
        at = self._moment(at)
        if isinstance(observation, LinkState):
            self._note_state(observation, at)
        self._step(lambda: self._station.observe(observation, at))

    def note(self, direction: Literal["rx", "tx"], device: Device, data: bytes, channel: str | None, at: float) -> None:
        """Bytes came or went; for the capture only."""
        at = self._moment(at)
        line = capture.Rx if direction == "rx" else capture.Tx
        entry = line(at, device, data, channel)
        if device in self._up:
            self._write(entry)
            return
        self._held.append(entry)
        self._held_bytes += len(data)
        while self._held_bytes > HELD_BYTES:
            dropped = self._held.popleft()
            assert isinstance(dropped, capture.Rx | capture.Tx)
            self._held_bytes -= len(dropped.data)

    def command(self, incoming: Incoming) -> None:
        """An arbiter asked for something."""
        at = self._now()
        try:
            decoded = msgspec.json.decode(incoming.payload)
            command = command_from(decoded)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UsageError) as error:
            refused = Reply(None, False, str(error))
            topic = incoming.response_topic
            message = reply_message(self._connection.config.root, self.config.id, refused, topic)
            self._connection.reply(message, incoming.correlation)
            return
        self._write(capture.CommandLine(at, decoded))
        self._step(lambda: self._station.command(command, at, incoming.response_topic), incoming.correlation)

    def wall_clock_moved(self) -> None:
        """Stamp later events by the wall clock as it is now."""
        self._catch_up()
        self._station.table.epoch = self._clock.epoch
        # A capture's times are those since its own start, which the wall clock that was wrong has named.
        self._end_capture()
        self._begin_capture(self._now())

    def tend_capture(self) -> None:
        """Hand the capture to the operating system, or begin the next one."""
        now = self._clock.now()
        if self._waiting and self._writer is not None:
            # A capture begins with a state in which everything is that the one before has.
            self._captured(lambda writer: writer.flush(now))
        elif self._writer is None:
            if not self._waiting and now - self._capture_at > CAPTURE_AGAIN_S:
                self._begin_capture(self._now())
        elif self._writer.due(now):
            self._captured(lambda writer: writer.rotate(self._now(), self._state()))
        else:
            self._captured(lambda writer: writer.flush(now))

    def _now(self) -> float:
        return self._moment(self._clock.now())

    def _moment(self, at: float) -> float:
        """What was read late can have come before what has been taken since: for the table it came with that."""
        self._latest = max(self._latest, at)
        return self._latest

    # --- what goes out ---------------------------------------------------------------------------------------------

    def _step(self, step: Callable[[], list[Outcome]], correlation: bytes | None = None) -> None:
        """Let the station do something, behind all that waits."""
        self._waiting.append((step, correlation))
        while len(self._waiting) > BEHIND:
            self._do_next()
        if not self._asked:
            self._asked = True
            self._turns.ask(self._work)

    def _work(self) -> bool:
        """Take one step; True: there are more."""
        if self._waiting:
            self._do_next()
        self._asked = bool(self._waiting)
        if not self._asked:
            self._arm()
        return self._asked

    def _do_next(self) -> None:
        """Take one step and what follows from it. A bug in it stops this table only."""
        step, correlation = self._waiting.popleft()
        try:
            self._take(step(), correlation)
        except Exception as bug:
            self._begin_again(bug)

    def _catch_up(self) -> None:
        """Let nothing wait."""
        while self._waiting:
            self._do_next()

    def _take(self, outcomes: list[Outcome], correlation: bytes | None) -> None:
        root = self._connection.config.root
        batch = self._open
        for outcome in outcomes:
            for numbered in outcome.events:
                message = event_message(root, numbered)
                batch.entries.append(
                    Entry(numbered.table, numbered.stream, numbered.seq, message.topic, message.payload)
                )
            batch.messages |= {message.topic: message for message in outcome.messages}
            if outcome.reply is not None:
                batch.replies.append((outcome.reply, correlation))
            if outcome.resend is not None:
                self._resend(outcome.resend)
        if not self._flush_soon and (batch.entries or batch.messages or batch.replies):
            # One chunk of bytes can be many steps: they share a commit, and the state is taken once.
            self._flush_soon = True
            self._loop.call_soon(self._flush)

    def _flush(self, *, always: bool = False) -> None:
        """Journal what is open, when the batch before is on disk; what has no events goes out at once."""
        self._flush_soon = False
        if self._writing is not None:
            return
        batch = self._open
        if not batch.entries and not always:
            self._open = _Batch()
            self._publish(batch)
            return
        try:
            saved = {"at": self._clock.now(), "station": self._station.state()}
        except Exception as bug:
            self._begin_again(bug)
            return
        self.failures = 0
        self._open = _Batch()
        self._saved = saved
        self._writing = self._journal.append(self.config.id, batch.entries, saved)
        self._writing.add_done_callback(lambda _: self._written(batch))

    def _written(self, batch: _Batch) -> None:
        self._writing = None
        self._publish(batch)
        self._flush()

    def _publish(self, batch: _Batch) -> None:
        self._connection.offer(batch.entries)
        self._connection.retain(batch.messages.values())
        for message, correlation in batch.replies:
            self._connection.reply(message, correlation)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self._station.deadline
        if deadline is not None and not self._stopped:
            due = max(deadline - self._clock.offset, self._quiet_until)
            self._timer = self._loop.call_at(due, self._ring)

    def _ring(self) -> None:
        self._timer = None
        due = self._station.deadline
        if due is not None:
            # Not until now: what came after that may still have to be read.
            at = self._moment(due)
            self._step(lambda: self._station.advance(at))

    def _resend(self, resend: Resend) -> None:
        task = asyncio.create_task(self._offer_again(resend))
        self._resends.add(task)
        task.add_done_callback(self._resends.discard)

    async def _offer_again(self, resend: Resend) -> None:
        stream: Literal["public", "arbiter"] = "arbiter" if resend.stream == "arbiter" else "public"
        try:
            await self._connection.resend((self.config.id, stream), resend.from_seq, resend.to_seq)
        except JournalError as error:
            log.error("events cannot be offered again", table=self.config.id, why=str(error))

    # --- when its code fails ---------------------------------------------------------------------------------------

    def _restored(self) -> Station:
        station = self._fresh() if self._saved is None else self._as_saved(self._saved)
        table, told = station.table.state(), self._journal.last_told(self.config.id)
        if any(told[stream] > seq for stream, seq in table["numbering"].items()):
            # Told from memory while the disk was full, or the state is lost: no number is used for two events.
            log.error("events that were told are not in the journal", table=self.config.id, last_told=told)
            numbering = {stream: max(seq, told[stream]) for stream, seq in table["numbering"].items()}
            # Nor does a stamp go back: timers that are overdue were due before those events.
            stamp = self._clock.epoch + self._clock.now()
            station.table.carry_on({**table, "numbering": numbering, "stamp": stamp})
        return station

    def _as_saved(self, saved: dict[str, Any]) -> Station:
        station = self._fresh()
        try:
            station.restore(saved["station"])
        except Exception as problem:
            # Another version wrote it, or a bug. A table, or all, that do not come up would be worse than a game begun
            # anew.
            log.error("the saved game is of no use to this version", table=self.config.id, exc_info=problem)
            station = self._fresh()
            station.table.carry_on(saved["station"]["table"])
            self._saved = {**saved, "station": station.state()}
        return station

    def _fresh(self) -> Station:
        return Station(self.config, self._gateway, self._connection.config.root, self._clock.epoch)

    def _begin_again(self, bug: Exception) -> None:
        """What was concluded since the last journalled state was offered to nobody, and is concluded again."""
        self.failures += 1
        log.error("a table's code failed; it begins again", table=self.config.id, failures=self.failures, exc_info=bug)
        self._station = self._restored()
        self._waiting.clear()
        self._open = _Batch()
        self._quiet_until = self._loop.time() + self.pause_s
        self._broken(self.config.id)
        # The capture that led to it ends here, and shows it when played; what follows follows from an earlier state.
        self._end_capture()
        self._begin_capture(self._now())

    # --- the capture -----------------------------------------------------------------------------------------------

    def _note_state(self, state: LinkState, at: float) -> None:
        self._write(capture.Link(at, state.device, state.up, state.detail))
        if not state.up:
            self._up.discard(state.device)
            self._held.clear()
            self._held_bytes = 0
            return
        self._up.add(state.device)
        # What it said before it was known to be the right device belongs to the table now, and from now on: a capture
        # does not go back in time.
        held, self._held = [each for each in self._held if _device(each) == state.device], deque()
        self._held_bytes = 0
        for entry in held:
            self._write(replace(entry, t=at))

    def _begin_capture(self, at: float, *, anew: bool = False) -> None:
        """Write from here on; what came before is in the state, but for a table that begins anew."""
        self._capture_at = at
        try:
            self._writer = capture.Writer(self._captures, self._gateway, self.config, self._clock.epoch, at)
            if not anew:
                self._writer.append(capture.State(at, self._state()))
        except OSError as error:
            self._capture_failed(error)

    def _state(self) -> dict[str, Any]:
        """Where the table is, and what its links have half heard."""
        return {**self._station.state(), "links": dict(self._links(self.config.id))}

    def _end_capture(self) -> None:
        self._captured(lambda writer: writer.close(self._now()))
        self._writer = None
        self._capture_at = self._now()

    def _write(self, entry: capture.Entry) -> None:
        self._captured(lambda writer: writer.append(entry))

    def _captured(self, work: Callable[[capture.Writer], None]) -> None:
        """Do something with the capture. A card that is full ends it, not the game."""
        if self._writer is None:
            return
        try:
            work(self._writer)
        except OSError as error:
            self._capture_failed(error)

    def _capture_failed(self, error: OSError) -> None:
        self._writer = None
        self._capture_at = self._now()
        log.warning("no capture is written for now", table=self.config.id, why=str(error), again_s=CAPTURE_AGAIN_S)


def _device(entry: capture.Entry) -> Device | None:
    return entry.link if isinstance(entry, capture.Rx | capture.Tx) else None
