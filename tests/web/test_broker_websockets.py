"""The private broker takes pages in a browser too, on this machine only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiomqtt

from conftest import free_port
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
        sockets = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    finally:
        await broker.stop()
    listening = [line.split()[1] for line in sockets.splitlines() if len(line.split()) > 3 and line.split()[3] == "0A"]
    own = [address for address in listening if int(address.rpartition(":")[2], 16) in (broker.port, broker.websockets)]

    assert {"0100007F"} == {address.rpartition(":")[0] for address in own}


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
