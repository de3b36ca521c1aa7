"""The arbiters' desk of the demo: says over MQTT, as a pairing program would, who plays at which table."""

from __future__ import annotations

import json
from collections.abc import Iterable

import aiomqtt
from paho.mqtt.packettypes import PacketTypes

from gateway.demo.scripts import DemoTable
from gateway.mqtt_client import properties_of

EXPIRY_S = 10
"""An assignment that nobody took in time would be for another game."""


async def assign_players(host: str, port: int, root: str, tables: Iterable[DemoTable]) -> None:
    """Name the players of the first round when a gateway is there, and of the next one when a game has ended."""
    rounds = {table.id: 0 for table in tables}
    by_id = {table.id: table for table in tables}
    async with aiomqtt.Client(host, port, protocol=aiomqtt.ProtocolVersion.V5) as client:
        await client.subscribe([(f"{root}/gateway/+/status", 1), (f"{root}/table/+/event/game_ended", 1)])
        async for message in client.messages:
            said = json.loads(bytes(message.payload))
            for name in by_id if said.get("state") == "online" else [said.get("table")]:
                if name in by_id:
                    rounds[name] += 1
                    await _assign(client, f"{root}/arbiter/{name}/command", by_id[name], rounds[name])


async def _assign(client: aiomqtt.Client, topic: str, table: DemoTable, number: int) -> None:
    white, black = table.players if number % 2 else reversed(table.players)
    command = {
        "command": "assign",
        "id": f"desk-{table.id}-{number}",
        "by": "desk",
        "white": white,
        "black": black,
        "event": "Demo Open",
        "round": str(number),
    }
    expiry = properties_of(PacketTypes.PUBLISH, MessageExpiryInterval=EXPIRY_S)
    await client.publish(topic, json.dumps(command), qos=1, properties=expiry)
