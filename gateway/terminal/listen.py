"""The subscription: hands every message to a view, and comes back whenever the broker has gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import aiomqtt

from gateway.config import MqttConfig
from gateway.mqtt_client import password, tls_context
from gateway.terminal.view import Hall, Told

KEEPALIVE_S = 5
CONNECT_S = 5.0
AGAIN_S = (0.5, 5.0)
BACKLOG = 10_000
"""A hall's retained state comes at once; it is no sign of trouble."""

Say = Callable[[Told], None]


async def listen(hall: Hall, source: MqttConfig, say: Say, table: str | None = None) -> None:
    """Keep `hall` up to date for ever, with one table or all; `say` is told each event."""
    topics = ("#",) if table is None else (f"table/{table}/#", f"arbiter/{table}/#", "gateway/+/status")
    pause = AGAIN_S[0]
    while True:
        try:
            async with aiomqtt.Client(
                source.host,
                source.port,
                username=source.username,
                password=password(source),
                tls_context=tls_context(source),
                protocol=aiomqtt.ProtocolVersion.V5,
                keepalive=KEEPALIVE_S,
                timeout=CONNECT_S,
            ) as client:
                client.pending_calls_threshold = BACKLOG
                for topic in topics:
                    await client.subscribe(f"{source.root}/{topic}", qos=1)
                hall.connected(time.time())
                pause = AGAIN_S[0]
                async for message in client.messages:
                    told = hall.hear(str(message.topic), bytes(message.payload), bool(message.retain), time.time())
                    if told is not None:
                        say(told)
        except (aiomqtt.MqttError, OSError) as error:
            hall.lost(str(error) or "no answer", time.time())
        await asyncio.sleep(pause)
        pause = min(pause * 2, AGAIN_S[1])
