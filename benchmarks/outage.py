"""The broker is away while the hall plays on: `python -m benchmarks.outage [--tables 16] [--seconds 90] [--pause 2.5]`.

Between gateway and broker lies a way of our own that is cut, so that a subscriber at the broker hears all that comes
when it is there again. Meanwhile the gateway is killed with -9 once in mid-drain. Told: the backlog, when the gateway
was back and when the backlog was gone, how late a ply arrives that is played before that and after it, memory, and
whether every stream came whole, in order, behind retained state. A ply of before waits for all of its own table that
is older. With a small `--pause` and many `--seconds` an hour of blitz (700 plies a table) passes faster.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from brokers import Mosquitto, free_port, until
from hall import Board, Process
from test_daemon import prove

from benchmarks.scale import memory_mb, quantile
from benchmarks.soak import followed

STATUS = "hall/gateway/g/status"


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


class Listener:
    """A subscriber in a process of its own, which what is measured does not wait for."""

    def __init__(self, port: int, file: Path) -> None:
        self.heard: list[tuple[float, str, bytes]] = []
        """When, by the monotonic clock; topic; payload."""
        command = ["mosquitto_sub", "-V", "5", "-q", "1", "-p", str(port), "-t", "hall/#", "-F", "%U %t %p"]
        self._epoch = time.time() - time.monotonic()
        self._rest = b""
        with file.open("wb") as out:
            self._process = subprocess.Popen(command, stdout=out)
        self._file = file.open("rb")

    def listen(self) -> list[tuple[float, str, bytes]]:
        """Take in what has been heard since the last time, and return all."""
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        for line in lines:
            # What is not an event or JSON, a PGN, has lines of its own.
            if line.count(b" hall/") and line[:1].isdigit():
                at, topic, payload = line.split(b" ", 2)
                self.heard.append((float(at) - self._epoch, topic.decode(), payload))
        return self.heard

    def events(self, first: int = 0) -> list[tuple[float, dict[str, Any]]]:
        """The public events from the `first` message on, each with the time when it was heard."""
        public = [
            (at, payload) for at, topic, payload in self.listen()[first:] if "/table/" in topic and "/event/" in topic
        ]
        return [(at, json.loads(payload)) for at, payload in public]

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._file.close()


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
        listener = Listener(broker.port, directory / "heard")
        await way.open()
        await _cut_and_proved(seconds, pause_s, listener, way, daemon, boards, sent)
    finally:
        # Whatever was left would open the ports of the next run.
        daemon.kill()
        for board in boards.values():
            await board.stop()
        broker.kill()


async def _cut_and_proved(
    seconds: float,
    pause_s: float,
    listener: Listener,
    way: Way,
    daemon: Process,
    boards: dict[str, Board],
    sent: dict[tuple[str, str], float],
) -> None:
    daemon.start()
    await until(lambda: all(board.asked for board in boards.values()), 60)
    await until(lambda: any(topic == STATUS for _, topic, _ in listener.listen()), 30)
    way.cut()
    for board in boards.values():
        board.playing = True
    await asyncio.sleep(seconds)
    memory = memory_mb(daemon.pid)
    before = len(listener.listen())
    waited = {name: len(board.played) for name, board in boards.items()}
    for board in boards.values():
        board.pause_s = 2.5
    joined = time.monotonic()
    await way.open()
    await until(lambda: len(listener.listen()) > before + len(boards) * 20, 60)
    daemon.kill()
    daemon.start()
    await until(lambda: drained(listener.events(before), waited) is not None, 300)
    await asyncio.sleep(10)
    for board in boards.values():
        board.playing = False
    for name, board in boards.items():
        await until(lambda n=name, b=board: followed(of(listener.events(), n), b), 120)
    told = listener.events(before)
    gone = drained(told, waited)
    assert gone is not None
    back = next(at for at, topic, _ in reversed(listener.heard) if topic == STATUS)
    topics = [topic for _, topic, _ in listener.heard[before:]]
    first_event = next(i for i, topic in enumerate(topics) if "/event/" in topic)
    state = {topic for topic in topics[:first_event] if topic.endswith(("/position", "/game"))}
    for name in boards:
        prove(of(listener.events(), name))
    number = sum(max(event["seq"] for event in of(told, name)) for name in boards)
    print(f"{len(boards)} tables, away {seconds:.0f} s, a ply in {pause_s} s: {sum(waited.values())} plies waited;")
    print(f"{memory:.0f} MB; first {topics[0]}, then {len(state)} states before the first event;")
    print(f"{number} events, each stream whole and in order, with a kill -9 in mid-drain;")
    rate = sum(back < at <= gone for at, _ in told) / (gone - back)
    print(f"back {back - joined:.1f} s after, backlog gone {gone - joined:.1f} s after: {rate:.0f} events a second")
    late: dict[bool, list[float]] = {True: [], False: []}
    for at, event in told:
        if event["kind"] == "move":
            made = sent.get((event["table"], f"{event['ply']} {event['uci']}"), joined)
            if made > joined:
                late[made < gone].append(at - made)
    for meanwhile, times in late.items():
        times.sort()
        print(
            f"{len(times)} plies {'before' if meanwhile else 'after'} that: p50 {quantile(times, 0.5):.2f} s,"
            f" p99 {quantile(times, 0.99):.2f}, most {times[-1]:.2f}"
        )


def of(told: list[tuple[float, dict[str, Any]]], table: str) -> list[dict[str, Any]]:
    """The events of one table."""
    return [event for _, event in told if event["table"] == table]


def drained(told: list[tuple[float, dict[str, Any]]], waited: dict[str, int]) -> float | None:
    """When every table's ply of this number, or a gap beyond it, had been heard; None: not yet."""
    reached: dict[str, float] = {}
    for at, event in told:
        if event["kind"] in ("move", "position_set") and event["ply"] >= waited[event["table"]]:
            reached.setdefault(event["table"], at)
    return max(reached.values()) if len(reached) == len(waited) else None


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
