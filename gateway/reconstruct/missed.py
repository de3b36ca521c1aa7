"""What a board kept in its own log while nobody listened: which of it was missed, and since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.events import Piece, Square
from gateway.reconstruct.rivals import Rival


@dataclass(frozen=True, slots=True)
class Away:
    """The moment at which the board went away."""

    since: float
    pieces: Mapping[Square, Piece]
    rival: Rival
    """The best reading then."""


def missed_changes(
    before: Mapping[Square, Piece], changes: list[tuple[Square, Piece | None]]
) -> list[tuple[Square, Piece | None]] | None:
    """The changes of a whole log that came after `before` stood for the last time; None if it never did.

    The log begins at power-up with an empty board.
    """
    pieces: dict[Square, Piece] = {}
    last = None
    for number, (square, piece) in enumerate(changes, 1):
        if piece is None:
            pieces.pop(square, None)
        else:
            pieces[square] = piece
        if pieces == before:
            last = number
    return None if last is None else changes[last:]
