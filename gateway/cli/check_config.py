"""check-config: name all mistakes of the configuration, or say in a few lines what it means."""

from __future__ import annotations

import argparse
import os

from gateway.cli.configuration import add_config_option as add_arguments
from gateway.cli.configuration import load_config
from gateway.config import Config, MqttConfig, TableConfig

__all__ = ["add_arguments", "run"]


def run(arguments: argparse.Namespace) -> int:
    """Check, and print a summary."""
    config = load_config(arguments)
    print(f"{arguments.config}: in order")
    print(*summary(config), sep="\n")
    return os.EX_OK


def summary(config: Config) -> list[str]:
    """Return the configuration in words: a line for the gateway, one for each table."""
    count = f"{len(config.tables)} table{'' if len(config.tables) == 1 else 's'}"
    return [
        f"gateway {config.gateway}: {count}, {_broker(config.mqtt)}, state in {config.state_dir}",
        *map(_table, config.tables),
    ]


def _broker(mqtt: MqttConfig) -> str:
    if mqtt.embedded:
        return f"private broker on port {mqtt.port}"
    return f"broker {mqtt.host}:{mqtt.port}{' with TLS' if mqtt.tls else ''}"


def _table(table: TableConfig) -> str:
    board = table.board
    places = [
        *([board.port] if board.port else []),
        *([f"serial {board.serial}"] if board.serial else []),
        *([f"bus address {board.bus_address}"] if board.bus_address is not None else []),
    ]
    clocks = {"board": "clock through the board", "none": "no clock"}
    clock = clocks.get(table.clock.driver, f"{table.clock.driver} clock on {table.clock.port}")
    game = f"{table.game}, {table.regulations}, {table.time_control}"
    return f"table {table.id}: {game}; {board.driver} on {', '.join(places)}; {clock}"
