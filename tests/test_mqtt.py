"""The connection against a real broker: refused, killed, commanded, taken over."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from brokers import Mosquitto, descriptors, subscribed, until
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from gateway import mqtt
from gateway.config import MqttConfig
from gateway.journal import Journal
from gateway.mqtt import Connection, Incoming
from gateway.mqtt_client import ConfirmingClient
from gateway.publish import Message
from gateway.store import Entry

STATUS = "hall/gateway/g/status"
ONLINE = Message(STATUS, b'{"v":1,"state":"online","version":"0","since":"x"}', True)
OFFLINE = Message(STATUS, b'{"v":1,"state":"offline","version":"0","since":null}', True)


def event(seq: int, table: str = "1") -> Entry:
    return Entry(table, "public", seq, f"hall/table/{table}/event/move", json.dumps({"seq": seq}).encode())


class Gateway:
    """A journal and a connection, as the daemon joins them."""

    def __init__(self, journal: Journal, port: int, online: Message = ONLINE, **settings: Any) -> None:
        self.journal = journal
        self.commands: list[Incoming] = []
        self.connection = Connection(
            MqttConfig(host="127.0.0.1", port=port, **settings),
            "g",
            journal,
            online=online,
            offline=OFFLINE,
            on_command=self.commands.append,
        )
        self.connection.serve(["1"])

    async def publish(self, entry: Entry) -> None:
        await self.journal.append(entry.table, [entry], {"seq": entry.seq})
        self.connection.offer([entry])


@contextlib.asynccontextmanager
async def gateway(path: Path, port: int, **settings: Any) -> AsyncIterator[Gateway]:
    journal = Journal(path / "journal.sqlite3", 24)
    await journal.open()
    made = Gateway(journal, port, **settings)
    running = asyncio.create_task(made.connection.run())
    try:
        yield made
    finally:
        await made.connection.stop(2)
        await asyncio.wait_for(running, 5)
        await journal.close()


@contextlib.asynccontextmanager
async def confirming(port: int) -> AsyncIterator[ConfirmingClient]:
    client = ConfirmingClient("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5)
    await client.__aenter__()
    try:
        yield client
    finally:
        client.abandon()


async def test_tables_taken_over_while_the_broker_dies(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """The connection that is lost under the new subscription is no error: the next one subscribes."""
    failed: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: failed.append(context))
    async with gateway(tmp_path, mosquitto.port) as gate:
        await until(lambda: gate.connection.connected)
        mosquitto.kill()
        # In every turn of the loop, so in the one too in which the socket is closed and nobody has said so yet.
        while gate.connection.connected:
            gate.connection.serve(["1", "2", "3"])
            await asyncio.sleep(0)
        mosquitto.start()
        await until(lambda: gate.connection.connected)
        async with subscribed(mosquitto.port) as subscriber:
            await subscriber.client.publish("hall/arbiter/3/command", "{}", qos=1)
            await until(lambda: gate.commands)
    gc.collect()

    assert [] == failed
    assert ["3"] == [command.table for command in gate.commands]


async def test_a_refusal_by_access_list_is_noticed(mosquitto: Mosquitto) -> None:
    """A publication that the access list forbids is answered with a failing code, not with success."""
    acl = mosquitto.directory / "acl"
    acl.write_text("topic readwrite allowed\n")
    mosquitto.kill()
    mosquitto.extra = f"allow_anonymous true\nacl_file {acl}\n"
    mosquitto.start()
    async with confirming(mosquitto.port) as client:
        allowed = await client.confirm(Message("allowed", b"", False))
        refused = await client.confirm(Message("forbidden", b"", False))

    assert allowed == 0x10  # no matching subscribers: a success
    assert refused == 0x87


async def test_a_killed_broker_fails_all_pending_within_a_second(mosquitto: Mosquitto) -> None:
    """Whoever waits for an answer hears that none will come; nothing is taken for acknowledged."""
    async with confirming(mosquitto.port) as client:
        os.kill(mosquitto.pid, 19)  # SIGSTOP: it takes bytes and answers none
        answers = [asyncio.ensure_future(client.confirm(Message("t", b"", False))) for _ in range(15)]
        await asyncio.sleep(0.1)
        mosquitto.kill()
        killed = time.monotonic()
        await client.lost()
        client.abandon()
        results = await asyncio.gather(*answers)

    assert [None] * 15 == results
    assert time.monotonic() - killed < 1.0


async def test_order_on_connect_is_status_then_retained_then_events(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """What was journalled and retained before the first connect arrives in the contract's order."""
    port = mosquitto.port
    mosquitto.kill()
    async with gateway(tmp_path, port) as gate:
        for seq in range(1, 301):
            await gate.publish(event(seq))
        gate.connection.retain([Message("hall/table/1/position", b"{}", True)])
        mosquitto.start()
        async with subscribed(port) as subscriber:
            await subscriber.until(lambda s: len(s.payloads("hall/table/1/event")) >= 300)

        topics = subscriber.topics()
        events = [p["seq"] for p in subscriber.payloads("hall/table/1/event")]

        assert list(range(1, 301)) == events
        assert topics.index(STATUS) < topics.index("hall/table/1/position") < topics.index("hall/table/1/event/move")


async def test_no_event_is_lost_to_a_broker_that_is_killed_again_and_again(
    mosquitto: Mosquitto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five kill -9 of the broker in mid-stream; the subscriber, which reconnects too, sees every seq in order."""
    monkeypatch.setattr(mqtt, "RECONNECT_S", (0.05, 0.2))
    received: list[int] = []

    async def listen() -> None:
        while True:
            with contextlib.suppress(aiomqtt.MqttError):
                async with subscribed(mosquitto.port, "hall/table/#") as subscriber:
                    try:
                        await subscriber.client._disconnected
                    finally:
                        received.extend(p["seq"] for p in subscriber.payloads("hall/table/1/event"))
            await asyncio.sleep(0.02)

    listener = asyncio.create_task(listen())
    async with gateway(tmp_path, mosquitto.port) as gate:
        for seq in range(1, 2001):
            await gate.publish(event(seq))
            if seq % 400 == 200:
                mosquitto.kill()
                await asyncio.sleep(0.1)
                mosquitto.start()
        await until(lambda: gate.connection.backlog == 0)
        await asyncio.sleep(0.2)
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)
        # The subscriber's own connection dies with the broker, so what it missed is asked again.
        missing = sorted(set(range(1, 2001)) - set(received))
        async with subscribed(mosquitto.port, "hall/table/#") as again:
            if missing:
                await gate.connection.resend(("1", "public"), missing[0], missing[-1])
                await again.until(lambda s: {p["seq"] for p in s.payloads("hall/")} >= set(missing))

        last = {seq: index for index, seq in enumerate(received)}

        assert sorted(last, key=lambda seq: last[seq]) == sorted(last)


async def test_a_refused_stream_waits_and_the_others_go_on(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """An access list that forbids one table: its events are kept, said once, and come when it is allowed."""
    acl = mosquitto.directory / "acl"
    acl.write_text("topic readwrite hall/gateway/#\ntopic readwrite hall/table/2/#\ntopic read hall/#\n")
    mosquitto.kill()
    mosquitto.extra = f"allow_anonymous true\nacl_file {acl}\n"
    mosquitto.start()
    async with gateway(tmp_path, mosquitto.port) as gate, subscribed(mosquitto.port) as subscriber:
        for seq in range(1, 6):
            await gate.publish(event(seq, "1"))
            await gate.publish(event(seq, "2"))
        await subscriber.until(lambda s: len(s.payloads("hall/table/2/")) == 5)

        assert [] == subscriber.payloads("hall/table/1/")
        assert "refuses hall/table/1/" in (gate.connection.trouble or "")

        acl.write_text("topic readwrite hall/#\n")
        os.kill(mosquitto.pid, 1)  # SIGHUP: read the access list again
        await subscriber.until(lambda s: len(s.payloads("hall/table/1/")) == 5)

        assert [1, 2, 3, 4, 5] == [p["seq"] for p in subscriber.payloads("hall/table/1/")]
        assert gate.connection.trouble is None


async def test_offline_is_said_on_stop_and_by_the_will(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """A clean stop publishes offline; a lost connection has the broker publish it."""
    async with subscribed(mosquitto.port, STATUS) as subscriber:
        async with gateway(tmp_path, mosquitto.port) as gate:
            await until(lambda: gate.connection.connected)
            client = gate.connection._client
            assert client is not None
            client._client._sock.shutdown(2)  # type: ignore[union-attr]
            await subscriber.until(lambda s: len(s.messages) >= 3)
        await subscriber.until(lambda s: len(s.messages) >= 4)

    assert ["online", "offline", "online", "offline"] == [p["state"] for p in subscriber.payloads(STATUS)]


async def test_a_command_arrives_with_its_response_topic(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Commands for own tables come through, and the reply carries the correlation data."""
    async with gateway(tmp_path, mosquitto.port) as gate, subscribed(mosquitto.port, "answers") as subscriber:
        await until(lambda: gate.connection.connected)
        properties = Properties(PacketTypes.PUBLISH)
        properties.ResponseTopic = "answers"
        properties.CorrelationData = b"42"
        await subscriber.client.publish("hall/arbiter/1/command", b"{}", properties=properties)
        await subscriber.client.publish("hall/arbiter/2/command", b"{}")
        await until(lambda: gate.commands)
        gate.connection.reply(Message("answers", b"yes", False), gate.commands[0].correlation)
        await subscriber.until(lambda s: s.messages)

        assert [Incoming("1", b"{}", "answers", b"42")] == gate.commands
        assert subscriber.messages[0].properties.CorrelationData == b"42"


async def test_a_retained_command_is_ignored(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """An old ruling that the broker kept is never carried out."""
    async with subscribed(mosquitto.port, "nothing") as sender:
        await sender.client.publish("hall/arbiter/1/command", b'{"old":1}', retain=True)
        async with gateway(tmp_path, mosquitto.port) as gate:
            await until(lambda: gate.connection.connected)
            await sender.client.publish("hall/arbiter/1/command", b'{"new":1}')
            await until(lambda: gate.commands)

            assert [b'{"new":1}'] == [command.payload for command in gate.commands]


async def test_a_flood_of_commands_is_bounded(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Beyond a burst, and beyond 64 KiB, commands are refused and counted."""
    async with gateway(tmp_path, mosquitto.port) as gate:
        await until(lambda: gate.connection.connected)
        async with subscribed(mosquitto.port, "hall/arbiter/1/reply") as sender:
            await sender.client.publish("hall/arbiter/1/command", b"x" * 70_000, qos=1)
            for _ in range(60):
                await sender.client.publish("hall/arbiter/1/command", b"{}", qos=1)
            await until(lambda: gate.connection.commands_dropped > 30)
            await sender.until(lambda s: len(s.messages) > 30)

            assert len(gate.commands) < 30
            assert sender.payloads("")[0]["ok"] is False


async def test_a_second_gateway_with_the_same_id_gives_way(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """The one that came later says why it is not connected, publishes nothing more, and the first goes on."""
    (tmp_path / "other").mkdir()
    later = Message(STATUS, b'{"v":1,"state":"online","version":"0","since":"y"}', True)
    async with gateway(tmp_path, mosquitto.port) as first, subscribed(mosquitto.port) as subscriber:
        await until(lambda: first.connection.connected)
        async with gateway(tmp_path / "other", mosquitto.port, online=later) as second:
            await second.publish(event(1))
            await until(lambda: "another gateway" in (second.connection.trouble or ""))
            await first.publish(event(7))
            await subscriber.until(lambda s: s.payloads("hall/table/1"))

            assert first.connection.connected
            assert not second.connection.connected
            assert [{"seq": 7}] == subscriber.payloads("hall/table/1")
            assert json.loads(ONLINE.payload) == subscriber.payloads(STATUS)[-1]


async def test_reconnecting_leaks_nothing(
    mosquitto: Mosquitto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File descriptors and tasks are the same after many lost connections and refused attempts."""
    monkeypatch.setattr(mqtt, "RECONNECT_S", (0.01, 0.02))
    async with gateway(tmp_path, mosquitto.port) as gate:
        counts = []
        for _ in range(15):
            await until(lambda: gate.connection._client is not None)
            await asyncio.sleep(0.05)
            counts.append((descriptors(), len(asyncio.all_tasks())))
            mosquitto.kill()
            await until(lambda: gate.connection._client is None)
            await asyncio.sleep(0.05)
            mosquitto.start()

        assert len(set(counts[3:])) <= 2, counts


def test_the_password_comes_from_its_file_or_a_credential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[mqtt] password_file first, else the unit's credential."""
    (tmp_path / "mqtt.password").write_text("from credential\n")
    (tmp_path / "file").write_text("from file\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))

    assert mqtt.password(MqttConfig(username="u", password_file=tmp_path / "file")) == "from file"
    assert mqtt.password(MqttConfig(username="u")) == "from credential"
    assert mqtt.password(MqttConfig()) is None
