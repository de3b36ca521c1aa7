"""run: serve the boards of the configuration until told to stop."""

from __future__ import annotations

import argparse
import asyncio
import os
from functools import partial

from gateway import logs
from gateway.cli.configuration import add_config_option, load_config
from gateway.daemon import Daemon
from gateway.notify import Notifier


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_config_option(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="log details too")


def run(arguments: argparse.Namespace) -> int:
    """Serve."""
    config = load_config(arguments)
    logs.set_up(os.environ, verbose=arguments.verbose)
    daemon = Daemon(config, reload=partial(load_config, arguments), notifier=Notifier(os.environ))
    return asyncio.run(daemon.run())
