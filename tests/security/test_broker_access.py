"""The whole gateway at a broker with TLS, passwords and the example's access list: who gets how far, and what leaks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import secrets
import signal
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
import pytest_asyncio
import structlog
from brokers import Subscriber, until
from hall import Board, Process
from secured import USERS, Authority, Broker, needed

from gateway import logs
from gateway.cli import main
from gateway.mqtt_client import REFUSED, ConfirmingClient
from gateway.publish import Message

pytestmark = needed("mosquitto", "mosquitto_passwd", "openssl")

RESEND = {"command": "resend", "id": "r", "by": "test", "stream": "public", "from_seq": 1, "to_seq": 10**6}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    # Passwords of their own, so that a leak of one is found by searching for it.
    running = Broker(tmp_path_factory.mktemp("hall"), {user: secrets.token_hex(12) for user in USERS})
    running.start()
    yield running
    running.stop()


def trusting(broker: Broker) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=broker.authority.certificate)


@contextlib.asynccontextmanager
async def logged_in(broker: Broker, user: str, word: str | None = None) -> AsyncIterator[ConfirmingClient]:
    """Somebody at the broker."""
    client = ConfirmingClient(
        "localhost",
        broker.port,
        username=user,
        password=broker.passwords[user] if word is None else word,
        tls_context=trusting(broker),
        protocol=aiomqtt.ProtocolVersion.V5,
        timeout=5,
    )
    client.pending_calls_threshold = 10_000
    await client.__aenter__()
    try:
        yield client
    finally:
        client.abandon()


@contextlib.asynccontextmanager
async def hearing(broker: Broker, user: str) -> AsyncIterator[Subscriber]:
    """Somebody who asks for everything, and keeps what the broker gives."""
    async with logged_in(broker, user) as client:
        subscriber = Subscriber(client)
        await client.subscribe("#", qos=1)
        task = asyncio.create_task(subscriber.collect())
        yield subscriber
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def refused(client: ConfirmingClient, topic: str, payload: bytes = b"x") -> bool:
    """Whether the broker says no to a publication."""
    code = await asyncio.wait_for(client.confirm(Message(topic, payload, False)), 5)
    return code is None or code >= REFUSED


def of_process(pid: int, name: str) -> bytes:
    """What everybody (`ps`) or its user may read of a process."""
    return Path(f"/proc/{pid}/{name}").read_bytes()


def sockets(pid: int) -> set[str]:
    """Inodes of its sockets."""
    links = [str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()]
    return {link[8:-1] for link in links if link.startswith("socket:[")}


def listening() -> set[str]:
    """Inodes of all sockets of the machine that take what comes."""
    found = set()
    for table, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        with contextlib.suppress(FileNotFoundError):
            rows = Path("/proc/net", table).read_text().splitlines()[1:]
            found |= {row.split()[9] for row in rows if row.split()[3] == state}
    return found


class Gateway:
    """pi-a with its board and its password."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        self.process = Process(folder, broker.port)
        self.board = Board(folder / "board", pause_s=0.05)
        self.secret = folder / "mqtt.password"
        self.secret.write_text(broker.passwords["gw-pi-a"] + "\n")
        self.secret.chmod(0o600)
        self.process.state = folder / "state-pi-a"
        self.process.config.write_text(broker.configuration("pi-a", "1", self.board.name, self.secret))


@pytest_asyncio.fixture
async def gateway(broker: Broker, tmp_path: Path) -> AsyncIterator[Gateway]:
    made = Gateway(broker, tmp_path)
    made.board.start()
    yield made
    made.process.kill()
    await made.board.stop()


async def test_the_gateway_works_and_tells_no_secret(broker: Broker, gateway: Gateway) -> None:
    """It plays, obeys the arbiter, keeps from spectators what is the arbiter's; and its password is nowhere."""
    gateway.board.playing = True
    async with hearing(broker, "arbiter") as arbiter, hearing(broker, "spectator") as spectator:
        gateway.process.start()
        await arbiter.until(lambda s: s.payloads("hall/table/1/event/move"), 30)
        assert not await refused(arbiter.client, "hall/arbiter/1/command", json.dumps(RESEND).encode())
        await arbiter.until(lambda s: s.payloads("hall/arbiter/1/reply"))
        await arbiter.until(lambda s: s.payloads("hall/gateway/pi-a/health"), 15)
        await spectator.until(lambda s: s.payloads("hall/table/1/event/move"))
        command_line, environment = (of_process(gateway.process.pid, name) for name in ("cmdline", "environ"))
        gateway.process.signal(signal.SIGTERM)
        assert 0 == gateway.process.wait(10)
        await arbiter.until(lambda s: s.payloads("hall/gateway/pi-a/status")[-1]["state"] == "offline")
    said = [m.payload for m in arbiter.messages] + [str(m.properties).encode() for m in arbiter.messages]
    kept = [path.read_bytes() for path in gateway.process.state.rglob("*") if path.is_file()]
    logged = gateway.process.log.read_bytes()
    word = broker.passwords["gw-pi-a"].encode()

    assert {"table"} == {topic.split("/")[1] for topic in spectator.topics()}
    assert arbiter.payloads("hall/arbiter/1/reply")[0]["ok"]
    assert len(kept) > 2 and b"connected to the broker" in logged
    assert [] == [text for text in (*said, *kept, logged, command_line, environment) if word in text]


async def test_a_wrong_password_is_told_without_it(broker: Broker, gateway: Gateway) -> None:
    """Neither the wrong nor the right one is in what is logged."""
    wrong = secrets.token_hex(12)
    gateway.secret.write_text(wrong)
    gateway.process.start()
    await until(lambda: b"no broker" in gateway.process.log.read_bytes(), 30)
    logged = gateway.process.log.read_text()

    assert re.search("(?i)not authori[sz]ed|bad user name", logged)
    assert wrong not in logged and broker.passwords["gw-pi-a"] not in logged


async def test_a_stranger_gets_nowhere(broker: Broker, tmp_path: Path) -> None:
    """Without TLS, without a password, with a guessed one, or taking the broker for another: no connection."""
    attempts: list[dict[str, Any]] = [
        {"tls_context": None},
        {"username": None, "password": None},
        {"password": "guess"},
        {"username": "gw-pi-c"},
        {"tls_context": ssl.create_default_context(cafile=Authority(tmp_path, "other").certificate)},
    ]
    for attempt in attempts:
        options = {"username": "gw-pi-a", "password": broker.passwords["gw-pi-b"], "tls_context": trusting(broker)}
        client = ConfirmingClient("localhost", broker.port, timeout=3, **(options | attempt))
        with pytest.raises((aiomqtt.MqttError, ssl.SSLError)):
            try:
                await client.__aenter__()
            finally:
                client.abandon()


async def test_a_spectator_only_sees(broker: Broker) -> None:
    """Nothing that they publish is taken; of the arbiter's side and the gateways they are sent nothing."""
    topics = (
        "hall/arbiter/1/command",
        "hall/table/1/event/move",
        "hall/table/1/game",
        "hall/gateway/pi-a/status",
        "hall/arbiter/1/alerts",
        "elsewhere",
        "$SYS/broker",
    )
    async with hearing(broker, "spectator") as spectator, logged_in(broker, "gw-pi-a") as pi_a:
        assert [True] * len(topics) == [await refused(spectator.client, topic) for topic in topics]
        for topic in ("hall/arbiter/1/event/alert", "hall/gateway/pi-a/health", "hall/table/1/event/move"):
            assert not await refused(pi_a, topic)
        await spectator.until(lambda s: "hall/table/1/event/move" in s.topics())
        await asyncio.sleep(0.2)

    assert {"table"} == {topic.split("/")[1] for topic in spectator.topics()}


async def test_a_screen_cannot_write_and_an_arbiter_only_commands(broker: Broker) -> None:
    """An arbiter does not forge what a table says."""
    async with logged_in(broker, "screen") as screen, logged_in(broker, "arbiter") as arbiter:
        for topic in ("hall/arbiter/1/command", "hall/table/1/event/move", "hall/gateway/pi-a/status"):
            assert await refused(screen, topic)
        for topic in ("hall/table/1/event/move", "hall/arbiter/1/reply", "hall/gateway/pi-a/status"):
            assert await refused(arbiter, topic)


async def test_another_gateway_touches_nothing_of_ours(broker: Broker) -> None:
    """It can neither speak for us, nor command our tables, nor hear our commands; its own it can."""
    async with logged_in(broker, "gw-pi-b") as pi_b, hearing(broker, "gw-pi-b") as ears:
        for topic in (
            "hall/gateway/pi-a/status",
            "hall/table/1/event/move",
            "hall/table/1/game",
            "hall/arbiter/1/alerts",
            "hall/arbiter/1/reply",
            "hall/arbiter/1/command",
            "hall/arbiter/2/command",
        ):
            assert await refused(pi_b, topic), topic
        for topic in ("hall/gateway/pi-b/status", "hall/table/2/event/move", "hall/arbiter/2/reply"):
            assert not await refused(pi_b, topic), topic
        async with logged_in(broker, "arbiter") as arbiter:
            # Not a word that the gateway of another test would understand.
            assert not await refused(arbiter, "hall/arbiter/1/command", b"{}")
            assert not await refused(arbiter, "hall/arbiter/2/command", b"{}")
        await ears.until(lambda s: "hall/arbiter/2/command" in s.topics())

    assert {"hall/gateway/pi-b/status", "hall/arbiter/2/command"} == set(ears.topics())


async def test_a_gateway_hears_of_its_double(broker: Broker) -> None:
    """The example lets a gateway read its own status, without which a second one of its id stays unseen."""
    async with hearing(broker, "gw-pi-a") as pi_a, logged_in(broker, "gw-pi-a") as double:
        assert not await refused(double, "hall/gateway/pi-a/status")
        await pi_a.until(lambda s: "hall/gateway/pi-a/status" in s.topics())


async def test_a_client_certificate_is_shown_where_it_is_wanted(broker: Broker, gateway: Gateway) -> None:
    """The listener that wants one lets nobody in without, and the gateway with its own."""
    with (
        pytest.raises(ssl.SSLError),
        socket.create_connection(("localhost", broker.certified), timeout=3) as plain,
        trusting(broker).wrap_socket(plain, server_hostname="localhost") as secured,
    ):
        secured.recv(1)
    certificate, key = broker.authority.sign("gw-pi-a", "DNS:pi-a")
    text = broker.configuration("pi-a", "1", gateway.board.name, gateway.secret).replace(
        f"port = {broker.port}", f"port = {broker.certified}"
    )
    with_certificate = text.replace("\n[[table]]", f'cert_file = "{certificate}"\nkey_file = "{key}"\n[[table]]')
    gateway.process.config.write_text(with_certificate)
    gateway.process.start()
    await until(lambda: b"connected to the broker" in gateway.process.log.read_bytes(), 30)


async def test_a_credential_of_the_unit_is_the_password(broker: Broker, gateway: Gateway, tmp_path: Path) -> None:
    """From $CREDENTIALS_DIRECTORY, with no password file in the configuration."""
    folder = tmp_path / "credentials"
    folder.mkdir()
    gateway.secret.rename(folder / "mqtt.password")
    gateway.process.config.write_text(re.sub("(?m)^password_file.*$", "", gateway.process.config.read_text()))
    gateway.process.start({"CREDENTIALS_DIRECTORY": str(folder)})
    await until(lambda: b"connected to the broker" in gateway.process.log.read_bytes(), 30)


async def test_nothing_listens(broker: Broker, gateway: Gateway) -> None:
    """A gateway at a hall's broker opens no port for anybody."""
    gateway.process.start()
    await until(lambda: b"connected to the broker" in gateway.process.log.read_bytes(), 30)
    own = sockets(gateway.process.pid)

    assert own
    assert set() == own & listening()


def test_no_error_message_shows_a_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A password in the wrong place of the configuration is not repeated by the message about it."""
    word = secrets.token_hex(12)
    for line in (f'password = "{word}"', f'pasword_file = "{word}"', f'[mqtt.tls]\nkey = "{word}"'):
        path = tmp_path / "config.toml"
        path.write_text(f"[mqtt]\n{line}\n")
        code = main(["check-config", "-c", str(path)])
        printed = capsys.readouterr()

        assert 78 == code
        assert word not in printed.out + printed.err


def test_a_traceback_shows_no_variables(capsys: pytest.CaptureFixture[str]) -> None:
    """A password may be one; neither rendering of the logs shows more than the lines of code."""
    word = secrets.token_hex(12)
    try:
        for environment in ({}, {"JOURNAL_STREAM": "8:1"}):
            logs.set_up(environment, stream=sys.stdout)
            try:
                hidden = word
                raise RuntimeError(len(hidden))
            except RuntimeError as bug:
                structlog.get_logger("test").error("a loop failed", exc_info=bug)
    finally:
        structlog.reset_defaults()
        logging.basicConfig(handlers=[], force=True)
    out = capsys.readouterr().out

    assert 2 == out.count("a loop failed")
    assert word not in out
