"""What stands on the board by the latest reports, and when each square last changed.

Positions are compared as bitboards: one integer a kind of piece, one bit a square, so that weighing a rival game costs
a dozen XORs. The bit order is the game's own (`chess`, `draughts.BIT`); the light squares of a draughts board follow
the dark ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from gateway.draughts import BIT_NUMBER
from gateway.events import Piece, Square


@dataclass(frozen=True)
class Geometry:
    """Squares and pieces of a game's board."""

    index: Mapping[Square, int]
    """The bit of each square."""
    white: str
    """White's piece letters."""
    black: str
    """Black's piece letters."""
    squares: Mapping[int, Square] = field(init=False)
    """The square of each bit."""
    kinds: Mapping[Piece, int] = field(init=False)
    """Place of each piece letter in `Observed.masks`, White's first."""
    size: int = field(init=False)
    """One more than the highest bit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "squares", {bit: name for name, bit in self.index.items()})
        object.__setattr__(self, "kinds", {letter: i for i, letter in enumerate(self.white + self.black)})
        object.__setattr__(self, "size", max(self.squares) + 1)

    def turned(self, square: Square) -> Square:
        """The same place on a board turned by 180 degrees."""
        if square.isdigit():
            return str(51 - int(square))
        rows = 8 if "K" in self.white else 10
        column, row = ord(square[0]) - ord("a"), int(square[1:])
        return f"{chr(ord('a') + rows - 1 - column)}{rows + 1 - row}"

    def names(self, mask: int) -> list[Square]:
        """The squares of a mask, in bit order."""
        return [self.squares[bit] for bit in bits(mask)]


def _draughts_index() -> dict[Square, int]:
    """Dark squares as `draughts.BIT` has them, then the light ones by column and row."""
    dark = {str(square): BIT_NUMBER[square] for square in range(1, 51)}
    light = [f"{'abcdefghij'[column]}{row}" for row in range(1, 11) for column in range(10) if (row + column) % 2 == 0]
    first = max(dark.values()) + 1
    return dark | {name: first + i for i, name in enumerate(light)}


CHESS = Geometry(
    {f"{file}{rank}": i for i, (rank, file) in enumerate(product(range(1, 9), "abcdefgh"))}, "PNBRQK", "pnbrqk"
)
DRAUGHTS = Geometry(_draughts_index(), "wW", "bB")

NEVER = float("-inf")


def bits(mask: int) -> Iterator[int]:
    """The set bits of a mask, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Observed:
    """The physical board as White sees it."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.masks = [0] * len(geometry.kinds)
        self.unknown = 0
        """Squares taken by something whose kind the board cannot tell."""
        self.white = 0
        self.black = 0
        self.occupied = 0
        self.pieces_known = True
        self.known = False
        """True once a whole position has been read."""
        self.excused = 0
        """Squares that have contradicted the game for long: a lost report, or a piece nobody puts right."""
        self.last_change = NEVER
        self.changed_at = [NEVER] * geometry.size
        self.lifted_at = [NEVER] * geometry.size
        self.landed_at = [NEVER] * geometry.size
        self._piece: list[Piece | None] = [None] * geometry.size
        self._taken_up: dict[Piece, float] = {}
        """When a piece of each kind was last lifted."""

    def piece(self, index: int) -> Piece | None:
        return self._piece[index]

    def set(self, square: Square, piece: Piece | None, at: float, *, echo: bool = True) -> bool:
        """Take one square's report; False if it says nothing new.

        A board reports changes only: what says nothing new tells that the report before it was lost, so the square has
        changed all the same. Without `echo` it counts as no report at all.
        """
        index = self.geometry.index[square]
        if not echo and self._piece[index] == piece:
            return False
        self.changed_at[index] = self.last_change = at
        self.excused &= ~(1 << index)
        (self.lifted_at if piece is None else self.landed_at)[index] = at
        before = self._piece[index]
        if before == piece:
            return False
        if before is not None and piece is None:
            self._taken_up[before] = at
        self._put(index, piece)
        return True

    def load(self, pieces: Mapping[Square, Piece], at: float, *, unseen: bool = False) -> list[int]:
        """Take a whole position; return the squares that differ from what was known.

        `unseen`: nothing is known of when its pieces came, for it is the first, or the board was away.
        """
        changed, gone = [], set()
        for square, index in self.geometry.index.items():
            piece, before = pieces.get(square), self._piece[index]
            if before != piece:
                self._put(index, piece)
                self.excused &= ~(1 << index)
                changed.append(index)
                if piece is None:
                    gone.add(before)
        for index in [] if unseen else changed:
            piece = self._piece[index]
            since = at if piece is None or piece in gone else self._put_down(piece, index, at)
            self.changed_at[index] = since
            (self.lifted_at if piece is None else self.landed_at)[index] = since
        if changed:
            self.last_change = at
        self.known = True
        return changed

    def _put_down(self, piece: Piece, index: int, at: float) -> float:
        """When a piece came to stand here whose landing nobody reported: no earlier than it was lifted."""
        return max(self.changed_at[index], self._taken_up.get(piece, at))

    def turn(self) -> None:
        """Read the board from the other side from now on."""
        geometry = self.geometry
        source = {bit: geometry.index[geometry.turned(square)] for square, bit in geometry.index.items()}
        pieces = list(self._piece)
        for bit, other in source.items():
            self._put(bit, pieces[other])
        for times in (self.changed_at, self.lifted_at, self.landed_at):
            before = list(times)
            for bit, other in source.items():
                times[bit] = before[other]

    def pieces(self) -> dict[Square, Piece]:
        """What stands, by square."""
        found = ((square, self._piece[bit]) for square, bit in self.geometry.index.items())
        return {square: piece for square, piece in found if piece is not None}

    def state(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        index = self.geometry.index
        return {
            "pieces": self.pieces(),
            "pieces_known": self.pieces_known,
            "known": self.known,
            "excused": self.excused,
            "taken_up": dict(self._taken_up),
            "last_change": _time_out(self.last_change),
            "changed_at": {name: self.changed_at[i] for name, i in index.items() if self.changed_at[i] != NEVER},
            "lifted_at": {name: self.lifted_at[i] for name, i in index.items() if self.lifted_at[i] != NEVER},
            "landed_at": {name: self.landed_at[i] for name, i in index.items() if self.landed_at[i] != NEVER},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Undo `state`, on a board just made."""
        index = self.geometry.index
        for square, piece in state["pieces"].items():
            self._put(index[square], piece)
        self.pieces_known, self.known = state["pieces_known"], state["known"]
        self.excused = state["excused"]
        self._taken_up = dict(state.get("taken_up", {}))  # not in the state of an earlier version
        self.last_change = NEVER if state["last_change"] is None else state["last_change"]
        for times in ("changed_at", "lifted_at", "landed_at"):
            for name, at in state[times].items():
                getattr(self, times)[index[name]] = at

    def placement(self) -> str:
        """What stands, as the contract writes it: the first field of a FEN; draughts `W31,K46:B1`, unknown `?1,2`."""
        pieces = self.pieces()
        if "K" in self.geometry.white:
            return "/".join(_rank(pieces, rank) for rank in range(8, 0, -1))
        parts = {"W": [], "B": [], "?": []}  # type: dict[str, list[str]]
        for square in sorted(pieces, key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name)):
            piece = pieces[square]
            parts[piece.upper() if piece != "?" else "?"].append(f"K{square}" if piece in "WB" else square)
        sides = f"W{','.join(parts['W'])}:B{','.join(parts['B'])}"
        unknown = f"?{','.join(parts['?'])}"
        if not parts["?"]:
            return sides
        return unknown if not parts["W"] and not parts["B"] else f"{sides}:{unknown}"

    def _put(self, index: int, piece: Piece | None) -> None:
        bit = 1 << index
        clear = ~bit
        old = self._piece[index]
        if old is not None:
            if old in self.geometry.kinds:
                self.masks[self.geometry.kinds[old]] &= clear
            self.unknown &= clear
            self.white &= clear
            self.black &= clear
            self.occupied &= clear
        self._piece[index] = piece
        if piece is None:
            return
        self.occupied |= bit
        kind = self.geometry.kinds.get(piece)
        if kind is None:
            self.unknown |= bit
            return
        self.masks[kind] |= bit
        if kind < len(self.geometry.white):
            self.white |= bit
        else:
            self.black |= bit


def _time_out(at: float) -> float | None:
    return None if at == NEVER else at


def _rank(pieces: Mapping[Square, Piece], rank: int) -> str:
    row = "".join(pieces.get(f"{file}{rank}", " ") for file in "abcdefgh")
    return re.sub(" +", lambda gap: str(len(gap[0])), row)
