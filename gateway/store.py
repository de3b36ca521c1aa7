"""The journal's file: SQLite, used by one thread. Synchronous; `journal.py` decides when.

A commit is one transaction over the events and the state of the tables they came from, so that after a power cut a
table and its `seq` agree. `synchronous=FULL` syncs the write-ahead log at each commit; pages of 1 KiB and an explicit
integer key keep what a commit costs an SD card small. So does writing a table's state as changes: now and then all of
it, and with each event only what has changed since.

Age is counted in hours of *running*, carried on from the newest row: no jump of the wall clock can make events old.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.delta import changed_by, difference
from gateway.events import Stream

Lane = tuple[str, Stream]
"""A table's stream: what `seq` counts, and what keeps its order."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS event (
    id INTEGER PRIMARY KEY,
    place TEXT NOT NULL,
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    topic TEXT NOT NULL,
    payload BLOB NOT NULL,
    age REAL NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS event_lane ON event (place, stream, seq);
CREATE TABLE IF NOT EXISTS delivered (place TEXT, stream TEXT, seq INTEGER NOT NULL, PRIMARY KEY (place, stream));
CREATE TABLE IF NOT EXISTS state (place TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS change (id INTEGER PRIMARY KEY, place TEXT NOT NULL, body BLOB NOT NULL);
"""

PRUNE_BATCH = 500
WHOLE_AGAIN = 4
"""A state is written whole again when its changes have come to so many times its size."""
SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class _Written:
    """A table's state as it was last written."""

    state: Any
    body: bytes
    whole: int
    """Bytes of the last whole state."""
    changes: int
    """Bytes of all changes since; 0: this is a whole one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as it is kept and offered: where it belongs, and the very bytes of its publication."""

    table: str
    stream: Stream
    seq: int
    topic: str
    payload: bytes

    @property
    def lane(self) -> Lane:
        """The stream whose order this event keeps."""
        return self.table, self.stream


class Store:
    """One open journal file. Every method may raise `sqlite3.Error`."""

    def __init__(self, path: Path, *, check: bool) -> None:
        """Open or create; with `check` the whole file is read, and damage raises `sqlite3.DatabaseError`."""
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("PRAGMA page_size=1024")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA wal_autocheckpoint=4000")
            self._db.executescript(SCHEMA)
            if check:
                (verdict,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
                if verdict != "ok":
                    raise sqlite3.DatabaseError(verdict)
            newest = self._db.execute("SELECT age FROM event ORDER BY id DESC LIMIT 1").fetchone()
        except sqlite3.Error:
            self._db.close()
            raise
        self._born = time.monotonic() - (newest[0] if newest else 0.0)
        self._states: dict[str, _Written] = {}
        """Tables whose state this process has written, so that the next one can be written as a change."""

    def close(self) -> None:
        """Close the file; the log is folded into it."""
        self._db.close()

    def write(self, entries: Iterable[Entry], states: Mapping[str, bytes], delivered: Mapping[Lane, int]) -> None:
        """Keep all of this or nothing; on disk when it returns."""
        age = time.monotonic() - self._born
        steps = {table: self._step(table, body) for table, body in states.items()}
        with self._transaction():
            self._db.executemany(
                # A commit that failed late may have reached the disk; the second try must not double it.
                "INSERT INTO event (place, stream, seq, topic, payload, age) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                [(e.table, e.stream, e.seq, e.topic, e.payload, age) for e in entries],
            )
            for table, step in steps.items():
                self._write_step(table, step)
            self._db.executemany(
                "INSERT INTO delivered VALUES (?, ?, ?) ON CONFLICT (place, stream) DO UPDATE SET seq = excluded.seq",
                [(*lane, seq) for lane, seq in delivered.items()],
            )
        self._states |= steps

    def _step(self, table: str, body: bytes) -> _Written:
        """How to write this state: as a change, now and then as a whole."""
        state = json.loads(body)
        last = self._states.get(table)
        if last is not None:
            change = zlib.compress(_encoded(difference(last.state, state)), 1)
            if last.changes + len(change) < WHOLE_AGAIN * last.whole:
                return _Written(state, change, last.whole, last.changes + len(change))
        whole = zlib.compress(body, 1)
        return _Written(state, whole, len(whole), 0)

    def _write_step(self, table: str, step: _Written) -> None:
        if step.changes:
            self._db.execute("INSERT INTO change (place, body) VALUES (?, ?)", (table, step.body))
            return
        self._db.execute(
            "INSERT INTO state VALUES (?, ?) ON CONFLICT (place) DO UPDATE SET body = excluded.body", (table, step.body)
        )
        self._db.execute("DELETE FROM change WHERE place = ?", (table,))

    def states(self) -> dict[str, bytes]:
        """Every table's last state, as it was written."""
        return {place: read_state(self._db, place) for place in _places(self._db)}

    def delivered(self) -> dict[Lane, int]:
        """The last acknowledged `seq` of each stream."""
        return {(table, stream): seq for table, stream, seq in self._db.execute("SELECT * FROM delivered")}

    def newest(self) -> dict[Lane, int]:
        """The last `seq` of each stream."""
        rows = self._db.execute("SELECT place, stream, max(seq) FROM event GROUP BY place, stream")
        return {(table, stream): seq for table, stream, seq in rows}

    def read(self, lane: Lane, first: int, last: int, limit: int) -> list[Entry]:
        """Events of one stream from `first` to `last`, in order, at most `limit`."""
        rows = self._db.execute(
            "SELECT place, stream, seq, topic, payload FROM event"
            " WHERE place = ? AND stream = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
            (*lane, first, last, limit),
        )
        return [Entry(*row) for row in rows]

    def prune(self, keep_hours: float) -> int:
        """Drop one batch of acknowledged events that have been kept long enough; return how many."""
        before = time.monotonic() - self._born - keep_hours * 3600
        with self._transaction():
            return self._db.execute(
                "DELETE FROM event WHERE id IN (SELECT event.id FROM event JOIN delivered USING (place, stream)"
                " WHERE event.age < ? AND event.seq <= delivered.seq ORDER BY event.id LIMIT ?)",
                (before, PRUNE_BATCH),
            ).rowcount

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except sqlite3.Error:
            # A full disk has SQLite roll back by itself; a second ROLLBACK would be an error of its own.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise


def read_state(db: sqlite3.Connection, place: str) -> bytes:
    """A table's last state: the whole one with all changes since. Raises `zlib.error` too where it is damaged."""
    ((body,),) = db.execute("SELECT body FROM state WHERE place = ?", (place,))
    state = _decoded(body)
    for (body,) in db.execute("SELECT body FROM change WHERE place = ? ORDER BY id", (place,)):
        state = changed_by(state, _decoded(body))
    return _encoded(state)


def _places(db: sqlite3.Connection) -> list[str]:
    return [place for (place,) in db.execute("SELECT place FROM state")]


def _decoded(body: bytes) -> Any:
    return json.loads(zlib.decompress(body))


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def is_damage(error: sqlite3.Error | zlib.error) -> bool:
    """True where the file itself is broken, as opposed to a disk that is full or cannot be written now."""
    if isinstance(error, zlib.error):
        return True
    # Our own verdict after a check carries no code. ERROR: the tables in it are not ours.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    damage = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
    return (code & 0xFF) in damage or code == sqlite3.SQLITE_IOERR_SHORT_READ


def is_full(error: sqlite3.Error) -> bool:
    """True where there is no room: the open file can still be read, and written once there is some."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def move_aside(path: Path) -> Path:
    """Give a damaged journal and its log a name with the time, and leave them for a person; return the new name."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = path.with_name(f"{path.name}.damaged-{stamp}-{os.getpid()}")
    for suffix in ("", "-wal", "-shm"):
        source = path.with_name(path.name + suffix)
        if source.exists():
            source.rename(aside.with_name(aside.name + suffix))
    return aside


@dataclass(frozen=True, slots=True)
class Salvage:
    """What could be read of a journal that cannot be used as it is."""

    states: dict[str, bytes]
    delivered: dict[Lane, int]
    pending: list[Entry]


def salvage(path: Path) -> Salvage:
    """Read what is readable: damage seldom covers every page, and `seq` must go on where it was.

    Works on a copy in memory, as SQLite wants to write beside a file even to read it. Raises OSError if there is
    no reading the file at all.
    """
    found = Salvage({}, {}, [])
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as scratch:
        copy = Path(scratch, "journal")
        for suffix in ("", "-wal"):
            source = path.with_name(path.name + suffix)
            if source.exists():
                shutil.copyfile(source, copy.with_name(copy.name + suffix))
        with contextlib.closing(sqlite3.connect(copy)) as db:
            with contextlib.suppress(sqlite3.Error):
                for lane_table, stream, seq in db.execute("SELECT * FROM delivered"):
                    found.delivered[lane_table, stream] = seq
            places: list[str] = []
            with contextlib.suppress(sqlite3.Error):
                places = _places(db)
            for place in places:
                with contextlib.suppress(sqlite3.Error, zlib.error, ValueError):
                    found.states[place] = read_state(db, place)
            with contextlib.suppress(sqlite3.Error):
                for row in db.execute("SELECT place, stream, seq, topic, payload FROM event NOT INDEXED ORDER BY id"):
                    entry = Entry(*row)
                    if entry.seq > found.delivered.get(entry.lane, 0):
                        found.pending.append(entry)
    return found
