"""run: serve the boards of the configuration until told to stop."""

from __future__ import annotations

import argparse
import os
from functools import partial

from gateway import daemon, logs
from gateway.cli.configuration import add_config_option, load_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_config_option(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="log details too")


def run(arguments: argparse.Namespace) -> int:
    """Serve."""
    config = load_config(arguments)
    logs.set_up(os.environ, verbose=arguments.verbose)
    return daemon.run(config, reload=partial(load_config, arguments))
