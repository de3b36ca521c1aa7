"""Faults at random for as long as you like: `python -m benchmarks.faults [--tables 16] [--minutes 20] [--pause 1]`.

On every table a game is played; on average once in `--pause` seconds something happens: a cable is pulled for up to
two seconds, a board talks nonsense, the broker hangs or is killed, the configuration is read again. A hall of one
fault a minute has as many in six hours as this in six minutes with a pause of a second. The gateway's memory, file
descriptors, threads and tasks are told now and then: they must not grow. In the end every stream must be whole and
the plies that stand those that were played.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import hall
from brokers import Mosquitto, subscribed, until
from hall import Board, Process
from test_daemon import events, online, prove, standing

from benchmarks.scale import memory_mb
from benchmarks.soak import followed

COUNT_TASKS = """
import asyncio, signal
signal.signal(signal.SIGUSR1, lambda *_: print("tasks", len(asyncio.all_tasks()), flush=True))
"""
TELL_S = 60.0


def tasks(daemon: Process) -> int:
    """The gateway's asyncio tasks."""
    daemon.signal(signal.SIGUSR1)
    time.sleep(0.3)
    return int(
        next(line for line in reversed(daemon.log.read_text().splitlines()) if line.startswith("tasks ")).split()[1]
    )


def tell(daemon: Process, began: float, faults: int) -> None:
    """One line of what must not grow."""
    files = len(list(Path(f"/proc/{daemon.pid}/fd").iterdir()))
    threads = len(list(Path(f"/proc/{daemon.pid}/task").iterdir()))
    print(
        f"{time.monotonic() - began:6.0f} s  {faults:5} faults  {memory_mb(daemon.pid):6.1f} MB  {files:4} files"
        f"  {threads:3} threads  {tasks(daemon):4} tasks",
        flush=True,
    )


async def fault(chance: random.Random, daemon: Process, broker: Mosquitto, boards: list[Board]) -> None:
    """Something happens."""
    board, kind = chance.choice(boards), chance.random()
    if kind < 0.6:
        board.unplug()
        await asyncio.sleep(chance.uniform(0.0, 2.0))
        board.plug()
    elif kind < 0.8:
        with contextlib.suppress(OSError):
            os.write(board._master, chance.randbytes(chance.randrange(1, 600)) + b"\n")
    elif kind < 0.87:
        os.kill(broker.pid, signal.SIGSTOP)
        await asyncio.sleep(chance.uniform(0.0, 3.0))
        os.kill(broker.pid, signal.SIGCONT)
    elif kind < 0.94:
        broker.kill()
        await asyncio.sleep(chance.uniform(0.0, 2.0))
        broker.start()
    else:
        daemon.signal(signal.SIGHUP)


async def run(tables: int, minutes: float, pause_s: float, seed: int, directory: Path) -> None:
    """Play, disturb, and prove."""
    chance = random.Random(seed)
    (directory / "broker").mkdir()
    broker = Mosquitto(directory / "broker")
    hall.DAEMON = COUNT_TASKS + hall.DAEMON
    daemon = Process(directory, broker.port)
    boards = [Board(directory / f"board-{n}", seed=n, pause_s=2.0) for n in range(1, tables + 1)]
    try:
        broker.start()
        await _disturbed_and_proved(minutes, pause_s, chance, broker, daemon, boards)
    finally:
        # Whatever was left would open the ports of the next run.
        daemon.kill()
        for board in boards:
            await board.stop()
        broker.kill()


async def _disturbed_and_proved(
    minutes: float, pause_s: float, chance: random.Random, broker: Mosquitto, daemon: Process, boards: list[Board]
) -> None:
    tables = len(boards)
    for board in boards:
        board.poll_s = 0.02
        board.start()
        board.playing = True
    daemon.configure({str(number): board.name for number, board in enumerate(boards, 1)})
    daemon.start()
    await until(lambda: all(board.asked for board in boards), 60)
    began = told = time.monotonic()
    faults = 0
    tell(daemon, began, faults)
    while time.monotonic() - began < minutes * 60:
        await asyncio.sleep(chance.expovariate(1 / pause_s))
        await fault(chance, daemon, broker, boards)
        faults += 1
        if time.monotonic() - told > TELL_S:
            told = time.monotonic()
            tell(daemon, began, faults)
    for board in boards:
        board.playing = False
    await asyncio.sleep(5)
    tell(daemon, began, faults)
    daemon.kill()
    async with subscribed(broker.port) as subscriber:
        daemon.start()
        await online(subscriber, 1)
        for number in range(1, tables + 1):
            ask = {"command": "resend", "id": f"all{number}", "by": "faults", "stream": "public"}
            text = json.dumps(ask | {"from_seq": 1, "to_seq": 10**9})
            await subscriber.client.publish(f"hall/arbiter/{number}/command", text, qos=1)
        for number, board in enumerate(boards, 1):
            await subscriber.until(lambda s, n=str(number), b=board: followed(events(s, n), b), 120)
    for number in range(1, tables + 1):
        prove(events(subscriber, str(number)), in_order=False)
    plies = sum(len(board.played) for board in boards)
    seqs = sum(max(event["seq"] for event in events(subscriber, str(number))) for number in range(1, tables + 1))
    print(f"{faults} faults at {tables} tables: {seqs} events, no seq missing, reused or changed;")
    stand = sum(len(standing(events(subscriber, str(number)))) for number in range(1, tables + 1))
    print(f"{plies} plies played, {stand} standing")


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between faults, on average")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    # Left behind if the proof fails: the gateway's log and journal are in it.
    directory = Path(tempfile.mkdtemp(prefix="faults-", dir=Path.home()))
    print(directory, flush=True)
    asyncio.run(run(arguments.tables, arguments.minutes, arguments.pause, arguments.seed, directory))
    shutil.rmtree(directory)


if __name__ == "__main__":
    main()
