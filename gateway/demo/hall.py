"""Everything that the demo runs, in one directory that is gone afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

from gateway import logs
from gateway.config import BoardConfig, Config, MqttConfig, TableConfig
from gateway.daemon import Daemon
from gateway.demo.board import PtyBoard
from gateway.demo.desk import assign_players
from gateway.demo.scripts import TABLES

GATEWAY = "demo"
SEED = 1


@contextlib.asynccontextmanager
async def demo_hall() -> AsyncIterator[MqttConfig]:
    """Run boards, gateway and broker for the length of the block; yield where to subscribe.

    Raises:
        GatewayError: it cannot start, as when mosquitto is not installed.
    """
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="board-gateway-demo-")))
        # It would disturb the view, and is of interest only where the gateway has failed by a bug.
        log = io.StringIO()
        logs.set_up({}, stream=log)
        boards = [PtyBoard(table, Random(f"{SEED} {table.id}")) for table in TABLES]
        for board in boards:
            stack.callback(board.close)
        daemon = Daemon(_config(directory, [board.path for board in boards]))
        await daemon.start()
        broker = daemon.connection.config
        desk = asyncio.create_task(assign_players(broker.host, broker.port, broker.root, TABLES))
        try:
            yield broker
        finally:
            desk.cancel()
            await asyncio.gather(desk, return_exceptions=True)
            await daemon.shut_down()
            if daemon.failures:
                print(log.getvalue(), file=sys.stderr)


def _config(directory: Path, paths: list[str]) -> Config:
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
    return Config(GATEWAY, directory / "state", 1.0, MqttConfig(embedded=True), tables)
