"""A short script of what happens at a table, played through `Table`.

Words of a script, each `TIME:WHAT`, in order: ``-e2`` a lift, ``+P@e4`` a placing, ``w``, ``b``, ``0`` White's or
Black's clock runs or none, ``!NAME`` a command, ``!NAME=KIND`` one about an irregularity, ``down`` the board's link is
gone. Between the words the clock reports every second, as a real one does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gateway.arbiter import Arbiter
from gateway.config import BoardConfig, ClockConfig, RulesConfig, TableConfig
from gateway.events import Alert, BoardDump, ClockTimes, Command, FieldUpdate, LinkState, Numbered, Senses
from gateway.record import position_from_fen
from gateway.table import Table

RUNNING: dict[str, Any] = {"w": "left", "b": "right", "0": None}
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
TAIL = 3.0
"""Seconds played after the last word."""


@dataclass
class Script:
    """A table and what is done at it."""

    fen: str = START
    words: str = ""
    regulations: str = "fide-standard"
    senses: bool = True
    clock: bool = True
    enable: tuple[str, ...] = ()
    start: dict[str, Any] = field(default_factory=dict)
    tail: float = TAIL

    def alerts(self) -> list[tuple[float, Alert]]:
        """Play it, and return the alerts that were raised, with their moments."""
        game: Any = "draughts" if ":" in self.fen else "chess"
        config = TableConfig(
            "1",
            game,
            BoardConfig("dgt"),
            ClockConfig("board", white_side="left"),
            regulations=self.regulations,
            time_control="5400+30",
            rules=RulesConfig(enable=self.enable),
        )
        self.table = Table(config, "g")
        self.arbiter = Arbiter(self.table)
        self.out: list[tuple[float, Numbered]] = []
        self._see(LinkState("board", True), 0.0)
        self._see(Senses(self.senses), 0.0)
        pieces = position_from_fen(game, self.fen).pieces()
        self._see(BoardDump({s: p if self.senses else "?" for s, p in pieces.items()}), 0.0)
        self.tell("start_game", 0.002, start_fen=self.fen, **self.start)
        self.times = {"left": 5400.0, "right": 5400.0}
        self.running: str | None = None
        self.ticked = 0.0
        last = 0.0
        for word in self.words.split():
            time, _, what = word.partition(":")
            last = float(time)
            self._word(last, what)
        self._until(last + self.tail)
        return [
            (at, numbered.event)
            for at, numbered in self.out
            if isinstance(numbered.event, Alert) and numbered.event.state == "raised"
        ]

    def _word(self, at: float, what: str) -> None:
        self._until(at)
        if what[0] == "-":
            self._see(FieldUpdate(what[1:], None), at)
        elif what[0] == "+":
            piece, _, square = what[1:].partition("@")
            self._see(FieldUpdate(square, piece if self.senses else "?"), at)
        elif what[0] == "!":
            name, _, argument = what[1:].partition("=")
            self.tell(name, at, **({"irregularity": argument} if argument else {}))
        elif what == "down":
            self._see(LinkState("board", False), at)
        else:
            self._report(at, RUNNING[what])

    def _report(self, at: float, running: Any) -> None:
        if not self.clock:
            return
        self._count(at)
        self.running = running
        self._see(ClockTimes(int(self.times["left"]), int(self.times["right"]), running), at)
        self.ticked = at

    def _count(self, at: float) -> None:
        if self.running is not None:
            self.times[self.running] -= at - self.ticked
        self.ticked = at

    def _until(self, at: float) -> None:
        """Let the clock report every second, and timers fire, up to a moment."""
        while self.clock and self.running is not None and self.ticked + 1 < at:
            self._report(self.ticked + 1, self.running)
        self._fire(at)

    def _see(self, observation: Any, at: float) -> None:
        self._fire(at)
        self.out += [(at, numbered) for numbered in self.table.observe(observation, at)]

    def tell(self, name: str, at: float, **arguments: Any) -> None:
        self._fire(at)
        events, reply = self.arbiter.command(Command(name, None, "arbiter", arguments), at)
        assert reply.ok, reply.error
        self.out += [(at, numbered) for numbered in events]

    def _fire(self, at: float) -> None:
        while (due := self.table.deadline) is not None and due <= at:
            self.out += [(due, numbered) for numbered in self.table.tick(due)]
