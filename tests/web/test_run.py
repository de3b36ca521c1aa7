"""`run` with [web]: the daemon serves the page, and whoever reaches the page reaches its private broker."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from brokers import Mosquitto, free_port, subscribed, until
from hall import START_S, Board, Process

from gateway.config import load
from gateway.registry import DRIVERS

EMBEDDED = """
[gateway]
id = "g"
state_dir = "{state}"
[mqtt]
embedded = true
port = {port}
[web]
listen = "{listen}"
{more}
[[table]]
id = "1"
[table.board]
driver = "generic"
port = "{board}"
"""
ELSEWHERE = "127.0.0.2"
"""This machine as a phone would name it: an address that is not the default one."""


def fetched(url: str, trusted: ssl.SSLContext | None = None) -> bytes | None:
    """What is there; None as long as nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=2, context=trusted) as answer:
            return bytes(answer.read())
    except (urllib.error.URLError, OSError):
        return None


async def served(url: str, trusted: ssl.SSLContext | None = None) -> dict[str, Any]:
    """The page's settings, once it is served."""
    await until(lambda: fetched(f"{url}/hall.json", trusted) is not None, 20)
    return dict(json.loads(fetched(f"{url}/hall.json", trusted) or b""))


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """For `localhost`, and its key."""
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    name = ("-addext", "subjectAltName=DNS:localhost")
    subprocess.run([*words.split(), *name, "-out", files[0], "-keyout", files[1]], capture_output=True, check=True)
    return files


def configure(daemon: Process, board: Board, listen: str, more: str = "") -> None:
    text = EMBEDDED.format(state=daemon.state, port=free_port(), listen=listen, more=more, board=board.name)
    daemon.config.write_text(text)


async def test_a_phone_finds_the_page_and_the_broker_behind_it(daemon: Process, board: Board) -> None:
    """By whatever address it reached the page; the board's position comes by websocket. SIGTERM ends it all with 0."""
    port = free_port()
    configure(daemon, board, f"0.0.0.0:{port}")
    daemon.start()
    settings = await served(f"http://{ELSEWHERE}:{port}")

    assert settings["broker_url"] is None

    options: dict[str, Any] = {"transport": "websockets", "protocol": aiomqtt.ProtocolVersion.V5}
    async with aiomqtt.Client(ELSEWHERE, settings["broker_port"], **options) as page:
        await page.subscribe("hall/table/1/link")
        async with asyncio.timeout(10):
            async for message in page.messages:
                if json.loads(message.payload)["board"] == "up":
                    break
    daemon.signal(signal.SIGTERM)

    assert 0 == await asyncio.to_thread(daemon.wait, 10)
    assert fetched(f"http://{ELSEWHERE}:{port}/") is None


async def test_without_another_address_nobody_else_reaches_either(daemon: Process, board: Board) -> None:
    """The default is this machine only, for the page and for the private broker."""
    port = free_port()
    configure(daemon, board, f"127.0.0.1:{port}")
    daemon.start()
    settings = await served(f"http://127.0.0.1:{port}")

    for taken in (port, settings["broker_port"]):
        with pytest.raises(ConnectionRefusedError), socket.create_connection((ELSEWHERE, taken), timeout=2):
            pass


async def test_a_taken_address_stops_no_board(mosquitto: Mosquitto, daemon: Process, board: Board) -> None:
    """The page's port is another program's: said in the log and in the health; the table is served all the same."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        daemon.configure({"1": board.name})
        with daemon.config.open("a") as file:
            file.write(f'[web]\nlisten = "127.0.0.1:{other.getsockname()[1]}"\n')
        async with subscribed(mosquitto.port) as subscriber:
            daemon.start()
            await subscriber.until(
                lambda s: [p for p in s.payloads("hall/table/1/link") if p["board"] == "up"], START_S
            )
            await until(lambda: "the page is not served" in daemon.log.read_text(), 30)

    assert "Address already in use" in daemon.log.read_text()
    assert "Traceback" not in daemon.log.read_text()


async def test_with_tls_the_private_broker_has_it_too(
    daemon: Process, board: Board, certificate: tuple[Path, Path]
) -> None:
    """A page that came by https may not speak to a broker without TLS."""
    port = free_port()
    trusted = ssl.create_default_context(cafile=certificate[0])
    tls = '[web.tls]\ncert_file = "{}"\nkey_file = "{}"'.format(*certificate)
    configure(daemon, board, f"127.0.0.1:{port}", tls)
    daemon.start()
    settings = await served(f"https://localhost:{port}", trusted)
    options: dict[str, Any] = {"transport": "websockets", "protocol": aiomqtt.ProtocolVersion.V5}
    async with aiomqtt.Client("localhost", settings["broker_port"], tls_context=trusted, **options) as page:
        await page.subscribe("hall/gateway/g/status")
        message = await asyncio.wait_for(anext(aiter(page.messages)), 10)

    assert "online" == json.loads(message.payload)["state"]


# --- the page without boards ------------------------------------------------------------------------------------


@pytest.fixture
def hall(tmp_path: Path) -> Path:
    """A configuration that serves the page."""
    path = tmp_path / "hall.toml"
    path.write_text(
        f'[mqtt]\nroot = "zaal"\n[web]\nlisten = "127.0.0.1:{free_port()}"\nbroker_url = "wss://broker.hall.lan:9001"\n'
        'languages = ["nl", "en"]\n[[table]]\nid = "1"\n[table.board]\ndriver = "generic"\nport = "/dev/x"\n'
    )
    return path


def board_gateway(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gateway", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


async def test_web_serves_until_it_is_told_to_stop(hall: Path) -> None:
    """On a machine that has no boards: the hall's root, broker and languages are those of the file."""
    address = load(hall, DRIVERS).web
    assert address is not None
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "gateway", "web", "-c", str(hall))
    try:
        settings = await served(f"http://{address.listen}")
    finally:
        process.terminate()

    assert 0 == await asyncio.wait_for(process.wait(), 10)
    assert ["zaal", "wss://broker.hall.lan:9001", ["nl", "en"]] == [
        settings[key] for key in ("root", "broker_url", "languages")
    ]


def test_web_writes_the_folder_for_another_server(hall: Path, tmp_path: Path) -> None:
    """The page's files with the hall's settings, into a folder that need not be there."""
    done = board_gateway("web", "-c", hall, "--export", tmp_path / "srv" / "page")
    exported = tmp_path / "srv" / "page"

    assert (os.EX_OK, "") == (done.returncode, done.stderr)
    assert "the page looks for the broker at wss://broker.hall.lan:9001" in done.stdout
    assert "zaal" == json.loads((exported / "hall.json").read_text())["root"]
    assert (exported / "vendor" / "mqtt.esm.js").exists()


def test_web_without_its_section_says_so(hall: Path) -> None:
    """There is nothing to serve, but something to write."""
    hall.write_text(re.sub(r"(?s)\[web\].*?(?=\[\[table)", "", hall.read_text()))
    done = board_gateway("web", "-c", hall)

    assert os.EX_USAGE == done.returncode
    assert "without [web] there is nothing to serve" in done.stderr
    assert os.EX_OK == board_gateway("web", "-c", hall, "--export", hall.parent / "page").returncode
