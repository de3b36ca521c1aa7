"""Everything that the demo runs, in one directory that is gone afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from gateway import logs
from gateway.broker import ADDRESS, EmbeddedBroker
from gateway.config import BoardConfig, Config, MqttConfig, TableConfig, WebConfig
from gateway.daemon import Daemon
from gateway.demo.board import PtyBoard
from gateway.demo.desk import assign_players
from gateway.demo.scripts import TABLES
from gateway.mqtt_client import end
from gateway.webserver import WebError, WebServer

GATEWAY = "demo"
SEED = 1
MQTT_PORT = 1883
"""Where programs look first; another is taken if a broker is there already."""


@dataclass(frozen=True, slots=True)
class DemoHall:
    """Where the hall can be seen."""

    broker: MqttConfig
    page: str
    """The arbiter's page."""


@contextlib.asynccontextmanager
async def demo_hall() -> AsyncIterator[DemoHall]:
    """Run boards, gateway, broker and page for the length of the block.

    Raises:
        GatewayError: it cannot start, as when mosquitto is not installed.
    """
    async with contextlib.AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="board-gateway-demo-")))
        # It would disturb the view, and is of interest only where the gateway has failed by a bug.
        log = io.StringIO()
        logs.set_up({}, stream=log)
        boards = [PtyBoard(table, Random(f"{SEED} {table.id}")) for table in TABLES]
        for board in boards:
            stack.callback(board.close)
        broker = EmbeddedBroker(directory, MQTT_PORT)
        await broker.start()
        stack.push_async_callback(broker.stop)
        mqtt = MqttConfig(ADDRESS, broker.port)
        page = _page(mqtt.root, broker.websockets)
        stack.callback(page.stop)
        daemon = Daemon(_config(directory, mqtt, [board.path for board in boards]))
        await daemon.start()
        stack.push_async_callback(_shut_down, daemon, log)
        stack.push_async_callback(end, asyncio.create_task(assign_players(mqtt.host, mqtt.port, mqtt.root, TABLES)))
        yield DemoHall(mqtt, page.url)


def _config(directory: Path, mqtt: MqttConfig, paths: list[str]) -> Config:
    """What a hall would write into its configuration."""
    tables = tuple(
        TableConfig(
            table.id,
            table.game,
            BoardConfig("dgt", path),
            regulations=table.regulations,
            time_control=table.time_control,
        )
        for table, path in zip(TABLES, paths, strict=True)
    )
    return Config(GATEWAY, directory / "state", 1.0, mqtt, tables)


def _page(root: str, broker_port: int) -> WebServer:
    """Serve the page where the documentation says, or on any port if something else is there."""
    try:
        server = WebServer(WebConfig(), root, broker_port)
    except WebError:
        server = WebServer(WebConfig(listen=f"{ADDRESS}:0"), root, broker_port)
    server.start()
    return server


async def _shut_down(daemon: Daemon, log: io.StringIO) -> None:
    await daemon.shut_down()
    if daemon.failures:
        print(log.getvalue(), file=sys.stderr)
