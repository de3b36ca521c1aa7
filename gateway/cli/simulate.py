"""simulate: boards on pseudo-terminals, or on a made Bluetooth, for a gateway that has none."""

from __future__ import annotations

import argparse

from gateway.simulate import bluez, pty


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `simulate`."""
    pty.add_arguments(parser)
    parser.add_argument("--ble", choices=bluez.BLE, help="boards of this driver on a made Bluetooth instead")


def run(arguments: argparse.Namespace) -> int:
    """Play on so many boards."""
    return bluez.run(arguments) if arguments.ble else pty.run(arguments)
