"""A table with a clock, for tests of the rules: plies put on the board, reports of the clock, the passing of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import chess

from gateway.arbiter import Arbiter
from gateway.config import BoardConfig, ClockConfig, RulesConfig, TableConfig
from gateway.events import (
    Alert,
    BoardDump,
    ClockAbsent,
    ClockSide,
    ClockTimes,
    Command,
    FieldUpdate,
    GameKind,
    LinkState,
    Move,
    Numbered,
    Observation,
)
from gateway.record import START_FEN, position_from_fen
from gateway.table import Table

EPOCH = 1_780_000_000.0
SIDES: Mapping[str, ClockSide] = {"white": "left", "black": "right"}


class Scene:
    """One table, played by hand. White's half of the clock is the left one.

    Args:
        fen: the position; None is the usual start, which is put up and awaited. With a FEN the game is started by
            command, unless `started` is False.
    """

    def __init__(
        self,
        regulations: str = "fide-standard",
        control: str = "5400+30",
        fen: str | None = None,
        *,
        game: Any = "chess",
        started: bool = True,
        moves_completed: Mapping[str, int] | None = None,
        start: Mapping[str, Any] | None = None,
        assign: Mapping[str, Any] | None = None,
        default_time: int | None = None,
        **rules: Any,
    ) -> None:
        config = TableConfig(
            id="1",
            game=game,
            board=BoardConfig("dgt"),
            clock=ClockConfig("board", white_side="left"),
            regulations=regulations,
            time_control=control,
            default_time=default_time,
            rules=RulesConfig(**rules),
        )
        self.table = Table(config, "g", EPOCH)
        self.arbiter = Arbiter(self.table)
        self.events: list[tuple[float, Numbered]] = []
        self.at = 0.0
        self._ids = 0
        self.observe(LinkState("board", True))
        usual: GameKind = "draughts" if game == "draughts" else "chess"
        position = position_from_fen(usual, fen or START_FEN[usual])
        self.pieces = dict(position.pieces())
        self.observe(BoardDump(dict(self.pieces)))
        if assign:
            self.command("assign", **assign)
        if fen is not None and started:
            counted = {"moves_completed": dict(moves_completed)} if moves_completed else {}
            self.command("start_game", start_fen=fen, **counted, **(start or {}))

    # --- what happens -------------------------------------------------------------------------------------------

    def until(self, at: float) -> Scene:
        """Let time pass."""
        while self.table.deadline is not None and self.table.deadline <= at:
            due = self.table.deadline
            self._keep(due, self.table.tick(due))
            assert self.table.deadline is None or self.table.deadline > due
        self.at = at
        return self

    def observe(self, observation: Observation) -> Scene:
        """The board or its clock says something now."""
        self._keep(self.at, self.table.observe(observation, self.at))
        return self

    def command(self, name: str, **arguments: Any) -> Scene:
        """The arbiter asks for something now."""
        self._ids += 1
        events, reply = self.arbiter.command(Command(name, f"c{self._ids}", "arbiter", arguments), self.at)
        assert reply.ok, reply.error
        self._keep(self.at, events)
        return self

    def clock(
        self, at: float, white: float, black: float, running: str | None, *, flags: tuple[str, ...] = (), **more: Any
    ) -> Scene:
        """The clock reports; readings are cut to whole seconds, as a DGT clock's are."""
        self.until(at)
        runs: Any = "both" if running == "both" else SIDES[running] if running else None
        fallen = frozenset(SIDES[flag] for flag in flags)
        return self.observe(ClockTimes(float(int(white)), float(int(black)), runs, flags=fallen, **more))

    def ticking(self, start: float, end: float, white: float, black: float, running: str, rate: float = 1.0) -> Scene:
        """The clock reports every second from `start` to `end`, one side counting down."""
        count = int(end - start + 1e-6)
        for second in range(count + 1):
            used = second * rate
            if running == "white":
                self.clock(start + second, white - used, black, running)
            else:
                self.clock(start + second, white, black - used, running)
        return self

    def lift(self, at: float, square: str) -> Scene:
        """A piece is taken up."""
        self.until(at)
        self.pieces.pop(square, None)
        return self.observe(FieldUpdate(square, None))

    def place(self, at: float, piece: str, square: str) -> Scene:
        """A piece is put down."""
        self.until(at)
        self.pieces[square] = piece
        return self.observe(FieldUpdate(square, piece))

    def ply(self, at: float, origin: str, target: str, *taken: str, piece: str | None = None) -> Scene:
        """A piece is carried from one square to another within half a second; what it takes goes first."""
        for square in taken:
            self.lift(at - 0.7, square)
        moved = piece or self.pieces[origin]
        self.lift(at - 0.5, origin)
        return self.place(at, moved, target)

    def gone(self, at: float) -> Scene:
        """The board says that no clock is connected."""
        self.until(at)
        return self.observe(ClockAbsent())

    def _keep(self, at: float, events: list[Numbered]) -> None:
        self.events += [(at, numbered) for numbered in events]

    # --- what came of it ----------------------------------------------------------------------------------------

    def raised(self, kind: str | None = None) -> list[tuple[str, float, str | None]]:
        """Alerts that were raised: kind, when, side."""
        return [
            (alert.irregularity, round(at, 2), alert.side)
            for at, alert in self.alerts()
            if alert.state == "raised" and kind in (None, alert.irregularity)
        ]

    def alerts(self) -> list[tuple[float, Alert]]:
        """All alerts, in order."""
        return [(at, numbered.event) for at, numbered in self.events if isinstance(numbered.event, Alert)]

    def states(self, kind: str) -> list[str]:
        """What became of alerts of one kind."""
        return [alert.state for _, alert in self.alerts() if alert.irregularity == kind]

    def moves(self) -> list[str]:
        """The plies that were recognised."""
        return [numbered.event.notation for _, numbered in self.events if isinstance(numbered.event, Move)]


class Played:
    """A whole game of chess with a clock that keeps time: a second of hand, then the press, polled twice a second."""

    def __init__(self, scene: Scene, base: float, increment: float, *, think: float = 5.0) -> None:
        self.scene, self.increment, self.think = scene, increment, think
        self.left = {"white": base, "black": base}
        self.at = scene.at
        self.board = chess.Board()
        self.add: dict[int, float] = {}
        """Seconds that the clock adds at the press of these moves."""

    def start(self, at: float) -> Played:
        """White's clock is started."""
        self.scene.clock(at, self.left["white"], self.left["black"], "white")
        self.at = at
        return self

    def plies(self, *moves: str, think: float | None = None) -> Played:
        """Play these plies, in UCI."""
        for text in moves:
            self._ply(chess.Move.from_uci(text), self.think if think is None else think)
        return self

    def _ply(self, move: chess.Move, think: float) -> None:
        side = "white" if self.board.turn else "black"
        other = "black" if self.board.turn else "white"
        began, placed = self.at, self.at + think
        at = began + 0.5
        while at < placed - 0.6:
            self._report(at, side, at - began)
            at += 0.5
        taken = [move.uci()[2:4]] if self.board.is_capture(move) else []
        self.scene.ply(placed, move.uci()[:2], move.uci()[2:4], *taken)
        self.board.push(move)
        self.at = placed + 0.5
        number = (len(self.board.move_stack) + 1) // 2
        self.left[side] += self.increment - (self.at - began) + self.add.get(number, 0.0)
        self._report(self.at, other, 0.0)

    def _report(self, at: float, side: str, used: float) -> None:
        shown = dict(self.left)
        shown[side] -= used
        self.scene.clock(at, max(0.0, shown["white"]), max(0.0, shown["black"]), side)
