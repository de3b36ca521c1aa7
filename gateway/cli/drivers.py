"""drivers: what `driver = "..."` in the configuration may name, and what each device tells."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence

from gateway.drivers import Ble, Hid
from gateway.registry import DRIVERS, Entry

HEADINGS = ("driver", "what", "links", "games", "senses", "clock", "evidence", "captures")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--options", action="store_true", help="with the options that each driver takes")
    how.add_argument("--markdown", action="store_true", help="as the table of the README")


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    rows = [HEADINGS, *map(row, DRIVERS.values())]
    if arguments.markdown:
        print(*markdown(rows), sep="\n")
        return os.EX_OK
    print(*aligned(rows), sep="\n")
    if arguments.options:
        for entry in DRIVERS.values():
            print(f"\n{entry.name}", *options(entry), sep="\n")
    return os.EX_OK


def row(entry: Entry) -> tuple[str, ...]:
    """Return one driver's cells."""
    clock = "yes" if entry.clock else "no"
    senses = entry.senses if entry.device == "board" else "-"
    games = " ".join(entry.games)
    return entry.name, entry.title, links(entry), games, senses, clock, entry.evidence, str(entry.captures)


def links(entry: Entry) -> str:
    """Return what the device can hang on."""
    kinds = [type(match) for match in entry.matches]
    there = (("serial", entry.serial is not None), ("HID", Hid in kinds), ("BLE", Ble in kinds))
    return " ".join(name for name, can in there if can)


def options(entry: Entry) -> list[str]:
    """Return the driver's options, a line each."""
    lines = [f"  {option.name} = {option.default!r}: {option.text}" for option in entry.options]
    return lines or ["  no options"]


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the rows as lines in columns."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in rows]


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines of a Markdown table."""
    heading, *rest = [f"| {' | '.join(cells)} |" for cells in rows]
    return [heading, "|---" * len(rows[0]) + "|", *rest]
