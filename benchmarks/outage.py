"""The broker is away while the hall plays on: `python -m benchmarks.outage [--tables 16] [--seconds 90] [--pause 2.5]`.

Between gateway and broker lies a way of our own that is cut, so that a subscriber at the broker hears all that comes
when it is there again. Meanwhile the gateway is killed with -9 once in mid-drain. Told: the backlog, how long it takes
to go, how late a ply that is played during the drain arrives, memory, and whether every stream came whole, in order,
behind retained state. With a small `--pause` and many `--seconds` an hour of blitz (700 plies a table) passes faster.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import aiomqtt
from brokers import Mosquitto, free_port, subscribed, until
from hall import Board, Process
from test_daemon import events, prove

from benchmarks.scale import memory_mb, quantile
from benchmarks.soak import followed


class Way:
    """Leads to the broker, or is cut."""

    def __init__(self, broker: int) -> None:
        self.port = free_port()
        self._broker = broker
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._broker)
        self._writers += [writer, far_writer]
        await asyncio.gather(_pass(reader, far_writer), _pass(far_reader, writer))


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def outage(tables: int, seconds: float, pause_s: float, directory: Path) -> None:
    """Cut, play, join, kill, and prove."""
    (directory / "broker").mkdir()
    broker = Mosquitto(directory / "broker")
    broker.extra += "max_inflight_messages 100\n"
    way = Way(broker.port)
    daemon = Process(directory, way.port)
    sent: dict[tuple[str, str], float] = {}
    boards = {str(n): Board(directory / f"board-{n}", seed=n, pause_s=pause_s) for n in range(1, tables + 1)}
    for name, board in boards.items():
        board.poll_s = 0.02
        board.on_ply = lambda uci, at, name=name: sent.setdefault((name, f"{len(boards[name].played)} {uci}"), at)  # type: ignore[misc]
        board.start()
    daemon.configure({name: board.name for name, board in boards.items()})
    try:
        broker.start()
        await way.open()
        await _cut_and_proved(seconds, pause_s, broker, way, daemon, boards, sent)
    finally:
        # Whatever was left would open the ports of the next run.
        daemon.kill()
        for board in boards.values():
            await board.stop()
        broker.kill()


async def _cut_and_proved(
    seconds: float,
    pause_s: float,
    broker: Mosquitto,
    way: Way,
    daemon: Process,
    boards: dict[str, Board],
    sent: dict[tuple[str, str], float],
) -> None:
    late: list[float] = []
    async with subscribed(broker.port) as subscriber:
        daemon.start()
        await until(lambda: all(board.asked for board in boards.values()), 60)
        await subscriber.until(lambda s: "hall/gateway/g/status" in s.topics(), 30)
        way.cut()
        for board in boards.values():
            board.playing = True
        await asyncio.sleep(seconds)
        memory = memory_mb(daemon.pid)
        backlog = sum(len(board.played) for board in boards.values())
        before = len(subscriber.messages)
        for board in boards.values():
            board.pause_s = 2.5
        joined = time.monotonic()

        def heard(message: aiomqtt.Message) -> None:
            if not str(message.topic).endswith("/event/move"):
                return
            event = json.loads(message.payload)
            at = sent.get((event["table"], f"{event['ply']} {event['uci']}"))
            if at is not None and at > joined:
                late.append(time.monotonic() - at)

        subscriber.heard = heard
        await way.open()
        await subscriber.until(lambda s: len(s.messages) > before + len(boards) * 20, 60)
        daemon.kill()
        daemon.start()
        await until(lambda: all(board.asked for board in boards.values()), 60)
        await asyncio.sleep(10)
        for board in boards.values():
            board.playing = False
        for name, board in boards.items():
            await subscriber.until(lambda s, n=name, b=board: followed(events(s, n), b), 120)
        took = time.monotonic() - joined
        topics = [str(message.topic) for message in subscriber.messages[before:]]
    first_event = next(i for i, topic in enumerate(topics) if "/event/" in topic)
    state = {topic for topic in topics[:first_event] if topic.endswith(("/position", "/game"))}
    for name in boards:
        prove(events(subscriber, name))
    told = sum(max(event["seq"] for event in events(subscriber, name)) for name in boards)
    late.sort()
    print(f"{len(boards)} tables, away {seconds:.0f} s, a ply in {pause_s} s: {backlog} plies waited, {memory:.0f} MB;")
    print(f"first {topics[0]}, then {len(state)} states before the first event;")
    print(f"all there {took:.0f} s after, with a kill -9 in mid-drain: {told} events, each stream whole and in order;")
    print(
        f"{len(late)} plies after: p50 {quantile(late, 0.5):.2f} s, p99 {quantile(late, 0.99):.2f}, most {late[-1]:.2f}"
    )


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--pause", type=float, default=2.5, help="seconds between plies of a table, on average")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.home()) as directory:
        asyncio.run(outage(arguments.tables, arguments.seconds, arguments.pause, Path(directory)))


if __name__ == "__main__":
    main()
