"""An hour of blitz waits for the broker: `python -m benchmarks.backlog [--tables 16] [--plies 700]`.

Three events a ply, of the size that moves have, are journalled by this process while no broker is there; then it is
started. Told: how long all take to be acknowledged, whether each stream is whole and in order, what the process grows
by, and how long an event of one more table takes that is new meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from brokers import Mosquitto, subscribed
from test_mqtt import gateway

from gateway.health import memory
from gateway.store import Entry

EVENTS_A_PLY = 3
BATCH = 500


def event(table: str, seq: int) -> Entry:
    """As large as a move."""
    payload = json.dumps({"seq": seq, "table": table, "filling": "x" * 400}).encode()
    return Entry(table, "public", seq, f"hall/table/{table}/event/move", payload)


def listening(port: int, heard: Path) -> subprocess.Popen[bytes]:
    """A subscriber of its own process, that writes what it hears into a file."""
    command = ["mosquitto_sub", "-V", "5", "-q", "1", "-p", str(port), "-t", "hall/table/+/event/#"]
    with heard.open("wb") as file:
        return subprocess.Popen(command, stdout=file)


def in_order(heard: Path) -> dict[str, int]:
    """The last number of each stream, if each came in its order."""
    last: dict[str, int] = {}
    for line in heard.read_text().splitlines():
        said = json.loads(line)
        # What is repeated after a lost connection is repeated from there on.
        assert said["seq"] <= last.get(said["table"], 0) + 1
        last[said["table"]] = said["seq"]
    return last


async def drain(tables: int, plies: int, directory: Path) -> None:
    """Wait, start, and prove."""
    (directory / "broker").mkdir()
    broker = Mosquitto(directory / "broker")
    broker.extra += "max_inflight_messages 100\n"
    number = plies * EVENTS_A_PLY
    async with gateway(directory, broker.port) as gate:
        names = [str(table) for table in range(1, tables + 1)]
        gate.connection.serve([*names, "new"])
        for first in range(1, number + 1, BATCH):
            span = range(first, min(first + BATCH, number + 1))
            entries = [event(name, seq) for seq in span for name in names]
            await gate.journal.append("1", entries, {"seq": span[-1]})
            gate.connection.offer(entries)
        before = memory()
        broker.start()
        listener = listening(broker.port, Path(directory, "heard"))
        async with subscribed(broker.port, "hall/table/new/event/#") as subscriber:
            began, late, fresh = time.monotonic(), [0.0], 0
            while gate.connection.backlog > 0 or not fresh:
                fresh, told = fresh + 1, time.monotonic()
                await gate.publish(event("new", fresh))
                await subscriber.until(lambda s, n=fresh: len(s.messages) >= n, 60)
                late.append(time.monotonic() - told)
                await asyncio.sleep(0.2)
            took, grown = time.monotonic() - began, (memory() - before) / 1e6
        await asyncio.sleep(2)
        listener.terminate()
    last = in_order(Path(directory, "heard"))
    assert last == dict.fromkeys(names, number) | {"new": fresh}
    print(
        f"{number * tables} events of {tables} tables: {took:.1f} s, {number * tables / took:.0f} a second, in order;"
    )
    print(f"{fresh} new ones meanwhile, most {max(late):.2f} s to the subscriber; {grown:.1f} MB more")
    broker.kill()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=16)
    parser.add_argument("--plies", type=int, default=700, help="of each table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.home()) as directory:
        asyncio.run(drain(arguments.tables, arguments.plies, Path(directory)))


if __name__ == "__main__":
    main()
