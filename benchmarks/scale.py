"""What many tables cost, and how long an event takes: `python -m benchmarks.scale [--tables 1 16 64] [--seconds 30]`.

A daemon of its own process, a real mosquitto, and a pseudo-terminal per table on which a ply is played every two
seconds on average with its clock, faster than any blitz. Measured from outside: the daemon's CPU and memory from
/proc, and the time from a board's last byte to the subscriber, who shares a process with all boards (so its own
scheduling is in the figure; its CPU is told as "own"). Lost: plies that were played and never arrived.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import aiomqtt
from brokers import Mosquitto, subscribed, until
from hall import Board, Process

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Figures:
    """One run."""

    cpu_percent: float
    own_percent: float
    """What the boards, the subscriber and all that measures used: near 100 it is they who are late."""
    memory_mb: float
    latencies_ms: list[float]
    played: int
    lost: int
    stopped_s: float
    """From SIGTERM to its end."""


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mb(pid: int) -> float:
    """Resident megabytes of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6


async def measure(tables: int, seconds: float, pause_s: float, directory: Path) -> Figures:
    """Play at so many tables for so long."""
    (directory / "broker").mkdir(parents=True)
    broker = Mosquitto(directory / "broker")
    # As in the example that comes with the package.
    broker.extra += "max_inflight_messages 100\n"
    broker.start()
    daemon = Process(directory, broker.port)
    boards = [Board(directory / f"board-{n}", seed=n, pause_s=pause_s) for n in range(1, tables + 1)]
    sent: dict[tuple[str, str], list[float]] = {}
    latencies: list[float] = []
    for number, board in enumerate(boards, 1):
        board.poll_s = 0.2
        board.on_ply = lambda uci, at, table=str(number): sent.setdefault((table, uci), []).append(at)  # type: ignore[misc]
        board.start()
    daemon.configure({str(number): board.name for number, board in enumerate(boards, 1)})
    async with subscribed(broker.port, "hall/table/+/event/move") as subscriber:

        def heard(message: aiomqtt.Message) -> None:
            event = json.loads(message.payload)
            times = sent.get((event["table"], event["uci"]))
            if times:
                latencies.append((time.monotonic() - times.pop(0)) * 1000)

        subscriber.heard = heard
        daemon.start()
        await until(lambda: all(board.asked for board in boards), 60)
        for board in boards:
            board.playing = True
        began, used, own = time.monotonic(), cpu_seconds(daemon.pid), time.process_time()
        await asyncio.sleep(seconds)
        took = time.monotonic() - began
        cpu, own = 100 * (cpu_seconds(daemon.pid) - used) / took, 100 * (time.process_time() - own) / took
        memory = memory_mb(daemon.pid)
        for board in boards:
            board.playing = False
        # Late is not lost: on a machine that is short of CPU the last ones take their time.
        with contextlib.suppress(AssertionError):
            await until(lambda: not any(sent.values()), 60)
    played = sum(len(board.played) for board in boards)
    lost = sum(len(times) for times in sent.values())
    told_to_stop = time.monotonic()
    daemon.signal(15)
    daemon.wait(30)
    stopped_s = time.monotonic() - told_to_stop
    for board in boards:
        await board.stop()
    broker.kill()
    return Figures(cpu, own, memory, sorted(latencies), played, lost, stopped_s)


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share lies."""
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def main() -> None:
    """Run and print one line per number of tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between plies of a table, on average")
    arguments = parser.parse_args()
    print("tables  CPU %  own %  memory MB  plies  lost  mean ms  p50 ms  p99 ms  p99.9 ms  stop s")
    for tables in arguments.tables:
        with tempfile.TemporaryDirectory(dir=Path.home()) as directory:
            run = asyncio.run(measure(tables, arguments.seconds, arguments.pause, Path(directory)))
        ms = run.latencies_ms
        mean = statistics.fmean(ms) if ms else float("nan")
        print(
            f"{tables:6} {run.cpu_percent:6.1f} {run.own_percent:6.1f} {run.memory_mb:10.1f} {run.played:6}"
            f" {run.lost:5} {mean:8.1f} {quantile(ms, 0.5):7.1f} {quantile(ms, 0.99):7.1f}"
            f" {quantile(ms, 0.999):9.1f} {run.stopped_s:7.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
