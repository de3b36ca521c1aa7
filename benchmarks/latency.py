"""From a sensor's byte to the subscriber, and the disk's share of it: `python -m benchmarks.latency`.

One table, four plies a second. The commit is measured apart, on the same disk and with events of the same size, one
at a time as a table alone commits them.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.scale import measure, quantile
from gateway.journal import Journal
from gateway.store import Entry

COMMITS = 300
STATE = {"at": 0.0, "station": {"moves": ["e2e4 e7e5 g1f3 b8c6"] * 100}}


async def commits(path: Path) -> list[float]:
    """Milliseconds from offering an event to the journal until it is on disk."""
    journal = Journal(path, 24)
    await journal.open()
    took = []
    for seq in range(1, COMMITS + 1):
        began = time.monotonic()
        await journal.append("1", [Entry("1", "public", seq, "hall/table/1/event/move", bytes(450))], STATE)
        took.append((time.monotonic() - began) * 1000)
        await asyncio.sleep(0.01)
    await journal.close()
    return sorted(took)


def main() -> None:
    """Run and print."""
    with tempfile.TemporaryDirectory(dir=Path.home()) as directory:
        run = asyncio.run(measure(1, 30.0, 0.25, Path(directory, "hall")))
        disk = asyncio.run(commits(Path(directory, "journal.sqlite3")))
    for name, ms in (("byte to subscriber", run.latencies_ms), ("of it journal, commit included", disk)):
        print(
            f"{name:31} n={len(ms):4}  mean {statistics.fmean(ms):6.2f} ms  p50 {quantile(ms, 0.5):6.2f} ms"
            f"  p99 {quantile(ms, 0.99):6.2f} ms"
        )
    print(f"plies played {run.played}, lost {run.lost}")


if __name__ == "__main__":
    main()
