"""What 500 tables ask of one mosquitto: `python -m benchmarks.broker_load [--gateways 32] [--rate 1000]`.

Each gateway has its connection and publishes with QoS 1, as the real ones do: of ten messages four are events and six
retained state, on 4,000 topics in all, of 600 bytes, now and then a game of 6 KB. The broker keeps its state on disk
every 30 s, as the example has it. Told: what was acknowledged, how fast, and the broker's CPU and memory.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import aiomqtt
from brokers import Mosquitto

from benchmarks.scale import cpu_seconds, memory_mb, quantile
from gateway.mqtt_client import ConfirmingClient
from gateway.publish import Message

TOPICS = 4000


def message(number: int) -> Message:
    """The next of a hall's mixture."""
    retained = number % 10 >= 4
    kind = "state" if retained else "event"
    return Message(f"hall/table/{number % TOPICS}/{kind}", bytes(6000 if number % 50 == 9 else 600), retained)


async def publish(
    client: ConfirmingClient, first: int, step: int, rate: float, until: float, took: list[float]
) -> None:
    """Publish at a steady rate, whether or not the broker keeps up."""
    number, due = first, time.monotonic()
    while due < until:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        at = time.monotonic()
        client.offer(message(number), lambda code, at=at: took.append(time.monotonic() - at))  # type: ignore[misc]
        number, due = number + step, due + 1 / rate


async def load(gateways: int, rate: float, seconds: float, directory: Path) -> None:
    """Publish and tell."""
    broker = Mosquitto(directory)
    broker.extra += f"max_inflight_messages 100\\npersistence true\\npersistence_location {directory}/\\n"
    broker.extra += "autosave_interval 30\\n"
    broker.start()
    clients = [ConfirmingClient("127.0.0.1", broker.port, protocol=aiomqtt.ProtocolVersion.V5) for _ in range(gateways)]
    for client in clients:
        await client.__aenter__()
    took: list[float] = []
    used, began = cpu_seconds(broker.pid), time.monotonic()
    each = rate / gateways
    await asyncio.gather(
        *(publish(client, n, gateways, each, began + seconds, took) for n, client in enumerate(clients))
    )
    await asyncio.sleep(1)
    spent = time.monotonic() - began
    took.sort()
    print(f"{len(took)} acknowledged of {gateways} gateways in {spent:.0f} s, {len(took) / spent:.0f} a second;")
    print(
        f"p50 {quantile(took, 0.5) * 1000:.1f} ms, p99 {quantile(took, 0.99) * 1000:.0f}, most {took[-1] * 1000:.0f};"
    )
    print(
        f"the broker: {100 * (cpu_seconds(broker.pid) - used) / spent:.0f} % of a core, {memory_mb(broker.pid):.0f} MB"
    )
    for client in clients:
        client.abandon()
    broker.kill()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateways", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1000, help="messages a second, of all")
    parser.add_argument("--seconds", type=float, default=70)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.home()) as directory:
        asyncio.run(load(arguments.gateways, arguments.rate, arguments.seconds, Path(directory)))


if __name__ == "__main__":
    main()
