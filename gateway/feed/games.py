"""The games of one table, as the public events and the `game` topic tell them. Pure: nothing here knows the time.

Events are applied in their order. What they do not explain (an event is missing) makes the table *lost*; the next
`game` payload then puts it right. Adopting one changes only what differs, so that a position that was set, which the
payload does not tell, survives.

A game's moves are a `Record`, so that texts are written as the gateway writes its own. Where only confirmed moves are
wanted, those that are merely seen wait in `seen`, and never reach the record before they are confirmed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from gateway.draughts import Ply
from gateway.events import Readings
from gateway.record import Record

Payload = Mapping[str, Any]

NAMES = ("white", "black", "event", "round", "time_control")
"""What is assigned to a game: keys of the payload that become tags."""


@dataclass(eq=False)
class Game:
    """One game of a table."""

    id: str | None
    """None: players are assigned, but nobody has begun."""
    table: str
    record: Record
    names: dict[str, str | None]
    began: float
    """When it was first heard of."""
    changed: float
    """The last event that changed it."""
    seen: list[Payload] = field(default_factory=list)
    """Moves that are not to be told before they are confirmed."""
    result: str = "*"
    reason: str | None = None
    readings: Readings | None = None
    """The last that a clock event told."""
    stuck: str | None = None
    """Why later moves of an adopted payload could not be replayed: a position was set that nobody has told."""
    version: int = 0
    """Counts changes."""

    @property
    def over(self) -> bool:
        return self.reason is not None

    @property
    def ply(self) -> int:
        """The last that is known, told or not."""
        return self.record.ply + len(self.seen)

    def touch(self, stamp: float) -> None:
        """Something has changed that can be read."""
        self.changed = max(self.changed, stamp)
        self.version += 1


class Table:
    """Follows one table."""

    def __init__(self, table_id: str, confirmed_only: bool) -> None:
        self.id = table_id
        self.games: dict[str, Game] = {}
        self.awaited: Game | None = None
        """The next game, once somebody is assigned to it."""
        self.lost = False
        """An event could not be applied: the next `game` payload is to be adopted."""
        self._confirmed_only = confirmed_only
        self._adopted = float("-inf")
        """Stamp of the last payload that was adopted; older events are in it."""

    def all(self) -> Iterable[Game]:
        """Every game, the one that is awaited last."""
        yield from self.games.values()
        if self.awaited is not None:
            yield self.awaited

    def forget(self, games: Iterable[Game]) -> None:
        """These are not wanted any more."""
        for game in games:
            if game.id is not None:
                self.games.pop(game.id, None)

    # --- events -------------------------------------------------------------------------------------------------

    def apply(self, event: Payload, stamp: float) -> None:
        """Take one public event. Raises KeyError, TypeError or ValueError on one that is none."""
        apply = _EVENTS.get(event["kind"])
        if apply is None or stamp < self._adopted:
            return
        if event["kind"] == "game_started":
            self._start(event, stamp)
            return
        game = self.games.get(event["game_id"])
        if game is not None:
            apply(self, game, event, stamp)
        elif event["kind"] != "clock":
            self.lost = True

    def _start(self, event: Payload, stamp: float) -> None:
        if event["game_id"] not in self.games:
            self.games[event["game_id"]] = _game(self.id, event, stamp)
            self.awaited = None

    def _move(self, game: Game, event: Payload, stamp: float) -> None:
        if event["ply"] <= game.ply:
            known = [entry.move.notation for entry in game.record.entries] + [move["notation"] for move in game.seen]
            self.lost |= known[event["ply"] - 1] != event["notation"]
            return
        if event["ply"] != game.ply + 1:
            self.lost = True
            return
        self._reopen(game, stamp)
        game.seen.append(event)
        if not self._confirmed_only:
            self._tell(game, event["ply"], stamp)

    def _tell(self, game: Game, ply: int, stamp: float) -> None:
        """Seen moves up to this one may be read from now on."""
        while game.seen and game.seen[0]["ply"] <= ply:
            if not _play(game, game.seen[0]):
                game.seen.clear()
                self.lost = True
                return
            game.seen.pop(0)
            game.touch(stamp)

    def _confirmed(self, game: Game, event: Payload, stamp: float) -> None:
        self._tell(game, event["ply"], stamp)
        if event["ply"] > game.record.ply:
            self.lost = True
            return
        game.record.confirm(event["ply"], _readings(event["clock"]))
        game.touch(stamp)

    def _retracted(self, game: Game, event: Payload, stamp: float) -> None:
        if stamp == self._adopted:
            return
        first = event["from_ply"]
        self.lost |= first > game.ply
        game.seen = [move for move in game.seen if move["ply"] < first]
        if first <= game.record.ply:
            game.record.retract(first)
            game.touch(stamp)
        self._reopen(game, stamp)

    def _set(self, game: Game, event: Payload, stamp: float) -> None:
        self._tell(game, event["ply"], stamp)
        if event["ply"] != game.record.ply:
            self.lost = True
            return
        game.record.set_position(event["ply"], event["fen"])
        game.touch(stamp)

    def _clock(self, game: Game, event: Payload, stamp: float) -> None:
        if event["white"] is not None and event["black"] is not None:
            game.readings = Readings(event["white"], event["black"])

    def _ended(self, game: Game, event: Payload, stamp: float) -> None:
        self._tell(game, game.ply, stamp)
        game.result, game.reason = event["result"], event["reason"]
        game.touch(stamp)

    def _reopen(self, game: Game, stamp: float) -> None:
        """A later move supersedes the end; a `game_ended` follows if it stands all the same."""
        if game.over:
            game.result, game.reason = "*", None
            game.touch(stamp)

    # --- the `game` topic ---------------------------------------------------------------------------------------

    def adopt(self, payload: Payload, stamp: float) -> None:
        """Take the table's game as it was at `stamp`. Raises KeyError, TypeError or ValueError on nonsense."""
        if stamp < self._adopted:
            return
        if payload["game_id"] is None:
            self.expect(payload, stamp)
            return
        self.lost = False
        self._adopted = stamp
        game = self.games.get(payload["game_id"])
        if game is None:
            game = self.games[payload["game_id"]] = _game(self.id, payload, stamp)
            self.awaited = None
        game.stuck = None
        self._take(game, payload["moves"], ended=payload["result"] is not None, stamp=stamp)
        now = (payload["result"] or "*", payload["reason"], _names(payload))
        if now != (game.result, game.reason, game.names):
            game.result, game.reason, game.names = now
            game.touch(stamp)

    def expect(self, payload: Payload, stamp: float) -> None:
        """Nobody has begun: note who is to play, if that is known."""
        names = _names(payload)
        assigned = any(names[key] for key in ("white", "black", "round"))
        if payload["game_id"] is not None:
            return
        if not assigned:
            self.awaited = None
        elif self.awaited is None or self.awaited.names != names or self.awaited.record.game != payload["game"]:
            self.awaited = _game(self.id, {**payload, "start_fen": None}, stamp)

    def _take(self, game: Game, moves: Sequence[Payload], *, ended: bool, stamp: float) -> None:
        """Make the record that of `moves`, from the first one that differs."""
        record = game.record
        known = [(entry.move.notation, entry.move.legal) for entry in record.entries]
        told = [(move["notation"], move["legal"]) for move in moves]
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(known, told, strict=False))))
        if same < record.ply:
            record.retract(same + 1)
            game.touch(stamp)
        last = len(moves)
        if self._confirmed_only and not ended:
            last = max((move["ply"] for move in moves if move["confirmed"]), default=0)
        for move in moves[same:last]:
            if not _replay(record, move):
                game.stuck = f"{move['notation']} does not follow from {record.position.fen()}"
                break
            game.touch(stamp)
        game.seen = [] if game.stuck else list(moves[last:])
        for move, entry in zip(moves, record.entries, strict=False):
            clock = _readings(move["clock"])
            if move["confirmed"] and (not entry.confirmed or (clock is not None and entry.clock != clock)):
                record.confirm(move["ply"], clock)
                game.touch(stamp)


_EVENTS: Mapping[str, Any] = {
    "game_started": Table._start,
    "move": Table._move,
    "move_confirmed": Table._confirmed,
    "move_retracted": Table._retracted,
    "position_set": Table._set,
    "clock": Table._clock,
    "game_ended": Table._ended,
}


# --- records ----------------------------------------------------------------------------------------------------


def _names(payload: Payload) -> dict[str, str | None]:
    return {key: payload[key] for key in NAMES}


def _game(table: str, payload: Payload, stamp: float) -> Game:
    record = Record(payload["game"], payload["start_fen"])
    return Game(payload["game_id"], table, record, _names(payload), began=stamp, changed=stamp)


def _play(game: Game, move: Payload) -> bool:
    """Add a move; False if it does not follow from what is known.

    `fen` of an event says where an illegal ply has led; the moves of a payload have none.
    """
    record = game.record
    if "fen" not in move:
        return _replay(record, move)
    if move["legal"]:
        if not _replay(record, move):
            return False
        if record.position.fen() == move["fen"]:
            return True
        record.retract(record.ply)
        return False
    state = record.state()
    step = {"uci": None, "squares": None, "captured": None, **{key: move[key] for key in _MOVE if key in move}}
    state["steps"].append({"move": step, "confirmed": False, "press": None})
    game.record = Record.restore(state)
    return True


_MOVE = ("ply", "side", "notation", "uci", "squares", "captured", "fen", "legal", "source", "clock", "elapsed")


def _replay(record: Record, move: Payload) -> bool:
    """Add a move by its notation; False if it does not follow."""
    legal = bool(move["legal"])
    try:
        if move.get("squares") is None:
            ply: str | Ply = move["uci"]
        elif legal:
            ply = record.parse(move["notation"])
        else:
            ply = Ply(tuple(move["squares"]), tuple(move["captured"] or ()))
        record.play(
            ply,
            legal=legal,
            source=move.get("source", "board"),
            clock=_readings(move["clock"]),
            elapsed=move["elapsed"],
        )
    except ValueError:
        return False
    return True


def _readings(plain: Payload | None) -> Readings | None:
    return None if plain is None else Readings(plain["white"], plain["black"])
