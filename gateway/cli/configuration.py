"""The option that names the configuration, for all subcommands that need one."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gateway import calibration
from gateway.config import Config, load
from gateway.registry import DRIVERS

DEFAULT_PATH = Path("/etc/board-gateway/config.toml")


def add_config_option(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument("-c", "--config", type=Path, default=DEFAULT_PATH, help="default: %(default)s", metavar="FILE")


def load_config(arguments: argparse.Namespace) -> Config:
    """Load the configuration that the option names."""
    credentials = os.environ.get("CREDENTIALS_DIRECTORY")
    return calibration.resolved(load(arguments.config, DRIVERS, Path(credentials) if credentials else None))
