"""Faults at random for as long as you like: `python -m benchmarks.faults [--tables 16] [--minutes 20] [--pause 1]`.

On every table games are played, one after the other; on average once in `--pause` seconds something happens: a cable
is pulled for up to two seconds, a board talks nonsense, the broker hangs or is killed, the configuration is read again.
A hall of one fault a minute has as many in six hours as this in six minutes with a pause of a second; an hour of blitz
is 700 plies a table. The gateway's memory, file descriptors, threads and tasks are told now and then: they must not
grow. In the end every stream must be whole, every game that was played must have been told, and of those in play the
plies that stand must be those that were played.
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
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import chess
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
GAME_PLIES = (40, 80)
IDLE_S = 5.0
IDLE_SHARE = 0.15
"""Of a processor, with tables at which nothing happens."""
SET_UP_S = 3.0
"""Between the last ply of a game and the first of the next."""


class Seats(Board):
    """A board at which one game after the other is played."""

    def __init__(self, name: Path, seed: int, pause_s: float) -> None:
        super().__init__(name, seed, pause_s)
        self.games: list[list[str]] = []
        """The plies of those that are over."""
        self._length = self._chance.randint(*GAME_PLIES)

    def _play(self) -> None:
        if len(self.played) < self._length:
            super()._play()
            return
        self.games.append(self.played)
        before = self.game.piece_map()
        self.game, self.played = chess.Board(), []
        self._length = self._chance.randint(*GAME_PLIES)
        self._left = dict.fromkeys(self._left, 3600.0)
        self._clock()
        for square in before:
            self._send(f"lift {chess.square_name(square)}")
        for square, piece in self.game.piece_map().items():
            self._send(f"place {piece.symbol()}@{chess.square_name(square)}")

    def _think(self) -> None:
        super()._think()
        if not self.played:
            self._play_at += SET_UP_S


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


def worked_s(daemon: Process) -> float:
    """How long the gateway's main thread has had a processor."""
    return int(Path(f"/proc/{daemon.pid}/schedstat").read_text().split()[0]) / 1e9


async def caught_up(daemon: Process) -> float:
    """Wait until the gateway has nothing left to do; return for how many seconds it had."""
    began, idle = time.monotonic(), False
    while not idle:
        before = worked_s(daemon)
        await asyncio.sleep(IDLE_S)
        idle = worked_s(daemon) - before < IDLE_SHARE * IDLE_S
    return time.monotonic() - began - IDLE_S


async def fault(chance: random.Random, daemon: Process, broker: Mosquitto, boards: list[Seats]) -> None:
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


async def run(tables: int, minutes: float, pause_s: float, ply_s: float, seed: int, directory: Path) -> None:
    """Play, disturb, and prove."""
    chance = random.Random(seed)
    (directory / "broker").mkdir()
    broker = Mosquitto(directory / "broker")
    hall.DAEMON = COUNT_TASKS + hall.DAEMON
    daemon = Process(directory, broker.port)
    boards = [Seats(directory / f"board-{n}", seed=n, pause_s=ply_s) for n in range(1, tables + 1)]
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
    minutes: float, pause_s: float, chance: random.Random, broker: Mosquitto, daemon: Process, boards: list[Seats]
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
    print(f"{await caught_up(daemon):.0f} s behind when the last ply was made", flush=True)
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
            await subscriber.until(lambda s, n=str(number), b=board: all_told(events(s, n), b), 120)
    seqs = over = whole = plies = 0
    for number, board in enumerate(boards, 1):
        told = events(subscriber, str(number))
        prove(told, in_order=False)
        seqs += max(event["seq"] for event in told)
        past = by_game(told)[: len(board.games)]
        over += len(past)
        whole += sum(standing(game) == played for game, played in zip(past, board.games, strict=True))
        plies += sum(map(len, board.games)) + len(board.played)
    print(f"{faults} faults at {tables} tables: {seqs} events, no seq missing, reused or changed;")
    print(f"{plies} plies played; of {over} games that are over {whole} stand with every ply")


def by_game(told: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The events of each game that was begun, in the order in which they began."""
    games: dict[str, list[dict[str, Any]]] = {}
    for event in sorted(told, key=lambda event: event["seq"]):
        if event["game_id"] is not None:
            games.setdefault(event["game_id"], []).append(event)
    return list(games.values())


def all_told(told: list[dict[str, Any]], board: Seats) -> bool:
    """Whether every game was told of, and the one in play, if there is one, has come to where the board is."""
    games = by_game(told)
    if len(games) != len(board.games) + bool(board.played):
        return False
    return not board.played or followed(games[-1], board)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between faults, on average")
    parser.add_argument("--ply", type=float, default=2.0, help="seconds between plies of a table, on average")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    # Left behind if the proof fails: the gateway's log and journal are in it.
    directory = Path(tempfile.mkdtemp(prefix="faults-", dir=Path.home()))
    print(directory, flush=True)
    asyncio.run(run(arguments.tables, arguments.minutes, arguments.pause, arguments.ply, arguments.seed, directory))
    shutil.rmtree(directory)


if __name__ == "__main__":
    main()
