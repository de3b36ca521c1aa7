"""The journal on a real disk: killed, damaged, full, and asked again."""

from __future__ import annotations

import asyncio
import contextlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway import journal as journal_module
from gateway.journal import Journal, JournalError
from gateway.store import Entry, Store

LANE = ("12", "public")


def entry(seq: int, table: str = "12", size: int = 300) -> Entry:
    return Entry(table, "public", seq, f"hall/table/{table}/event/move", b"x" * size)


@contextlib.asynccontextmanager
async def opened(path: Path, keep_hours: float = 24) -> AsyncIterator[Journal]:
    journal = Journal(path, keep_hours)
    await journal.open()
    try:
        yield journal
    finally:
        await journal.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


async def test_events_and_state_survive_a_restart(path: Path) -> None:
    """What was appended is read back in order, with the state it led to."""
    async with opened(path) as journal:
        await journal.append("12", [entry(1), entry(2)], {"seq": 2})
        await journal.append("12", [entry(3)], {"seq": 3, "last_change": float("-inf")})

    async with opened(path) as journal:
        assert {"seq": 3, "last_change": float("-inf")} == journal.state("12")
        assert [entry(1), entry(2), entry(3)] == await journal.read(LANE, 1)
        assert {LANE: (0, 3)} == journal.lanes()


async def test_nothing_is_reported_kept_before_it_is_on_disk(path: Path) -> None:
    """When append is done, another reader of the file sees the event."""
    async with opened(path) as journal:
        done = journal.append("12", [entry(1)], {})

        assert not done.done()

        await done

        with contextlib.closing(sqlite3.connect(path)) as other:
            assert (1,) == other.execute("SELECT count(*) FROM event").fetchone()


async def test_what_arrives_during_a_commit_is_the_next_group(path: Path) -> None:
    """Many events offered at once need far fewer commits than events."""
    async with opened(path) as journal:
        await asyncio.gather(*(journal.append("12", [entry(seq)], {"seq": seq}) for seq in range(1, 501)))

        assert journal.counters.events == 500
        assert journal.counters.commits <= 15


async def test_acknowledged_events_are_not_pending_but_can_be_read(path: Path) -> None:
    """An acknowledgement moves the mark; the events stay for keep_hours."""
    async with opened(path) as journal:
        await journal.append("12", [entry(1), entry(2), entry(3)], {})
        journal.acknowledge(LANE, 2)

    async with opened(path) as journal:
        assert {LANE: (2, 3)} == journal.lanes()
        assert [entry(1), entry(2)] == await journal.read(LANE, 1, 2)


async def test_only_old_and_acknowledged_events_are_pruned(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With keep_hours of 0 what is acknowledged goes, and nothing else."""
    monkeypatch.setattr(journal_module, "PRUNE_S", 0.01)
    async with opened(path, keep_hours=0) as journal:
        await journal.append("12", [entry(seq) for seq in range(1, 11)], {})
        journal.acknowledge(LANE, 4)
        for _ in range(60):
            await asyncio.sleep(0.05)
            if len(await journal.read(LANE, 1)) == 6:
                break

        assert list(range(5, 11)) == [e.seq for e in await journal.read(LANE, 1)]


async def test_a_jump_of_the_wall_clock_prunes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Age is counted in running time, so a clock put right by two weeks makes nothing old."""
    store = Store(path, check=True)
    store.write([entry(1)], {}, {LANE: 1})
    monkeypatch.setattr(time, "time", lambda: 2e9)

    assert store.prune(keep_hours=24) == 0

    store.close()


def damage(path: Path, seed: int) -> bytes:
    """Overwrite bytes here and there, or cut the file; return what it is now."""
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    if seed % 2:
        del data[chance.randrange(1, len(data)) :]
    else:
        for _ in range(20):
            at = chance.randrange(0, len(data) - 64)
            data[at : at + 64] = chance.randbytes(64)
    path.write_bytes(data)
    return bytes(data)


def moved_aside(path: Path) -> list[bytes]:
    return [aside.read_bytes() for aside in path.parent.glob("*.damaged-*")]


def blank_payloads(path: Path) -> None:
    """The last pages hold nothing but long payloads' tails and the leaves of `event`."""
    data = bytearray(path.read_bytes())
    data[-40_000:-20_000] = bytes(20_000)
    path.write_bytes(data)


@pytest.mark.parametrize("seed", range(12))
async def test_a_damaged_file_is_moved_aside_and_the_gateway_goes_on(path: Path, seed: int) -> None:
    """Bytes overwritten or cut anywhere: the journal opens, works, and the damaged file is still there."""
    async with opened(path) as journal:
        for seq in range(1, 60):
            await journal.append("12", [entry(seq)], {"seq": seq, "padding": "y" * 100})
    data = damage(path, seed)

    async with opened(path) as journal:
        await asyncio.wait_for(journal.append("12", [entry(1000)], {"seq": 1000}), 5)

        assert {"seq": 1000} == journal.state("12")
        assert journal.damage is None or data in moved_aside(path)


async def test_damage_to_events_leaves_the_tables_state(path: Path) -> None:
    """What can be read of a damaged journal is carried over, so that seq goes on."""
    async with opened(path) as journal:
        await journal.append("12", [entry(seq, size=3000) for seq in range(1, 50)], {"seq": 49})
        journal.acknowledge(LANE, 45)
    blank_payloads(path)

    async with opened(path) as journal:
        assert journal.damage is not None
        assert {"seq": 49} == journal.state("12")
        assert journal.lanes()[LANE][0] == 45


@contextlib.contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """No file of this process may grow beyond what the journal's log is now."""
    wal = path.with_name(path.name + "-wal")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (wal.stat().st_size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


async def test_a_full_disk_holds_nobody_up_and_is_caught_up_with(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events go on in memory, can be read, and are written when there is room again, without a restart."""
    monkeypatch.setattr(journal_module, "RETRY_S", 0.2)
    async with opened(path) as journal:
        await journal.append("12", [entry(1)], {"seq": 1})
        with full_disk(path):
            for seq in range(2, 40):
                await asyncio.wait_for(journal.append("12", [entry(seq)], {"seq": seq}), 2)

            assert journal.trouble is not None
            assert journal.counters.in_memory > 0
            with contextlib.suppress(JournalError):
                assert list(range(1, 40)) == [e.seq for e in await journal.read(LANE, 1)]
        for _ in range(50):
            await asyncio.sleep(0.1)
            if journal.trouble is None:
                break

        assert journal.trouble is None
        assert journal.counters.in_memory == 0

    async with opened(path) as journal:
        assert {"seq": 39} == journal.state("12")
        assert list(range(1, 40)) == [e.seq for e in await journal.read(LANE, 1)]


async def test_memory_is_bounded_while_the_disk_is_full(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound the oldest events are given up and counted."""
    monkeypatch.setattr(journal_module, "MEMORY_EVENTS", 20)
    async with opened(path) as journal:
        await journal.append("12", [entry(1)], {})
        with full_disk(path):
            for seq in range(2, 100):
                await asyncio.wait_for(journal.append("12", [entry(seq)], {}), 2)

            assert journal.counters.in_memory <= 20
            assert journal.counters.given_up >= 70


async def test_a_journal_that_cannot_be_written_from_the_start(tmp_path: Path) -> None:
    """A state directory that is no directory: events go on in memory."""
    (tmp_path / "state").write_text("a file")
    async with opened(tmp_path / "state" / "journal.sqlite3") as journal:
        await asyncio.wait_for(journal.append("12", [entry(1)], {}), 2)

        assert journal.trouble is not None


WRITER = """
import asyncio, sys
from pathlib import Path
from gateway.journal import Journal
from gateway.store import Entry

async def main():
    journal = Journal(Path(sys.argv[1]), 24)
    await journal.open()
    state = journal.state("t") or {"seq": 0}
    while True:
        batch = []
        for _ in range(3):
            state = {"seq": state["seq"] + 1}
            entry = Entry("t", "public", state["seq"], "topic", b"%d" % state["seq"])
            batch.append(journal.append("t", [entry], state))
        await asyncio.gather(*batch)
        journal.acknowledge(("t", "public"), state["seq"] - 1)
        print(state["seq"], flush=True)

asyncio.run(main())
"""


def test_kill_9_at_any_moment_loses_nothing_that_was_reported_kept(path: Path) -> None:
    """Twenty kills: every event once, unchanged, without a gap; state and events agree."""
    chance = random.Random(5)
    reported = 0
    for _ in range(20):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            reported = int(writer.stdout.readline())
            time.sleep(chance.uniform(0, 0.08))
            writer.send_signal(signal.SIGKILL)
            for line in writer.stdout:
                # The last line may have been cut by the kill.
                reported = int(line) if line.endswith("\n") else reported

    store = Store(path, check=True)
    seqs = [e.seq for e in store.read(("t", "public"), 1, 10**9, 10**9)]
    state = store.states()["t"]
    store.close()

    assert seqs == list(range(1, len(seqs) + 1))
    assert seqs[-1] >= reported
    assert state == b'{"seq":%d}' % seqs[-1]
