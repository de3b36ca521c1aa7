"""A capture played again through the same code as live, on the capture's own time. Contract section 6."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway import capture
from gateway.arbiter import command_from
from gateway.config import TableConfig
from gateway.events import Device, LinkState
from gateway.link import Link
from gateway.protocol import Address
from gateway.publish import Message, event_message
from gateway.registry import DRIVERS
from gateway.station import Outcome, Station

ROOT = "hall"
PLAIN_TEXT = ("pgn", "pdn")
"""Topics whose payload is no JSON."""


class Player:
    """One capture's table, as the entries make it."""

    def __init__(self, header: capture.CaptureHeader) -> None:
        self._started = header.started
        self._shift = 0.0
        """From the capture's time to the table's, which may have begun long before."""
        self._station = Station(header.table, header.gateway, ROOT, header.started)
        self._links = _links(header.table)

    def play(self, entry: capture.Entry) -> list[Outcome]:
        """Take one entry; timers that are due fire first."""
        at = round(entry.t + self._shift, 6)
        match entry:
            case capture.Rx(_, device, data, channel):
                told = self._links[device].receive(data, at, channel)
                if not told:
                    return self._station.advance(at)
                return [outcome for _, observation in told for outcome in self._station.observe(observation, at)]
            case capture.Link(_, device, up, detail):
                if up:
                    self._links[device].opened(at)
                else:
                    self._links[device].closed(at, detail)
                return self._station.observe(LinkState(device, up, detail), at)
            case capture.CommandLine(_, command):
                return self._station.command(command_from(command), at)
            case capture.State(_, state):
                self._go_on(state, entry.t)
                return []
            case capture.Tx() | capture.End():
                return self._station.advance(at)

    def _go_on(self, state: Mapping[str, Any], t: float) -> None:
        """Take up a table and its ports where they were, on the table's own time.

        Raises `CaptureError` if that cannot be understood.
        """
        table = self._station.table
        try:
            table.epoch = float(state["table"]["epoch"])
            self._shift = self._started - table.epoch
            self._station.restore(dict(state))
            for device, link in self._links.items():
                if (kept := state.get("links", {}).get(device)) is not None:
                    link.restore(kept, t + self._shift)
        except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as problem:
            raise capture.CaptureError(
                f"line 2: the state is damaged ({type(problem).__name__}: {problem})"
            ) from problem


def _links(table: TableConfig) -> dict[Device, Link]:
    """Return the table's ports, decoding only."""
    address: Address = table.board.bus_address
    seat = (table.id, table.game)
    board = Link(DRIVERS[table.board.driver], {address: seat}, options=table.board.options, replaying=True)
    links: dict[Device, Link] = {"board": board}
    if table.clock.driver not in ("board", "none"):
        links["clock"] = Link(DRIVERS[table.clock.driver], {None: seat}, options=table.clock.options, replaying=True)
    return links


def replayed(reader: capture.Reader) -> Iterator[Outcome]:
    """Play a whole capture."""
    player = Player(reader.header)
    for _, entry in reader:
        yield from player.play(entry)


@dataclass(frozen=True, slots=True)
class Form:
    """How outcomes are written."""

    events_only: bool = False
    file: str | None = None
    """Named in each line, where several captures are played."""


def lines(outcomes: Iterable[Outcome], form: Form) -> Iterator[bytes]:
    """Write outcomes as the contract has it: events in the order concluded, then retained topics, then a reply."""
    name = b"" if form.file is None else b'"capture":' + json.dumps(form.file, ensure_ascii=False).encode() + b","
    for outcome in outcomes:
        events = [event_message(ROOT, numbered) for numbered in outcome.events]
        if form.events_only:
            for message in events:
                yield b"{" + name + b'"event":' + message.payload + b"}\n" if name else message.payload + b"\n"
        else:
            for message in [*events, *outcome.messages, *([outcome.reply] if outcome.reply else [])]:
                yield b"{" + name + _members(message) + b"}\n"


def _members(message: Message) -> bytes:
    payload = message.payload
    if message.topic.rpartition("/")[2] in PLAIN_TEXT:
        payload = json.dumps(payload.decode(), ensure_ascii=False).encode()
    topic = json.dumps(message.topic, ensure_ascii=False).encode()
    # A retained topic is cleared by an empty payload.
    return b'"topic":%b,"retain":%b,"payload":%b' % (topic, b"true" if message.retain else b"false", payload or b"null")
