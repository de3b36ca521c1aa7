"""What boards on Bluetooth cost: `python -m benchmarks.ble [--boards 4] [--serial 4] [--seconds 30] [--rate 5]`.

A daemon of its own process, a real mosquitto, the made BlueZ on a private D-Bus in this process. On each board a
random game is played, a ply in two seconds on average; between plies each repeats its position `--rate` times a second,
as boards do that tell each scan. As many boards on pseudo-terminals as `--serial` says play at the same time. Halfway
one connection is lost. Measured from outside: CPU and memory of daemon and dbus-daemon from /proc, the time from a
ply's last byte to the subscriber, and whether each table had its own game and no other: `lost` plies never arrived,
`alien` ones were not played on that board.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import aiomqtt
import chess
from brokers import Mosquitto, subscribed, until
from hall import Board, Process

from benchmarks.scale import cpu_seconds, memory_mb, quantile
from gateway.drivers import Ble
from gateway.events import FieldUpdate
from gateway.registry import DRIVERS
from gateway.simulate.bluez import made, peripheral
from gateway.simulate.wire import wire_board

DRIVER = "chessnut"
BLE_TABLE = """
[[table]]
id = "{id}"
game = "chess"
[table.board]
driver = "{driver}"
port = "ble:{address}"
"""


class Player:
    """A board in the air on which a random game is played while somebody listens."""

    def __init__(self, number: int, pause_s: float, rate: float) -> None:
        match = next(match for match in DRIVERS[DRIVER].matches if isinstance(match, Ble))
        self.game = chess.Board()
        self.device = peripheral(match, f"AA:BB:CC:00:00:{number:02X}", f"{match.name} {number}")
        self.played: list[tuple[str, float]] = []
        self.playing = False
        self.chunks = 0
        self._wire = wire_board(DRIVER, "chess", self._pieces())
        self._channel = match.notify[0]
        self._pause_s = pause_s
        self._rate = rate
        self._chance = random.Random(number)
        self.device.took = lambda uuid, data: self._say(self._wire.take(data))

    @property
    def listened_to(self) -> bool:
        """Whether the host has asked for positions, and hears them."""
        return self._wire.listening and self._channel in self.device.subscribed

    async def run(self) -> None:
        """Play, and repeat, until cancelled."""
        play_at = 0.0
        while True:
            await asyncio.sleep(1 / self._rate)
            now = time.monotonic()
            if self.playing and self.listened_to and now >= play_at:
                play_at = now + self._pause_s * self._chance.uniform(0.5, 1.5)
                await self._play()
            else:
                self._say(self._wire.sense(FieldUpdate("a3", self._pieces().get("a3"))))

    async def _play(self) -> None:
        moves = [move for move in self.game.legal_moves if move.promotion in (None, chess.QUEEN)]
        move = self._chance.choice([move for move in moves if not self._ends(move)] or moves)
        before = self._pieces()
        self.game.push(move)
        after = self._pieces()
        changed = [square for square in {**before, **after} if before.get(square) != after.get(square)]
        for square in sorted(changed, key=lambda square: square in after):
            self._say(self._wire.sense(FieldUpdate(square, None)))
            if square in after:
                await asyncio.sleep(0.02)
                self._say(self._wire.sense(FieldUpdate(square, after[square])))
        self.played.append((move.uci(), time.monotonic()))

    def _ends(self, move: chess.Move) -> bool:
        self.game.push(move)
        over = self.game.is_game_over() or self.game.is_check()
        self.game.pop()
        return over or (self.game.is_capture(move) and len(self.game.piece_map()) < 20)

    def _pieces(self) -> dict[str, str]:
        return {chess.square_name(square): piece.symbol() for square, piece in self.game.piece_map().items()}

    def _say(self, data: bytes) -> None:
        self.chunks += bool(data)
        self.device.notify(self._channel, data)


def bus_daemon() -> int:
    """The process id of our dbus-daemon."""
    children = Path("/proc/self/task")
    for task in children.iterdir():
        for pid in (task / "children").read_text().split():
            if Path(f"/proc/{pid}/comm").read_text().strip() == "dbus-daemon":
                return int(pid)
    raise LookupError("no dbus-daemon among our children")


async def measure(boards: int, serial: int, seconds: float, pause_s: float, rate: float, directory: Path) -> str:
    """Play so long; return a line of figures."""
    (directory / "broker").mkdir(parents=True)
    broker = Mosquitto(directory / "broker")
    broker.start()
    daemon = Process(directory, broker.port)
    players = [Player(number, pause_s, rate) for number in range(1, boards + 1)]
    wired = [Board(directory / f"board-{n}", seed=100 + n, pause_s=pause_s) for n in range(1, serial + 1)]
    for board in wired:
        board.poll_s = 0.01
        board.start()
    told: dict[str, list[tuple[str, float]]] = {}

    def heard(message: aiomqtt.Message) -> None:
        event = json.loads(message.payload)
        told.setdefault(event["table"], []).append((event["uci"], time.monotonic()))

    async with (
        made(*(player.device for player in players)),
        subscribed(broker.port, "hall/table/+/event/move") as subscriber,
    ):
        subscriber.heard = heard
        daemon.configure({f"serial-{n}": board.name for n, board in enumerate(wired, 1)})
        with daemon.config.open("a") as config:
            for number, player in enumerate(players, 1):
                config.write(BLE_TABLE.format(id=f"ble-{number}", driver=DRIVER, address=player.device.address))
        began = time.monotonic()
        daemon.start()
        tasks = [asyncio.create_task(player.run()) for player in players]
        await until(lambda: all(p.listened_to for p in players) and all(b.asked for b in wired), 60)
        all_up = time.monotonic() - began
        await asyncio.sleep(1)
        for each in [*players, *wired]:
            each.playing = True
        bus = bus_daemon()
        began, used, bus_used = time.monotonic(), cpu_seconds(daemon.pid), cpu_seconds(bus)
        chunks = sum(player.chunks for player in players)
        await asyncio.sleep(seconds / 2)
        back = 0.0
        if players:
            players[0].device.drop()
            dropped = time.monotonic()
            await until(lambda: players[0].listened_to, 30)
            back = time.monotonic() - dropped
        await asyncio.sleep(max(0.0, seconds / 2 - back))
        took = time.monotonic() - began
        cpu = 100 * (cpu_seconds(daemon.pid) - used) / took
        bus_cpu = 100 * (cpu_seconds(bus) - bus_used) / took
        memory = memory_mb(daemon.pid)
        chunks = sum(player.chunks for player in players) - chunks
        for each in [*players, *wired]:
            each.playing = False
        await asyncio.sleep(3)
        for task in tasks:
            task.cancel()
        daemon.signal(15)
        await asyncio.to_thread(daemon.wait, 10)
    for board in wired:
        await board.stop()
    broker.kill()
    lost = alien = plies = 0
    latencies: list[float] = []
    for number, player in enumerate(players, 1):
        arrived = told.get(f"ble-{number}", [])
        mine = [uci for uci, _ in player.played]
        plies += len(mine)
        # Each in its turn: a ply arrives when and as it was played.
        rest = list(arrived)
        for uci, at in player.played:
            index = next((i for i, (other, _) in enumerate(rest) if other == uci), None)
            if index is None:
                lost += 1
                continue
            latencies.append((rest[index][1] - at) * 1000)
            del rest[: index + 1]
        alien += sum(uci not in mine for uci, _ in arrived)
    for number, board in enumerate(wired, 1):
        arrived_ucis = [uci for uci, _ in told.get(f"serial-{number}", [])]
        plies += len(board.played)
        lost += sum(uci not in arrived_ucis for uci in board.played)
        alien += sum(uci not in board.played for uci in arrived_ucis)
    latencies.sort()
    return (
        f"{boards:6} {serial:6} {cpu:6.1f} {bus_cpu:10.1f} {memory:10.1f} {all_up:8.1f} {chunks / took:9.1f} {plies:6}"
        f" {lost:5} {alien:6} {back:7.2f} {quantile(latencies, 0.5):7.1f} {quantile(latencies, 0.99):7.1f}"
    )


def main() -> None:
    """Run and print one line per number of boards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, nargs="+", default=[0, 1, 4], help="in the air")
    parser.add_argument("--serial", type=int, default=4, help="on pseudo-terminals, beside them")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between plies of a table, on average")
    parser.add_argument("--rate", type=float, default=5.0, help="how often a board repeats its position each second")
    arguments = parser.parse_args()
    print("boards serial  CPU %  D-Bus % memory MB  all up s  chunks/s  plies  lost  alien  back s  p50 ms  p99 ms")
    for boards in arguments.boards:
        with contextlib.ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=Path.home())))
            run = measure(boards, arguments.serial, arguments.seconds, arguments.pause, arguments.rate, directory)
            print(asyncio.run(run), flush=True)


if __name__ == "__main__":
    main()
