"""One game at a table: its record, the reader that makes it grow, and its phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import chess

from gateway.clock import Clock
from gateway.events import (
    Event,
    GameEnded,
    GameKind,
    Move,
    MoveConfirmed,
    MoveRetracted,
    PositionSet,
    Readings,
)
from gateway.reconstruct.follow import Confirmed, Follow, Played, Retracted, RetractReason
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import CENTRE, node_of, over, position_of
from gateway.reconstruct.rivals import Rival
from gateway.reconstruct.saved import restored, saved
from gateway.record import GamePosition, Record

Phase = Literal["setup", "play", "suspended", "ended"]
Orientation = Literal["normal", "rotated"]

END_REST = 1.0
"""Seconds at rest after which a mate or a lost position ends the game unconfirmed (contract, "End")."""


@dataclass(slots=True)
class Assignment:
    """What the arbiter said of the next game, or of this one."""

    white: str | None = None
    black: str | None = None
    event: str | None = None
    round: str | None = None
    start_fen: str | None = None
    scheduled_start: float | None = None
    """Seconds since 1970."""
    default_time: int | None = None
    seats: Orientation | None = None
    sealed_move: str | None = None


class Game:
    """A game that may be awaited (`setup`), in play, suspended or ended."""

    def __init__(self, record: Record, board: Observed, at: float, regulations: str, time_control: str) -> None:
        self.record = record
        self.regulations = regulations
        self.time_control = time_control
        self.follow = Follow(node_of(record.position), board, at, record.ply)
        self.board = board
        self.phase: Phase = "setup"
        self.id: str | None = None
        self.ended: GameEnded | None = None
        """How it ended, while it is over."""
        self.assigned = Assignment()
        self.suspension: str | None = None
        """`adjournment` or `interruption` while suspended."""
        self.resumed_at: float | None = None
        self.clock_started: float | None = None
        self.taken_up = False
        """It began with what stood, because a clock had run over it: perhaps a start put up wrong."""
        self._arrivals: list[float] = []

    @property
    def kind(self) -> GameKind:
        return self.record.game

    @property
    def position(self) -> GamePosition:
        return self.record.position

    @property
    def result(self) -> str | None:
        return self.ended.result if self.ended else None

    @property
    def reason(self) -> str | None:
        return self.ended.reason if self.ended else None

    @property
    def untouched(self) -> bool:
        """The game has not begun, and its start position stands exactly."""
        return self.phase == "setup" and self.record.ply == 0 and self.follow.rivals.best.rate == 0

    @property
    def untold(self) -> bool:
        """Nothing has been played on the board yet."""
        return all(entry.move.source == "command" for entry in self.record.entries)

    def begin(self, game_id: str, date: str, *, timed: bool) -> None:
        """The game begins; `timed` says whether a clock tells when plies are completed."""
        self.phase, self.id = "play", game_id
        self.record.tags["Date"] = date
        self.follow.timed = timed

    # --- what the reader concludes ------------------------------------------------------------------------------

    def conclude(self, at: float, clock: Clock) -> list[Event]:
        """Let the reader conclude, and keep the record in step."""
        events: list[Event] = []
        for conclusion in self.follow.conclude(at):
            match conclusion:
                case Retracted(from_ply, reason):
                    events += self.retract(from_ply, reason)
                case Played(rival):
                    ply = rival.ply.uci() if isinstance(rival.ply, chess.Move) else rival.ply
                    events.append(self._play(ply, rival.legal, rival.source, rival.at, clock.readings(at)))
                case Confirmed(ply, readings):
                    self.record.confirm(ply, readings)
                    events.append(MoveConfirmed(ply, readings))
        return events

    def _play(
        self,
        ply: Any,
        legal: bool,
        source: Literal["board", "command", "inferred"],
        arrived: float,
        readings: Readings | None,
    ) -> Move:
        since = self._arrivals[-1] if self._arrivals else self.clock_started
        elapsed = None if since is None else round(max(0.0, arrived - since), 3)
        self._arrivals.append(arrived)
        return self.record.play(ply, legal=legal, source=source, clock=readings, elapsed=elapsed)

    def retract(self, from_ply: int, reason: RetractReason) -> list[Event]:
        """Take plies off the record."""
        self.record.retract(from_ply)
        del self._arrivals[max(0, len(self.record.entries)) :]
        return [MoveRetracted(from_ply, reason)]

    # --- what is told -------------------------------------------------------------------------------------------

    def restart(self, at: float) -> list[Event]:
        """The reader goes on from the record's position: it is beyond doubt, and so are the plies that led there."""
        events: list[Event] = []
        for entry in self.record.entries:
            if not entry.confirmed:
                self.record.confirm(entry.ply)
                events.append(MoveConfirmed(entry.ply, None))
        self.follow.restart(node_of(self.record.position), at, self.record.ply)
        return events

    def told(self, texts: list[str], at: float) -> list[Event]:
        """Plies that a command gives: published as they are, confirmed at once.

        Raises:
            ValueError: one of them cannot be read or played; the ones before it stand in the record.
        """
        events: list[Event] = []
        for text in texts:
            move = self.record.play(self.record.parse(text), source="command", confirmed=True)
            self._arrivals.append(at)
            events += [move, MoveConfirmed(move.ply, None)]
        return [*events, *self.restart(at)]

    def rewind(self, rival: Rival, at: float) -> list[Event]:
        """Read again what came since `rival` was the best; a position that was set since is taken back."""
        events: list[Event] = []
        placed = [step.ply for step in self.record.placed if step.ply >= rival.depth]
        if placed and placed[0]:
            events = self.retract(placed[0], "correction")
            self.follow.tip = rival.ancestor(placed[0] - 1)
            self.follow.confirmed = min(self.follow.confirmed, placed[0] - 1)
        if not placed or placed[0]:
            self.follow.rewind(rival, at)
        return events

    def set_position(self, position: GamePosition, at: float) -> list[Event]:
        """The arbiter has put `position` back: go on from where it occurred in the record, else from there."""
        ply = self.record.find(position)
        if ply is None:
            events = self._placed(position, "command")
        else:
            events = [] if ply == self.record.ply else self.retract(ply + 1, "command")
        return [*events, *self.restart(at)]

    def give_up_gap(self, clock: Clock, at: float) -> list[Event]:
        """What was played while the board was away is not to be found: go on without it."""
        node = self.follow.give_up_gap(clock.one_running or self.position.turn, at)
        return [] if node is None else [*self._placed(position_of(node), "gap"), *self.conclude(at, clock)]

    def _placed(self, position: GamePosition, reason: Literal["command", "gap"]) -> list[Event]:
        self.record.set_position(self.record.ply, position.fen())
        return [PositionSet(self.record.ply, position.fen(), reason)]

    def drop_signal(self) -> list[Event]:
        """Nothing of a kings' signal belongs to the game: what nobody pressed on is taken off if two of these are true
        of it: it went to the centre, the king made it, nobody saw it."""
        first = None
        for entry in reversed(self.record.entries):
            move = entry.move
            to_centre = move.uci is not None and move.uci[2:4] in CENTRE
            signs = (to_centre, move.notation[0] == "K", move.source == "inferred")
            certain = entry.confirmed and (entry.press is not None or move.source != "inferred")
            if certain or sum(signs) < 2:
                break
            first = move.ply
        return [] if first is None else self.retract(first, "correction")

    def suspend(self, reason: str, sealed_move: str | None) -> None:
        """The arbiter stops the game for a while."""
        self.phase, self.suspension = "suspended", reason
        self.assigned.sealed_move = sealed_move or self.assigned.sealed_move

    def resume(self, sealed_move: str | None, at: float) -> list[Event]:
        """The game goes on from its position, which nobody can change any more."""
        self.phase, self.resumed_at = "play", at
        self.assigned.sealed_move = sealed_move or self.assigned.sealed_move
        return self.restart(at)

    # --- the end ------------------------------------------------------------------------------------------------

    def ending(self, at: float) -> tuple[GameEnded | None, float | None]:
        """The end that the position makes, or when it will: confirmed, or at rest for a second."""
        if self.phase != "play" or not self.record.entries:
            return None, None
        last = self.record.entries[-1]
        if not last.move.legal or self.follow.tip.node.turn != self.record.turn:
            return None, None
        end = self.over()
        best = self.follow.rivals.best
        if end is None or last.move.source == "command":
            return end, None
        if best.depth != self.record.ply or best.rate > 0:
            return None, None
        due = self.board.last_change + END_REST
        return (end, None) if last.confirmed or at >= due else (None, due)

    def over(self) -> GameEnded | None:
        """The end that the record's position makes, if it makes one."""
        verdict = over(self.record.position)
        return None if verdict is None else GameEnded(verdict[0], verdict[1], None)  # type: ignore[arg-type]

    def end(self, ended: GameEnded) -> None:
        """Close the game with a result."""
        self.phase, self.ended = "ended", ended

    def reopen(self) -> None:
        """It is not over after all."""
        self.phase, self.ended = "play", None

    # --- across a restart ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "record": self.record.state(),
            "follow": saved(self.follow),
            "assigned": asdict(self.assigned),
            "ended": self.ended and asdict(self.ended),
            "arrivals": self._arrivals,
            "taken_up": self.taken_up,
            **{name: getattr(self, name) for name in _PLAIN},
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any], board: Observed) -> Game:
        """Make the game again that gave `state`, over a board in the state it was in then."""
        record = Record.restore(state["record"])
        game = cls(record, board, 0.0, state["regulations"], state["time_control"])
        game.follow = restored(state["follow"], record.game, board)
        game.assigned = Assignment(**state["assigned"])
        game.ended = state["ended"] and GameEnded(**state["ended"])
        game._arrivals = list(state["arrivals"])
        for name in _PLAIN:
            setattr(game, name, state[name])
        game.taken_up = state.get("taken_up", False)
        return game


_PLAIN = ("regulations", "time_control", "phase", "id", "suspension", "resumed_at", "clock_started")
"""What of a game is a plain value already."""
