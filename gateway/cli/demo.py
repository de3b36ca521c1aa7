"""demo: four simulated boards through the real gateway, and what a subscriber sees of them."""

from __future__ import annotations

import argparse
import asyncio
import os

from gateway.cli.watch import add_view_arguments as add_arguments
from gateway.cli.watch import shown, stopped_by_signals
from gateway.demo.hall import demo_hall
from gateway.terminal.render import Frame
from gateway.terminal.view import Hall

__all__ = ["add_arguments", "run"]

OPENING = (
    "Four boards (simulated, but speaking a real board's bytes), the gateway that reads them and a broker of its own"
    " are started.\nWithin a minute and a half eight things go wrong on the boards and are put right."
)


def run(arguments: argparse.Namespace) -> int:
    """Show the demo until told to stop, and say what was seen."""
    print(OPENING, flush=True)
    print(summary(asyncio.run(_demo(arguments))))
    return os.EX_OK


async def _demo(arguments: argparse.Namespace) -> Hall:
    stop = stopped_by_signals()
    async with demo_hall() as hall:
        broker = hall.broker
        listen = f"mosquitto_sub -p {broker.port} -v -t '{broker.root}/#'"
        print(
            f"The arbiter's page:  {hall.page} (any initials, no account)\nWhat programs get:   {listen}\n", flush=True
        )
        frame = Frame(
            "board-gateway demo", f"{broker.host}:{broker.port}", ("q quits", f"page: {hall.page}", f"raw: {listen}")
        )
        return await shown(broker, frame, arguments, stop)


def summary(hall: Hall) -> str:
    """What was received, in a sentence, and where to go on."""
    open_now = len(hall.open_alerts())
    return (
        f"Received {hall.received} messages from the broker: {hall.moves} moves, {hall.raised} alerts,"
        f" {open_now or 'none'} of them still open.\n"
        "Next: README.md, `board-gateway drivers` for the boards that can be read, `board-gateway --help`."
    )
