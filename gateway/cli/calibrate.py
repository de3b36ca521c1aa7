"""calibrate: learn a set of pieces with RFID tags (Certabo, Cerno) from the start position, and keep it."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

from gateway import calibration, capture
from gateway.cli.configuration import DEFAULT_PATH, load_config
from gateway.drivers import SerialSettings, serial
from gateway.errors import LinkError
from gateway.protocol.certabo import CalibrationError
from gateway.registry import DRIVERS

PATIENCE_S = 20.0

INSTRUCTIONS = """\
Put the pieces of the set on their start squares. Spare queens: the black one on d6, White's on d3.
Keep your hands off the board for some seconds.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("name", metavar="SET", help="name of the set, as in board.options.calibration")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--port", help="serial port of the board, or socket://HOST:PORT")
    source.add_argument("--capture", type=Path, metavar="FILE", help="what a board said, as recorded (Bluetooth too)")
    parser.add_argument("--state-dir", type=Path, metavar="DIR", help="default: the configuration's state_dir")
    parser.add_argument("-c", "--config", type=Path, default=DEFAULT_PATH, help="default: %(default)s", metavar="FILE")


def run(arguments: argparse.Namespace) -> int:
    """Learn, and store."""
    state_dir: Path = arguments.state_dir or load_config(arguments).state_dir
    calibration.path(state_dir, arguments.name)
    collector = calibration.Collector()
    if arguments.capture:
        _from_capture(arguments.capture, collector)
    else:
        print(INSTRUCTIONS, end="", file=sys.stderr)
        asyncio.run(_from_port(arguments.port, collector))
    try:
        pieces = collector.pieces()
    except CalibrationError as problem:
        print(f"calibrate: {problem}; nothing is changed", file=sys.stderr)
        return os.EX_DATAERR
    file, count = calibration.save(state_dir, arguments.name, pieces)
    print(f"{file}: {count} pieces")
    print(f'In the configuration: driver = "certabo", options = {{ calibration = "{arguments.name}" }}')
    return os.EX_OK


async def _from_port(target: str, collector: calibration.Collector) -> None:
    """Listen until it is enough. Raises `LinkError`."""
    done = asyncio.Event()
    why: list[str] = []

    def hear(data: bytes, at: float, channel: str | None) -> None:
        collector.feed(data, at)
        if collector.enough or collector.occupancy:
            done.set()

    def lost(reason: str) -> None:
        why.append(reason)
        done.set()

    port = serial.port(target, DRIVERS["certabo"].serial or SerialSettings(), hear, lost)
    await port.open()
    try:
        async with asyncio.timeout(PATIENCE_S):
            await done.wait()
    except TimeoutError:
        pass
    finally:
        await port.close()
    if why:
        raise LinkError(why[0])


def _from_capture(file: Path, collector: calibration.Collector) -> None:
    def damaged(number: int, problem: str) -> None:
        print(f"{file}:{number}: {problem}", file=sys.stderr)

    for _, entry in capture.Reader(file, DRIVERS, damaged):
        if isinstance(entry, capture.Rx) and entry.link == "board":
            collector.feed(entry.data, entry.t)
