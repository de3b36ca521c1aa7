"""What the journal writes to the disk for each event, as the kernel counts it: `python -m benchmarks.writes`."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from gateway.journal import Journal
from gateway.store import Entry

EVENTS = 400


def written() -> int:
    """Bytes that this process has sent to the disk."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))


async def measure(path: Path) -> None:
    """One event at a time, with a table's state that grows as a game does; each is acknowledged."""
    journal = Journal(path, 24)
    await journal.open()
    before, began = written(), time.monotonic()
    moves: list[str] = []
    for seq in range(1, EVENTS + 1):
        moves.append("e2e4 12.5")
        entry = Entry("1", "public", seq, "hall/table/1/event/move", bytes(450))
        await journal.append("1", [entry], {"at": float(seq), "station": {"moves": moves[-120:]}})
        journal.acknowledge(entry.lane, seq)
    took = time.monotonic() - began
    counters = journal.counters
    print(
        f"{EVENTS} events: {(written() - before) / EVENTS / 1000:.1f} KB and {took / EVENTS * 1000:.1f} ms each,"
        f" of it {counters.commit_seconds / counters.commits * 1000:.1f} ms in the commit"
    )
    await journal.close()


def main() -> None:
    """Run and print."""
    with tempfile.TemporaryDirectory(dir=Path.home()) as directory:
        asyncio.run(measure(Path(directory, "journal.sqlite3")))


if __name__ == "__main__":
    main()
