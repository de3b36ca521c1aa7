"""kill -9 of the daemon in mid-game, again and again: `python -m benchmarks.soak [--kills 500]`.

Every so often the broker is killed too. In the end what the subscriber got, with what it asks for again by `resend`,
must have every `seq` once and unchanged, and the plies that stand must be those that were played.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import shutil
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from brokers import Mosquitto, subscribed, until
from hall import Board, Process
from test_daemon import events, online, prove, standing


async def soak(kills: int, seed: int, directory: Path) -> None:
    """Kill and prove."""
    chance = random.Random(seed)
    (directory / "broker").mkdir()
    broker = Mosquitto(directory / "broker")
    broker.start()
    daemon = Process(directory, broker.port)
    board = Board(directory / "board", seed=seed, pause_s=0.2)
    board.start()
    daemon.configure({"1": board.name})
    board.playing = True
    for number in range(1, kills + 1):
        daemon.start()
        await until(lambda: board.asked, 60)
        await asyncio.sleep(chance.uniform(0.0, 1.0))
        if number % 10 == 0:
            broker.kill()
            broker.start()
        daemon.kill()
        await until(lambda: not board.asked, 60)
        if number % 50 == 0:
            print(f"{number} kills, {len(board.played)} plies", flush=True)
    board.playing = False
    async with subscribed(broker.port) as subscriber:
        daemon.start()
        await online(subscriber, 1)
        ask = {"command": "resend", "id": "all", "by": "soak", "stream": "public", "from_seq": 1, "to_seq": 10**9}
        await subscriber.client.publish("hall/arbiter/1/command", json.dumps(ask), qos=1)
        with contextlib.suppress(AssertionError):
            await subscriber.until(lambda s: standing(events(s)) == board.played, 30)
        told = events(subscriber)
    prove(told, in_order=False)
    for ply, (told_ply, played) in enumerate(zip_longest(standing(told), board.played), 1):
        assert told_ply == played, f"ply {ply}: {told_ply} stands, {played} was played"
    games = {event["game_id"] for event in told if event["kind"] == "move"}
    print(f"{kills} kills: {max(e['seq'] for e in told)} events, no seq missing, reused or changed;")
    print(f"{len(board.played)} plies played and standing, {len(games)} game")
    daemon.kill()
    await board.stop()
    broker.kill()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    began = time.monotonic()
    # Left behind if the proof fails: the daemon's log and journal are in it.
    directory = Path(tempfile.mkdtemp(prefix="soak-", dir=Path.home()))
    print(directory, flush=True)
    asyncio.run(soak(arguments.kills, arguments.seed, directory))
    shutil.rmtree(directory)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
