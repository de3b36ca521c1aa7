"""Events on disk until the broker has acknowledged them, and `keep_hours` after.

One thread owns the file. When it is idle an event is committed at once; what arrives meanwhile is the next group, so a
slow disk makes groups larger instead of queues longer, and a fast one adds a single sync to an event's way.

A disk that is full or cannot be written does not stop the games: from the first failed commit on, events are kept in
memory (`MEMORY_EVENTS` at most, the oldest are given up first), are offered to the broker all the same, and are
written when the disk takes them again. Until then a crash would lose them, which is why it is reported; their numbers
are kept (`numbers.py`) and not used again, on a disk that takes no byte at all in a directory that lasts until the
next boot. A damaged file is moved aside, what can still be read is carried over, and a fresh one is begun.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sqlite3
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from gateway.errors import GatewayError
from gateway.events import Stream
from gateway.numbers import Numbers
from gateway.store import Entry, Lane, Store, is_damage, is_full, move_aside, salvage

GROUP_EVENTS = 50
MEMORY_EVENTS = 20_000
RETRY_S = 2.0
CLOSE_S = 60.0
MARKS_S = 1.0
"""How long acknowledgements wait for a commit to ride on. Losing them only means that events are offered again."""
PRUNE_S = 60.0

LAST = 2**62

log = structlog.get_logger("journal")


class JournalError(GatewayError):
    """The journal's file cannot be read just now."""


@dataclass(slots=True)
class Counters:
    """What the journal did since it was opened."""

    events: int = 0
    commits: int = 0
    commit_seconds: float = 0.0
    failures: int = 0
    given_up: int = 0
    """Events that left memory before the disk took them."""
    in_memory: int = 0
    damaged: int = 0


@dataclass(slots=True)
class _Append:
    table: str
    entries: list[Entry]
    state: bytes
    done: asyncio.Future[None]


@dataclass(slots=True)
class _Read:
    lane: Lane
    first: int
    last: int
    limit: int
    done: asyncio.Future[list[Entry]]


@dataclass(slots=True)
class _Work:
    """What waits for the writer; guarded by the journal's condition."""

    appends: deque[_Append] = field(default_factory=deque)
    untold: list[_Append] = field(default_factory=list)
    """Those that are kept in memory, and whose numbers are not kept yet."""
    marks: dict[Lane, int] = field(default_factory=dict)
    marked_at: float = 0.0
    reads: deque[_Read] = field(default_factory=deque)
    closing: bool = False


class Journal:
    """The gateway's memory. Methods belong to the event loop's thread."""

    def __init__(self, path: Path, keep_hours: float, volatile: Path | None = None) -> None:
        """A journal that is not open yet.

        Args:
            path: its file.
            keep_hours: how long acknowledged events stay.
            volatile: a directory that outlives this process, but no boot; None: there is none.
        """
        self.path = path
        self.keep_hours = keep_hours
        self.counters = Counters()
        self.trouble: str | None = None
        """What is wrong with the disk now, in words; None: nothing."""
        self.damage: str | None = None
        """What was moved aside since the start, in words; None: nothing."""
        self._states: dict[str, bytes] = {}
        self._delivered: dict[Lane, int] = {}
        self._newest: dict[Lane, int] = {}
        self._work = _Work()
        self._changed = threading.Condition()
        self._store: Store | None = None
        self._unwritable = False
        """The open file can at best be read; to write it, it must be opened anew."""
        self._salvaged: list[Entry] = []
        """What waits in a file that cannot even be opened."""
        self._numbers = Numbers(path.with_name("numbers"))
        self._volatile = None if volatile is None else Numbers(volatile / "numbers")
        self._passed_over: dict[Lane, int] = {}
        self._retry_at = 0.0
        self._pruned_at = 0.0
        self._unkept = False
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)

    async def open(self) -> None:
        """Open the file and read every table's state. A damaged file is replaced; a disk in trouble is waited for."""
        await asyncio.to_thread(self._open_first)
        self._thread.start()

    async def close(self, timeout_s: float = CLOSE_S) -> None:
        """Write what waits, as far as the disk takes it in the time, and close; what is not written is said."""
        with self._changed:
            self._work.closing = True
            self._changed.notify()
        await asyncio.to_thread(self._thread.join, timeout_s)
        with self._changed:
            unwritten = sum(len(append.entries) for append in self._work.appends)
        if unwritten or self.alive:
            log.error("not everything is in the journal", events=unwritten, why=self.trouble or "the disk is too slow")

    @property
    def alive(self) -> bool:
        """Whether the writer's thread runs."""
        return self._thread.is_alive()

    def state(self, table: str) -> dict[str, Any] | None:
        """The table's last state, or None for a new one."""
        body = self._states.get(table)
        return None if body is None else json.loads(body)

    def last_told(self, table: str) -> dict[Stream, int]:
        """The last `seq` of a table's streams that may have been told, with or without the state that led to it."""
        told = [self._delivered, self._newest, self._numbers.last, self._passed_over]
        if self._volatile is not None:
            told.append(self._volatile.last)
        streams: tuple[Stream, ...] = ("public", "arbiter")
        return {stream: max(numbers.get((table, stream), 0) for numbers in told) for stream in streams}

    def lanes(self) -> dict[Lane, tuple[int, int]]:
        """For each stream the last acknowledged and the last kept `seq`."""
        known = self._delivered.keys() | self._newest.keys()
        return {lane: (self._delivered.get(lane, 0), self._newest.get(lane, 0)) for lane in known}

    def append(self, table: str, entries: Iterable[Entry], state: Mapping[str, Any]) -> asyncio.Future[None]:
        """Keep events and the state they led to; done when they are on disk (or the disk is known to be in trouble)."""
        done: asyncio.Future[None] = self._loop.create_future()
        # Not msgspec: a time that has never been is -inf in a table, and must not come back as null.
        append = _Append(table, list(entries), json.dumps(state, separators=(",", ":")).encode(), done)
        with self._changed:
            self._work.appends.append(append)
            if self.trouble is not None:
                self._bound_memory()
                self._work.untold.append(append)
            self._changed.notify()
        return done

    def acknowledge(self, lane: Lane, seq: int) -> None:
        """The broker has everything of this stream up to `seq`."""
        with self._changed:
            if not self._work.marks:
                self._work.marked_at = time.monotonic()
                self._changed.notify()
            self._work.marks[lane] = seq

    async def read(self, lane: Lane, first: int, last: int = LAST, *, limit: int = 200) -> list[Entry]:
        """Events of one stream in order, acknowledged or not. Raises `JournalError`."""
        done: asyncio.Future[list[Entry]] = self._loop.create_future()
        with self._changed:
            self._work.reads.append(_Read(lane, min(first, LAST), min(last, LAST), limit, done))
            self._changed.notify()
        return await done

    # --- the writer's thread ---------------------------------------------------------------------------------------

    def _write(self) -> None:
        while True:
            with self._changed:
                if not self._due():
                    self._changed.wait(self._patience())
                closing = self._work.closing
                reads = list(self._work.reads)
                self._work.reads.clear()
            self._tell()
            for read in reads:
                self._serve(read)
            if closing:
                while (self._work.appends or self._work.marks) and self._commit():
                    pass
                if self._store is not None:
                    self._store.close()
                return
            if self._commit_due():
                self._commit()
            elif time.monotonic() - self._pruned_at > PRUNE_S:
                self._prune()

    def _due(self) -> bool:
        return bool(self._work.reads or self._work.untold) or self._work.closing or self._commit_due()

    def _commit_due(self) -> bool:
        now = time.monotonic()
        if self.trouble is not None:
            return now >= self._retry_at
        return bool(self._work.appends) or (bool(self._work.marks) and now - self._work.marked_at >= MARKS_S)

    def _patience(self) -> float:
        """How long nothing can become due by itself."""
        return MARKS_S if self._work.marks or self.trouble is not None else PRUNE_S

    def _commit(self) -> bool:
        """Write one group; False if the disk does not take it."""
        with self._changed:
            group: list[_Append] = []
            events = 0
            for append in self._work.appends:
                if group and events + len(append.entries) > GROUP_EVENTS:
                    break
                group.append(append)
                events += len(append.entries)
            marks = dict(self._work.marks)
        states = {append.table: append.state for append in group}
        if self.trouble is not None:
            # An empty transaction succeeds on a full disk; only a real write shows that it has recovered.
            states = self._states | states
        began = time.monotonic()
        try:
            store = self._reopen() if self._store is None or self._unwritable else self._store
            store.write([entry for append in group for entry in append.entries], states, marks)
        except (sqlite3.Error, OSError) as error:
            return self._failed(error)
        self._salvaged.clear()
        self.counters.commits += 1
        self.counters.commit_seconds += time.monotonic() - began
        self.counters.events += events
        self._states |= states
        self._delivered |= marks
        with self._changed:
            for _ in group:
                self._work.appends.popleft()
            for lane, seq in marks.items():
                if self._work.marks.get(lane) == seq:
                    del self._work.marks[lane]
            self._work.marked_at = time.monotonic()
            more = bool(self._work.appends)
            recovered = self.trouble is not None and not more
            if recovered:
                self.trouble = None
            self.counters.in_memory = 0 if self.trouble is None else sum(len(a.entries) for a in self._work.appends)
        if recovered:
            log.warning("the disk takes events again", given_up=self.counters.given_up)
        self._resolve([append.done for append in group])
        return True

    def _failed(self, error: sqlite3.Error | OSError) -> bool:
        """Replace a damaged file, else go on in memory until the disk has recovered. True: try again at once."""
        self.counters.failures += 1
        if isinstance(error, sqlite3.Error) and is_damage(error):
            if self._store is not None:
                self._store.close()
                self._store = None
            return self._replace(error)
        self._unwritable = not (isinstance(error, sqlite3.Error) and is_full(error))
        self._suspend(error)
        return False

    def _suspend(self, error: Exception) -> None:
        """Go on in memory: whoever waits for the disk waits no longer."""
        self._retry_at = time.monotonic() + RETRY_S
        with self._changed:
            news = self.trouble is None
            self.trouble = f"{self.path}: {error}"
            self._work.untold = list(self._work.appends)
            self.counters.in_memory = sum(len(append.entries) for append in self._work.appends)
        if news:
            log.error("events are kept in memory only", path=str(self.path), why=str(error), bound=MEMORY_EVENTS)
        self._tell()

    def _tell(self) -> None:
        """Let go what is in memory only, when its numbers are kept, so that nobody waits for the disk."""
        with self._changed:
            untold, self._work.untold = self._work.untold, []
        if not untold:
            return
        self._note({entry.lane: entry.seq for append in untold for entry in append.entries})
        self._resolve([append.done for append in untold])

    def _note(self, told: dict[Lane, int]) -> None:
        """Keep these numbers, on the disk or until the next boot; that they are not on the disk is said once."""
        try:
            self._numbers.note(told)
        except OSError as error:
            end = "power cut" if self._note_until_boot(told) else "crash"
            if not self._unkept:
                self._unkept = True
                log.error(f"a {end} now could lead to numbers that are used twice", why=str(error))
        else:
            self._unkept = False

    def _note_until_boot(self, told: dict[Lane, int]) -> bool:
        if self._volatile is None:
            return False
        try:
            self._volatile.open()
            self._volatile.note(told)
        except OSError:
            return False
        return True

    def _bound_memory(self) -> None:
        work = self._work
        self.counters.in_memory += len(work.appends[-1].entries)
        while self.counters.in_memory > MEMORY_EVENTS and len(work.appends) > 1:
            oldest = work.appends.popleft()
            self.counters.in_memory -= len(oldest.entries)
            self.counters.given_up += len(oldest.entries)

    def _serve(self, read: _Read) -> None:
        try:
            entries = self._read(read)
        except (sqlite3.Error, JournalError) as error:
            self._loop.call_soon_threadsafe(_fail, read.done, JournalError(str(error)))
        else:
            self._loop.call_soon_threadsafe(_succeed, read.done, entries)

    def _read(self, read: _Read) -> list[Entry]:
        kept = [] if self._store is None else self._store.read(read.lane, read.first, read.last, read.limit)
        if self.trouble is None:
            return kept
        with self._changed:
            waiting = [entry for append in self._work.appends for entry in append.entries]
        after = kept[-1].seq if kept else read.first - 1
        more = [e for e in (*self._salvaged, *waiting) if e.lane == read.lane and after < e.seq <= read.last]
        entries = (kept + more)[: read.limit]
        if self._store is None and not entries:
            raise JournalError(self.trouble)
        return entries

    def _prune(self) -> None:
        self._pruned_at = time.monotonic()
        if self._store is None or self.trouble is not None:
            return
        try:
            # A full batch means that there is more: come back soon, but let commits go first.
            if self._store.prune(self.keep_hours):
                self._pruned_at -= PRUNE_S - 1.0
        except sqlite3.Error as error:
            self._failed(error)

    def _resolve(self, futures: list[asyncio.Future[None]]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_succeed_all, futures)

    # --- opening and replacing -------------------------------------------------------------------------------------

    def _open_first(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            store = Store(self.path, check=True)
            self._states, self._delivered, self._newest = store.states(), store.delivered(), store.newest()
            self._begin_numbers()
        except (sqlite3.Error, zlib.error) as error:
            if is_damage(error):
                self._replace(error)
            else:
                self._begin_in_memory(error)
        except OSError as error:
            self._begin_in_memory(error)
        else:
            self._store = store

    def _begin_in_memory(self, error: Exception) -> None:
        """The disk cannot be written: begin with what can be read, for no `seq` may be used twice."""
        if self.path.exists():
            try:
                found = salvage(self.path)
            except OSError as unreadable:
                raise JournalError(f"{self.path} can be neither written nor read: {unreadable}") from error
            self._states, self._delivered, self._salvaged = found.states, found.delivered, found.pending
            self._newest = found.delivered | {entry.lane: entry.seq for entry in found.pending}
        self._begin_numbers()
        self._suspend(error)

    def _begin_numbers(self) -> None:
        """Learn what was told from memory. Where nothing can be kept now, perhaps nothing could be before."""
        if self._volatile is not None and self._volatile.path.exists():
            with contextlib.suppress(OSError):
                self._volatile.open()
        try:
            self._numbers.open()
            self._numbers.note({})
        except OSError:
            if self._volatile is None or not self._volatile.last:
                self._pass_over()

    def _pass_over(self) -> None:
        """Leave out the numbers that may have been told, without a trace, since the file was last written.

        A stream has fewer events than seconds: 0.6 a second in blitz.
        """
        files = [self.path, self.path.with_name(self.path.name + "-wal")]
        written = max((file.stat().st_mtime for file in files if file.exists()), default=math.inf)
        seconds = math.ceil(max(0.0, time.time() - written))
        streams: tuple[Stream, ...] = ("public", "arbiter")
        lanes = [(table, stream) for table in self._states for stream in streams]
        self._passed_over = {lane: self._newest.get(lane, 0) + seconds for lane in lanes}

    def _reopen(self) -> Store:
        store = Store(self.path, check=False)
        if self._store is not None:
            self._store.close()
        self._store, self._unwritable = store, False
        with contextlib.suppress(OSError):
            self._numbers.open()
        return store

    def _replace(self, error: sqlite3.Error | zlib.error) -> bool:
        """Move a damaged file aside and begin a fresh one with all that could be read of it."""
        self.counters.damaged += 1
        try:
            aside = move_aside(self.path)
            found = salvage(aside)
            # What this process knows is newer than what it once wrote.
            self._states = found.states | self._states
            self._delivered = found.delivered | self._delivered
            store = self._reopen()
            store.write(found.pending, self._states, self._delivered)
            self._newest = self._delivered | store.newest()
        except (sqlite3.Error, OSError) as failure:
            self._suspend(failure)
            return False
        self.damage = f"the journal was damaged ({error}); it lies in {aside}"
        log.error(
            "the journal was damaged and has been moved aside",
            why=str(error),
            moved_to=str(aside),
            tables=len(found.states),
            pending=len(found.pending),
        )
        return True


def _succeed_all(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)


def _succeed(future: asyncio.Future[list[Entry]], entries: list[Entry]) -> None:
    if not future.done():
        future.set_result(entries)


def _fail(future: asyncio.Future[list[Entry]], error: JournalError) -> None:
    if not future.done():
        future.set_exception(error)
