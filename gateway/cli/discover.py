"""discover: list serial ports, HID and Bluetooth devices that look like boards, and lines for the configuration."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from gateway import discover
from gateway.cli.drivers import aligned
from gateway.discover import Found
from gateway.errors import GatewayError

SCAN_S = 6.0
"""Boards advertise twice a second or more."""
HEADINGS = ("link", "where", "what", "driver", "state")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--no-ble", action="store_true", help="leave Bluetooth out")
    parser.add_argument("--all", action="store_true", help="USB serial ports that look like no board too")


def run(arguments: argparse.Namespace) -> int:
    """Look, and print. Finding nothing is no error."""
    found = [*discover.serial_ports(), *discover.hid_devices()]
    if not arguments.no_ble:
        found += discover.ble_devices(_scanned())
    if not arguments.all:
        found = [device for device in found if device.drivers]
    if not found:
        print("nothing that looks like a board")
        return os.EX_OK
    print(*report(found), sep="\n")
    return os.EX_OK


def report(found: Sequence[Found]) -> list[str]:
    """Return the table, and the lines for the configuration under it."""
    rows = [HEADINGS, *map(row, found)]
    lines = discover.configuration(found)
    return [*aligned(rows), *(["", "# for config.toml", *lines] if lines else [])]


def row(device: Found) -> tuple[str, ...]:
    """Return one device's cells."""
    driver = " or ".join(device.drivers) or "no board that is known"
    if device.drivers and not device.certain:
        driver = f"perhaps {driver}"
    return device.link, device.where, device.what, driver, device.busy or "free"


def _scanned() -> Sequence[Any]:
    """What Bluetooth sees in some seconds; nothing, and why, where there is none."""
    try:
        ble = importlib.import_module("gateway.drivers.ble")
        return list(asyncio.run(ble.scan(SCAN_S, discover.ble_services())))
    except (ImportError, AttributeError):
        print("discover: this installation has no Bluetooth", file=sys.stderr)
    except (GatewayError, OSError) as problem:
        print(f"discover: Bluetooth: {problem}", file=sys.stderr)
    return []
