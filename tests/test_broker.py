"""The private broker as a real child: it serves, comes back when killed, and dies with its daemon."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import aiomqtt
import pytest
from brokers import free_port, until

from gateway import broker as broker_module
from gateway.broker import BrokerError, EmbeddedBroker


async def retained(port: int, payload: bytes | None = None) -> bytes:
    """Publish a retained message, or read it."""
    async with aiomqtt.Client("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5) as client:
        if payload is not None:
            await client.publish("t", payload, qos=1, retain=True)
            return payload
        await client.subscribe("t")
        return bytes((await asyncio.wait_for(anext(aiter(client.messages)), 5)).payload)


async def test_it_keeps_retained_state_over_a_restart(tmp_path: Path) -> None:
    """Stopped and started again, it still has what was retained."""
    first = EmbeddedBroker(tmp_path, free_port())
    await first.start()
    await retained(first.port, b"kept")
    await first.stop()
    second = EmbeddedBroker(tmp_path, first.port)
    await second.start()

    assert b"kept" == await retained(second.port)

    await second.stop()


async def test_a_taken_port_is_left_to_its_owner(tmp_path: Path) -> None:
    """Where something else listens already, another port is used and told."""
    with socket.create_server(("127.0.0.1", 0)) as owner:
        taken = owner.getsockname()[1]
        broker = EmbeddedBroker(tmp_path, taken)
        await broker.start()

        assert broker.port != taken

        await broker.stop()


async def test_it_is_started_again_when_killed(tmp_path: Path) -> None:
    """kill -9 of the child: it is back on the same port."""
    broker = EmbeddedBroker(tmp_path, free_port())
    await broker.start()
    port = broker.port
    assert broker._process is not None
    os.kill(broker._process.pid, signal.SIGKILL)
    await until(lambda: broker.restarts == 1)

    assert broker.port == port

    await broker.stop()


async def test_a_missing_mosquitto_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says how to install it."""
    monkeypatch.setattr(broker_module.shutil, "which", lambda *a, **k: None)

    with pytest.raises(BrokerError, match="apt-get install mosquitto"):
        await EmbeddedBroker(tmp_path, 1883).start()


DAEMON = """
import asyncio, sys
from pathlib import Path
from gateway.broker import EmbeddedBroker

async def main():
    broker = EmbeddedBroker(Path(sys.argv[1]), int(sys.argv[2]))
    await broker.start()
    print(broker._process.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_it_dies_with_a_daemon_killed_by_9(tmp_path: Path) -> None:
    """No orphan is left behind."""
    command = [sys.executable, "-c", DAEMON, str(tmp_path), str(free_port())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        child = next(int(line) for line in daemon.stdout if line.strip().isdigit())
        daemon.kill()
    gone = False
    for _ in range(100):
        with contextlib.suppress(FileNotFoundError):
            if "Z" not in Path(f"/proc/{child}/stat").read_text().split(")")[1][:3]:
                time.sleep(0.05)
                continue
        gone = True
        break

    assert gone
