"""kill -9 of the daemon in mid-game, again and again: `python -m benchmarks.soak [--kills 500]`.

Every so often the broker is killed too. In the end what the subscriber got, with what it asks for again by `resend`,
must have every `seq` once and unchanged, and the plies that stand must be those that were played. What the gateway had
not read yet when it was killed is lost with its port; on a machine without free CPU that can be several plies, which
must then be told as a gap, and the game must have gone on to where the board is.
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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from brokers import Mosquitto, subscribed, until
from hall import Board, Process
from test_daemon import events, online, prove, standing


def standing_at(told: list[dict[str, Any]]) -> str:
    """What stands on the board by the last ply or gap that was told: the first field of its FEN."""
    by_seq = {event["seq"]: event for event in told if event["kind"] in ("move", "position_set")}
    return str(by_seq[max(by_seq)]["fen"]).split()[0]


def followed(told: list[dict[str, Any]], board: Board) -> bool:
    """Whether every ply that was played stands, or the record has come to where the board is, over told gaps."""
    if standing(told) == board.played:
        return True
    return any(event["kind"] == "position_set" for event in told) and standing_at(told) == board.game.board_fen()


async def soak(kills: int, seed: int, directory: Path) -> None:
    """Kill and prove."""
    chance = random.Random(seed)
    (directory / "broker").mkdir()
    broker = Mosquitto(directory / "broker")
    daemon = Process(directory, broker.port)
    board = Board(directory / "board", seed=seed, pause_s=0.2)
    try:
        broker.start()
        board.start()
        await _killed_and_proved(kills, chance, broker, daemon, board)
    finally:
        # Whatever was left would open the ports of the next run.
        daemon.kill()
        await board.stop()
        broker.kill()


async def _killed_and_proved(
    kills: int, chance: random.Random, broker: Mosquitto, daemon: Process, board: Board
) -> None:
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
            await subscriber.until(lambda s: followed(events(s), board), 60)
        told = events(subscriber)
    prove(told, in_order=False)
    games = {event["game_id"] for event in told if event["kind"] == "move"}
    gaps = len({event["seq"] for event in told if event["kind"] == "position_set"})
    print(f"{kills} kills: {max(e['seq'] for e in told)} events, no seq missing, reused or changed; {len(games)} game;")
    print(f"{len(board.played)} plies played, {len(standing(told))} standing, {gaps} gaps")
    assert followed(told, board)


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
