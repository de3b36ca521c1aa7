"""doctor: look at configuration, ports, permissions, broker, clock, disk and power, and say what to do."""

from __future__ import annotations

import argparse
import asyncio
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable

from gateway import doctor
from gateway.cli.configuration import add_config_option as add_arguments
from gateway.cli.configuration import load_config
from gateway.doctor import Finding
from gateway.errors import ConfigError

__all__ = ["add_arguments", "run"]

MARKS = {"ok": "ok   ", "look": "look ", "wrong": "WRONG"}
WIDTH = 110


def run(arguments: argparse.Namespace) -> int:
    """Look, and tell while looking; 1 if something is wrong."""
    return asyncio.run(_examine(arguments))


async def _examine(arguments: argparse.Namespace) -> int:
    grades: Counter[str] = Counter()

    def say(finding: Finding) -> None:
        grades[finding.grade] += 1
        print(*lines(finding), sep="\n", flush=True)

    try:
        config = load_config(arguments)
    except ConfigError as error:
        for mistake in error.mistakes:
            say(Finding("wrong", "config", mistake, "every key is explained in the example, systemd/config.toml"))
    except OSError as error:
        remedy = "copy the example, systemd/config.toml, there; or name another with -c"
        if isinstance(error, PermissionError):
            remedy = "ask as the gateway's user: sudo -u board-gateway board-gateway doctor"
        say(Finding("wrong", "config", f"{arguments.config}: {error.strerror}", remedy))
    else:
        say(Finding("ok", "config", f"{arguments.config}: gateway {config.gateway}, {len(config.tables)} tables"))
        async for finding in doctor.examine(config):
            say(finding)
    print(f"\n{verdict(grades)}")
    if grades["wrong"] and sys.stdout.isatty():
        print("Mend the first thing first: what follows may have come from it.")
    return 1 if grades["wrong"] else 0


def lines(finding: Finding) -> Iterable[str]:
    """One finding, and under it what to do."""
    head = f"{MARKS[finding.grade]}  {finding.where:<18} "
    yield from _wrapped(head, finding.what)
    if finding.remedy is not None:
        yield from _wrapped(" " * (len(head) - 3) + "-> ", finding.remedy)


def verdict(grades: Counter[str]) -> str:
    """The last line."""
    wrong, look = grades["wrong"], grades["look"]
    if not wrong and not look:
        return "All is in order."
    parts = [f"{wrong} wrong" if wrong else "Nothing is wrong", *([f"{look} to look at"] if look else [])]
    return ", ".join(parts) + "."


def _wrapped(head: str, text: str) -> list[str]:
    # Commands are to be copied: they are not broken at their hyphens.
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_on_hyphens=False,
        break_long_words=False,
    )
