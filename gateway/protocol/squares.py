"""The squares of both boards in reading order (top left first, seen by White), under the names of `gateway.events`."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.events import GameKind, Square

CHESS_SQUARES: tuple[Square, ...] = tuple(f"{file}{rank}" for rank in range(8, 0, -1) for file in "abcdefgh")


def _draughts_square(field: int) -> Square:
    """Dark squares have odd row + column (bottom left is dark) and are numbered; light ones go by column and row."""
    row, column = divmod(field, 10)
    return str(field // 2 + 1) if (row + column) % 2 else f"{'abcdefghij'[column]}{10 - row}"


DRAUGHTS_SQUARES: tuple[Square, ...] = tuple(_draughts_square(field) for field in range(100))
PLAYING_SQUARES: tuple[Square, ...] = tuple(str(number) for number in range(1, 51))

SQUARES: Mapping[GameKind, tuple[Square, ...]] = {
    "chess": CHESS_SQUARES,
    "chess960": CHESS_SQUARES,
    "draughts": DRAUGHTS_SQUARES,
}
