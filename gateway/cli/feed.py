"""feed: keep PGN and PDN files of all games of the hall, for broadcasts."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from pathlib import Path

from gateway import logs
from gateway.feed.service import Feed
from gateway.feed.settings import FeedConfig, load

DEFAULT_PATH = Path("/etc/board-gateway/feed.toml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("-c", "--config", type=Path, default=DEFAULT_PATH, help="default: %(default)s", metavar="FILE")
    parser.add_argument("--check", action="store_true", help="check the file, say what it means, and end")
    parser.add_argument("-v", "--verbose", action="store_true", help="log details too")


def run(arguments: argparse.Namespace) -> int:
    """Feed until told to stop."""
    credentials = os.environ.get("CREDENTIALS_DIRECTORY")
    config = load(arguments.config, Path(credentials) if credentials else None)
    if arguments.check:
        print(f"{arguments.config}: in order", *summary(config), sep="\n")
        return os.EX_OK
    logs.set_up(os.environ, verbose=arguments.verbose)
    asyncio.run(_feed(config))
    return os.EX_OK


async def _feed(config: FeedConfig) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await Feed(config).run(stop)


def summary(config: FeedConfig) -> list[str]:
    """The settings in words."""
    mqtt = config.mqtt
    delay = f"{config.delay:g} minutes late" if config.delay else "at once, without a delay"
    lines = [
        f"hears {mqtt.root}/table/ at {mqtt.host}:{mqtt.port}{' with TLS' if mqtt.tls else ''}",
        f"tells {config.moves} moves {delay}; files in {config.dir}, state in {config.state_dir}",
        f"serves them on {config.listen}" if config.listen else "serves no HTTP",
    ]
    if config.players:
        lines.append(f"knows {len(config.players)} players by title, rating or team")
    if config.lichess is not None:
        lines.append(f"pushes rounds {', '.join(config.lichess.rounds)} to {config.lichess.url}")
    return lines
