"""Real parts for tests: a mosquitto on a free port, and a subscriber that keeps what it received."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiomqtt
import pytest


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def taking_connections(port: int) -> None:
    """Wait until a broker that was just started takes connections there."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise RuntimeError("mosquitto does not start")


class Mosquitto:
    """A mosquitto that can be killed and started again on the same port, with or without an access list."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.extra = "allow_anonymous true\n"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start, and wait until it takes connections."""
        binary = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
        if binary is None:
            pytest.skip("mosquitto is not installed")
        conf = self.directory / "mosquitto.conf"
        conf.write_text(f"listener {self.port} 127.0.0.1\nmax_queued_messages 100000\nuser root\n{self.extra}")
        self._process = subprocess.Popen(
            [binary, "-c", str(conf)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        taking_connections(self.port)

    def kill(self) -> None:
        """As a power cut does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Subscriber:
    """What arrived, in order."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self.client = client
        self.messages: list[aiomqtt.Message] = []
        self.heard: Callable[[aiomqtt.Message], None] = lambda message: None

    async def collect(self) -> None:
        with contextlib.suppress(aiomqtt.MqttError):
            async for message in self.client.messages:
                self.messages.append(message)
                self.heard(message)

    async def until(self, condition: Any, timeout_s: float = 10) -> None:
        """Wait until `condition(self)` holds."""
        end = time.monotonic() + timeout_s
        while not condition(self):
            assert time.monotonic() < end, f"not in {timeout_s} s; got {self.topics()[-20:]}"
            await asyncio.sleep(0.01)

    def topics(self) -> list[str]:
        return [str(message.topic) for message in self.messages]

    def payloads(self, topic: str) -> list[Any]:
        """Decoded payloads of what came on topics that begin with `topic`."""
        return [json.loads(m.payload) for m in self.messages if str(m.topic).startswith(topic) and m.payload]


@contextlib.asynccontextmanager
async def subscribed(port: int, topic: str = "hall/#", **options: Any) -> AsyncIterator[Subscriber]:
    """A subscriber to `topic` for the length of the block."""
    async with aiomqtt.Client("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5, **options) as client:
        client.pending_calls_threshold = 10_000
        subscriber = Subscriber(client)
        await client.subscribe(topic, qos=1)
        task = asyncio.create_task(subscriber.collect())
        try:
            yield subscriber
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def until(condition: Callable[[], Any], timeout_s: float = 10) -> None:
    """Wait until `condition()` holds."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"not in {timeout_s} s"
        await asyncio.sleep(0.01)


def descriptors() -> int:
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))
