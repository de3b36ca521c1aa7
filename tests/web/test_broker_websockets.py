"""The private broker takes pages in a browser too, on this machine only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiomqtt
from brokers import free_port

from gateway.broker import EmbeddedBroker


async def test_a_page_is_served_by_websockets(tmp_path: Path) -> None:
    """What is retained by TCP is read by websocket."""
    broker = EmbeddedBroker(tmp_path, free_port(), free_port())
    await broker.start()
    try:
        async with aiomqtt.Client("127.0.0.1", broker.port, protocol=aiomqtt.ProtocolVersion.V5) as client:
            await client.publish("t", b"kept", qos=1, retain=True)
        options = {"transport": "websockets", "protocol": aiomqtt.ProtocolVersion.V5}
        async with aiomqtt.Client("127.0.0.1", broker.websockets, **options) as page:
            await page.subscribe("t")
            payload = (await asyncio.wait_for(anext(aiter(page.messages)), 5)).payload
    finally:
        await broker.stop()

    assert b"kept" == payload


async def test_it_listens_on_this_machine_only(tmp_path: Path) -> None:
    """Mosquitto 2.0.11 would bind a websocket listener to every address, if it were not told the family."""
    broker = EmbeddedBroker(tmp_path, free_port(), free_port())
    await broker.start()
    try:
        own = [address for address in listening() if address[1] in (broker.port, broker.websockets)]
    finally:
        await broker.stop()

    assert {"0100007F"} == {address for address, _ in own}


def listening() -> list[tuple[str, int]]:
    """Addresses, as the kernel writes them, and ports on which somebody listens."""
    lines = (Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()).splitlines()
    words = [line.split() for line in lines]
    locals_ = [word[1].rpartition(":") for word in words if len(word) > 3 and word[3] == "0A"]
    return [(address, int(port, 16)) for address, _, port in locals_]


async def test_two_brokers_share_no_port(tmp_path: Path) -> None:
    """The usual port is taken if it is free, else another."""
    wanted = free_port()
    first = EmbeddedBroker(tmp_path / "a", free_port(), wanted)
    second = EmbeddedBroker(tmp_path / "b", free_port(), wanted)
    await first.start()
    await second.start()
    await first.stop()
    await second.stop()

    assert wanted == first.websockets != second.websockets
