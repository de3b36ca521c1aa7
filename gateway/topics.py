"""A table's retained topics: what they hold, and when they may be published again (contract, section 3). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gateway.events import OTHER, Square
from gateway.game import Game
from gateway.publish import VERSION, Message, encode, rfc3339
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import node_of
from gateway.record import Entry, move_payload
from gateway.table import Table

LINK_EVERY = 10.0
"""Seconds between two link payloads, unless a state changes."""
CLOCK_EVERY = 1.0
"""Seconds between two clock payloads, unless its state changes."""
TEXT_EVERY = 1.0
"""Seconds between two texts of the game, unless it has ended."""

Payload = Mapping[str, Any]


class Topics:
    """What was last published of one table, and what is due."""

    def __init__(self, table: Table, root: str) -> None:
        self.table = table
        self.public = f"{root}/table/{table.config.id}"
        self.arbiter = f"{root}/arbiter/{table.config.id}"
        self.deadline: float | None = None
        self._known: dict[str, Any] = {}
        """Topic -> what was published, without its time."""
        self._state: dict[str, Any] = {}
        """Topic -> the part of it whose change may not wait."""
        self._at: dict[str, float] = {}
        self._messages: dict[str, Message] = {}
        self._written = _Written()
        self._seen = _Seen()

    def changed(self, at: float) -> list[Message]:
        """The topics that are known for the first time or have changed, in the contract's order."""
        self.deadline = None
        found = []
        for topic, payload, urgent, every in self._present(at):
            if self._due(topic, payload, urgent, every, at):
                found.append(self._message(topic, payload, urgent, at))
        return found

    def all(self) -> list[Message]:
        """Everything as last published: for a new connection."""
        return list(self._messages.values())

    def _due(self, topic: str, payload: Any, urgent: Any, every: float, at: float) -> bool:
        if topic in self._known and self._known[topic] == payload:
            return False
        if every and topic in self._known and self._state[topic] == urgent:
            due = self._at[topic] + every
            if at < due:
                self.deadline = due if self.deadline is None else min(self.deadline, due)
                return False
        return True

    def _message(self, topic: str, payload: Any, urgent: Any, at: float) -> Message:
        self._known[topic], self._state[topic], self._at[topic] = payload, urgent, at
        if isinstance(payload, str):
            data = payload.encode()
        else:
            data = encode({"v": VERSION, "time": rfc3339(self.table.stamped(at)), **payload})
        message = self._messages[topic] = Message(topic, data, retain=True)
        return message

    def _present(self, at: float) -> Iterator[tuple[str, Any, Any, float]]:
        """Topic, what it holds now, the part whose change may not wait, and how often the rest may change."""
        table = self.table
        link = self._link()
        yield f"{self.public}/link", link, (link["board"], link["clock"], link["detail"]), LINK_EVERY
        yield f"{self.public}/position", self._position(), None, 0.0
        clock = self._clock()
        if clock is not None:
            state = {key: value for key, value in clock.items() if key not in ("white", "black")}
            yield f"{self.public}/clock", clock, state, CLOCK_EVERY if clock["running"] != "none" else 0.0
        yield f"{self.public}/game", self._game(), None, 0.0
        game = table.game
        if game is not None:
            form = "pdn" if game.kind == "draughts" else "pgn"
            yield f"{self.public}/{form}", self._written.of(game).text, (game.phase, game.result), TEXT_EVERY
        yield f"{self.arbiter}/alerts", {"alerts": table.watch.open_alerts()}, None, 0.0
        if table.board.known:
            yield f"{self.arbiter}/board", self._seen.of(table.board, game), None, 0.0

    def _link(self) -> dict[str, Any]:
        table, device = self.table, self.table.device
        stamp = None if device.last_frame is None else rfc3339(table.epoch + device.last_frame)
        since = None if device.link.since is None else rfc3339(table.epoch + device.link.since)
        return {
            "board": device.link.state,
            "clock": self._clock_link(),
            "gateway": table.gateway,
            "driver": table.config.board.driver,
            "serial": device.serial,
            "battery": device.battery,
            "last_frame": stamp,
            "since": since,
            "detail": device.link.detail,
        }

    def _clock_link(self) -> str:
        """Through the board a clock is there or not; one with a port of its own answers or not."""
        driver = self.table.config.clock.driver
        if driver == "none":
            return "unconfigured"
        here = self.table.clock.connected if driver == "board" else self.table.clock_link
        return "up" if here else "down"

    def _position(self) -> dict[str, Any]:
        game = self.table.game
        return {
            "fen": game.position.fen() if game else None,
            "turn": game.position.turn if game else None,
            "orientation": self.table.orientation,
        }

    def _clock(self) -> dict[str, Any] | None:
        clock = self.table.clock
        report = clock.report
        if report is None:
            return None
        here = clock.connected
        return {
            "white": report.white if here else None,
            "black": report.black if here else None,
            "running": clock.running if clock.running in OTHER else "none",
            "flags": sorted(report.flags, reverse=True) if here else [],
            "lever": report.lever if here else None,
            "battery_low": report.battery_low,
        }

    def _game(self) -> dict[str, Any]:
        table, game = self.table, self.table.game
        assigned = game.assigned if game else table.assigned
        return {
            "game_id": game.id if game else None,
            "game": game.kind if game else table.game_kind,
            "phase": table.phase,
            "regulations": game.regulations if game else table.regulations,
            "time_control": game.time_control if game else table.time_control,
            "white": assigned.white,
            "black": assigned.black,
            "event": assigned.event,
            "round": assigned.round,
            "start_fen": game.record.start.fen() if game else None,
            "orientation": table.orientation,
            "moves": self._written.of(game).moves if game else [],
            "result": game.result if game else None,
            "reason": game.reason if game else None,
        }


class _Written:
    """A record as it is published; written anew only where it has changed, for it grows with the game."""

    def __init__(self) -> None:
        self.moves = msgspec.Raw(b"[]")
        self.text = ""
        self._plies: list[tuple[Entry, bytes]] = []
        self._of: tuple[Any, ...] = ()

    def of(self, game: Game) -> _Written:
        """Written out for `game` as it is now."""
        record, result = game.record, game.result or "*"
        now = (game, record.entries, len(record.placed), result)
        if now != self._of:
            self._of = now
            known = {id(entry): ply for entry, ply in self._plies}
            self._plies = [(entry, known.get(id(entry)) or encode(move_payload(entry))) for entry in record.entries]
            self.moves = msgspec.Raw(b"[" + b",".join(ply for _, ply in self._plies) + b"]")
            self.text = record.pdn(result) if game.kind == "draughts" else record.pgn(result)
        return self


class _Seen:
    """What stands on the board, as it is published; put in words only when it, or the position, has changed."""

    def __init__(self) -> None:
        self._payload: dict[str, Any] = {}
        self._of: tuple[Any, ...] = ()

    def of(self, board: Observed, game: Game | None) -> dict[str, Any]:
        """The board, and where it differs from `game` as it is now."""
        position = game.position if game is not None else None
        now = (board.geometry, board.masks, board.unknown, board.pieces_known, position and position.fen())
        if now != self._of:
            # The board goes on changing the masks that it has.
            self._of = (now[0], list(board.masks), *now[2:])
            differs: list[Square] = []
            if position is not None:
                differs = board.geometry.names(node_of(position).difference(board))
            self._payload = {"physical": board.placement(), "differs": squares_out(differs)}
        return self._payload


def squares_out(squares: list[Square]) -> list[Square | int]:
    """Squares as published: numbers in draughts, then light squares by name; sorted."""
    numbers: list[Square | int] = sorted(int(square) for square in squares if square.isdigit())
    return numbers + sorted(square for square in squares if not square.isdigit())
