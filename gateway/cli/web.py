"""web: serve the page without boards, or write it as a folder for another web server."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from pathlib import Path

from gateway import logs
from gateway.cli.configuration import add_config_option, load_config
from gateway.config import WebConfig
from gateway.errors import UsageError
from gateway.webserver import WebServer, export


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_config_option(parser)
    parser.add_argument("--export", type=Path, metavar="DIR", help="write the page's files there, and end")


def run(arguments: argparse.Namespace) -> int:
    """Serve until told to stop, or write the files."""
    config = load_config(arguments)
    web, root = config.web or WebConfig(), config.mqtt.root
    if arguments.export is not None:
        count = export(arguments.export, web, root)
        print(f"{count} files in {arguments.export}; the page looks for the broker at {_broker(web)}")
        return os.EX_OK
    if config.web is None:
        raise UsageError(f"{arguments.config}: without [web] there is nothing to serve; --export DIR needs none")
    logs.set_up(os.environ)
    asyncio.run(_serve(WebServer(web, root)))
    return os.EX_OK


def _broker(web: WebConfig) -> str:
    return web.broker_url or "port 9001 of the host that serves it"


async def _serve(server: WebServer) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server.start()
    await stop.wait()
    await asyncio.to_thread(server.stop)
