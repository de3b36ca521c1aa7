"""watch: show what a subscriber to a hall's broker receives."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from pathlib import Path

from gateway.config import MqttConfig, TlsConfig
from gateway.settings import TABLE_KEYS
from gateway.terminal.render import Frame
from gateway.terminal.screen import is_screen, show
from gateway.terminal.view import Hall


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--host", default="localhost", help="the broker (default: %(default)s)")
    parser.add_argument("--port", type=int, help="its port (default: 1883, with TLS 8883)")
    parser.add_argument("--root", default="hall", help="what all topics begin with (default: %(default)s)")
    parser.add_argument("--table", type=table_id, metavar="ID", help="one table only")
    parser.add_argument("--username", metavar="NAME", help="the account")
    parser.add_argument("--password-file", type=Path, metavar="FILE", help="a file that holds the account's password")
    parser.add_argument("--ca-file", type=Path, metavar="FILE", help="TLS: who has signed the broker's certificate")
    add_view_arguments(parser)


def table_id(text: str) -> str:
    """A table's id, which is part of a topic. Raises `argparse.ArgumentTypeError`."""
    try:
        return str(TABLE_KEYS["id"].read(text))
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"{text!r} is no table's id") from problem


def add_view_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `demo` takes too."""
    parser.add_argument("--seconds", type=float, metavar="N", help="end by itself after so long")
    parser.add_argument("--plain", action="store_true", help="a line for each event instead of a screen")


def run(arguments: argparse.Namespace) -> int:
    """Show it until told to stop."""
    tls = None if arguments.ca_file is None else TlsConfig(arguments.ca_file)
    port = arguments.port or (1883 if tls is None else 8883)
    source = MqttConfig(arguments.host, port, arguments.root, arguments.username, arguments.password_file, tls=tls)
    title = "board-gateway watch" + (f"   table {arguments.table}" if arguments.table else "")
    frame = Frame(title, f"{source.host}:{source.port}", ("q quits",))
    asyncio.run(_watch(source, frame, arguments))
    return os.EX_OK


async def _watch(source: MqttConfig, frame: Frame, arguments: argparse.Namespace) -> None:
    await shown(source, frame, arguments, stopped_by_signals(), arguments.table)


def stopped_by_signals() -> asyncio.Event:
    """What is set by Ctrl-C, by a service manager, or when the window is closed."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def shown(
    source: MqttConfig, frame: Frame, arguments: argparse.Namespace, stop: asyncio.Event, table: str | None = None
) -> Hall:
    """Show a hall, or one table of it, until `stop`, the key q or the end of the time; return what was received."""
    if arguments.seconds is not None:
        asyncio.get_running_loop().call_later(arguments.seconds, stop.set)
    return await show(source, frame, stop, arguments.plain or not is_screen(os.environ), table)
