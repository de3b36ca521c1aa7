"""What follows from a game's record, worked out once for each change of it.

A record changes a few times a minute; board and clock report many times a second, and at each report many rules ask
the same questions. So nothing here is worked out again until a ply is added, confirmed or taken back, or a position
is set; and nothing before a rule asks.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

from gateway.events import GameKind, Side
from gateway.reconstruct.node import Node
from gateway.reconstruct.phase import KEPT, Same, node_of, over
from gateway.record import Entry, GamePosition, Record, position_from_fen, repetition_key


@lru_cache(KEPT)
def _node(key: Same) -> Node:
    return node_of(key.position)


class Recorded:
    """A record between two changes."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.entries = record.entries
        self.position = record.position
        self.ply = record.ply
        self.start = record.start
        self.placed = record.placed
        """The positions that were set: from the first on, counts and repetitions are lower bounds."""
        self._moves: dict[Side, int] = {}

    def holds(self, record: Record) -> bool:
        """Whether nothing has changed since."""
        return record is self._record and record.entries is self.entries and record.position is self.position

    @property
    def turn(self) -> Side:
        return self.position.turn

    @property
    def last(self) -> Entry | None:
        """The last ply."""
        return self.entries[-1] if self.entries else None

    def position_at(self, ply: int) -> GamePosition:
        """The position from which ply `ply` + 1 is played; 0 is the start.

        Raises:
            ValueError: there is no such ply.
        """
        if self.placed or not 0 <= ply <= self.ply:
            return self._record.position_at(ply)
        return self.entries[ply - 1].position if ply else self.start

    def node_at(self, ply: int) -> Node:
        """The same, to be compared with the board."""
        return self.node if ply == self.ply else _node(Same(self.position_at(ply)))

    @cached_property
    def node(self) -> Node:
        """The present position, to be compared with the board."""
        return _node(Same(self.position))

    def moves_completed(self, side: Side) -> int:
        """Moves that `side` has made in the whole game."""
        if side not in self._moves:
            self._moves[side] = self._record.moves_completed(side)
        return self._moves[side]

    @cached_property
    def fewest(self) -> int:
        """Moves that both have made."""
        return min(self.moves_completed("white"), self.moves_completed("black"))

    @cached_property
    def over(self) -> tuple[str, str] | None:
        """Result and reason if the present position ends the game."""
        return over(self.position)

    @cached_property
    def last_over(self) -> tuple[str, str] | None:
        """The same of the position after the last ply, which may not be the present one if another was set."""
        return self.over if self.last is None else over(self.last.position)

    @cached_property
    def confirmed(self) -> Entry | None:
        """The last ply that is certain."""
        return next((entry for entry in reversed(self.entries) if entry.confirmed), None)

    @cached_property
    def confirmed_over(self) -> bool:
        """Whether the position after it ends the game."""
        return self.confirmed is not None and over(self.confirmed.position) is not None

    @cached_property
    def occurrences(self) -> list[int]:
        """The plies up to the last certain one after which its position stood, 0 for the start."""
        entry = self.confirmed
        if entry is None:
            return []
        same_pieces = self.node_at(0).masks == self.node_at(entry.ply).masks
        start = [0] if same_pieces and repetition_key(self.start.fen()) == entry.key else []
        placed = [step.ply for step in self.placed if step.key == entry.key and step.ply <= entry.ply]
        return sorted({*start, *placed, *(e.ply for e in self.entries if e.key == entry.key and e.ply <= entry.ply)})

    @cached_property
    def last_end(self) -> tuple[Entry, tuple[str, str]] | None:
        """The last ply whose position ends the game, with result and reason."""
        for entry in reversed(self.entries):
            verdict = over(entry.position)
            if verdict is not None:
                return entry, verdict
        return None


@lru_cache(KEPT)
def node_of_fen(game: GameKind, fen: str) -> Node:
    """A position given as FEN, to be compared with the board."""
    return node_of(position_from_fen(game, fen))
