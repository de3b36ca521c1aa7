"""Small boards of text, as White sees them: two columns a square, one line a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.terminal.text import Line, Look

CHESSMEN: Final = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))
DRAUGHTSMEN: Final = {"w": "○", "b": "●", "W": "◎", "B": "◉"}
SOLID: Final[Mapping[bool, Mapping[str, str]]] = {
    False: {piece: CHESSMEN[piece.lower()] for piece in CHESSMEN},
    True: {"w": "●", "b": "●", "W": "◉", "B": "◉"},
}
"""With colours both sides have the same shapes: outlines are hard to tell apart when they are small."""

LIGHT, DARK = "101", "240"
MOVED: Final = "66"
"""Where the last move came from and went to."""
WRONG: Final = "166"
"""Where the board differs from the game, while somebody is called for it; vermilion as the alert."""


def rows(placement: str, draughts: bool, moved: Collection[str], wrong: Collection[str], look: Look) -> list[Line]:
    """The board, line by line.

    Args:
        placement: the first field of a FEN; draughts `W31,32:B1,K2`, also with a turn before it.
        draughts: which of both.
        moved: squares of the last move.
        wrong: squares on which the board differs from the game.
        look: what the terminal can show.
    """
    pieces = draughts_pieces(placement) if draughts else chess_pieces(placement)
    grid = _draughts_grid() if draughts else _chess_grid()
    painter = _Painter(draughts, moved, wrong, look)
    return [
        Line([painter.square(name, pieces.get(name), (row + column) % 2 == 1) for column, name in enumerate(names)])
        for row, names in enumerate(grid)
    ]


def chess_pieces(placement: str) -> dict[str, str]:
    """Square -> FEN letter."""
    pieces = {}
    for rank, row in zip(range(8, 0, -1), placement.split("/"), strict=False):
        column = 0
        for letter in row:
            if letter.isdigit():
                column += int(letter)
            else:
                pieces[f"{'abcdefgh'[column % 8]}{rank}"] = letter
                column += 1
    return pieces


def draughts_pieces(placement: str) -> dict[str, str]:
    """Square -> `w b W B ?`; what stands on light squares is not drawn."""
    pieces = {}
    for part in placement.split(":"):
        for square in part[1:].split(","):
            king, number = square.startswith("K"), square.removeprefix("K")
            if part[:1] in ("W", "B", "?") and number.isdigit():
                pieces[number] = part[0] if king else part[0].lower()
    return pieces


def _chess_grid() -> list[list[str]]:
    return [[f"{file}{rank}" for file in "abcdefgh"] for rank in range(8, 0, -1)]


def _draughts_grid() -> list[list[str]]:
    """Numbers on the dark squares, nothing on the light ones; 1 is the second square of the first row."""
    return [[str(row * 5 + column // 2 + 1) if (row + column) % 2 else "" for column in range(10)] for row in range(10)]


@dataclass(frozen=True, slots=True)
class _Painter:
    """How the squares of one board are shown."""

    draughts: bool
    moved: Collection[str]
    wrong: Collection[str]
    look: Look

    def square(self, name: str, piece: str | None, dark: bool) -> tuple[str, str]:
        """Two characters and their style."""
        if not self.look.colour:
            return self._plain(name, piece, dark), ""
        background = WRONG if name in self.wrong else MOVED if name in self.moved else DARK if dark else LIGHT
        white = piece is not None and piece in ("wW" if self.draughts else "PNBRQK")
        signs = SOLID[self.draughts] if self.look.unicode else {}
        sign = " " if piece is None else signs.get(piece, piece)
        return f"{sign} ", f"{'1;38;5;231' if white else '38;5;16'};48;5;{background}"

    def _plain(self, name: str, piece: str | None, dark: bool) -> str:
        """Without colours a mark stands beside the piece."""
        signs = {} if not self.look.unicode else DRAUGHTSMEN if self.draughts else CHESSMEN
        empty = ("·" if self.look.unicode else ".") if dark else " "
        sign = empty if piece is None else signs.get(piece, piece)
        return f"{sign}{'!' if name in self.wrong else ' '}"
