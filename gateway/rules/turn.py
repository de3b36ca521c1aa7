"""What a player has left on the board, against the position from which he was to move.

Every explanation of a turn is a *change*: which squares hold something else after it. What a change does not explain is
its *rest*: nothing is left of the right one, one square is left where a piece is missing or too many, and so on. A
piece that the board cannot name (`?`) may be any; crowns are no part of a move in draughts and are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import chess

from gateway.catalogue import Fact
from gateway.draughts import Ply, Position
from gateway.events import OTHER, Piece, Side, Square
from gateway.reconstruct.phase import KEPT, Same
from gateway.record import ChessPosition, GamePosition, notate, parse

Change = Mapping[Square, Piece | None]
"""What a ply makes of each square that it touches."""
Rest = Mapping[Square, tuple[Piece | None, Piece | None]]
"""Squares that are not as expected: what should stand there, and what does."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a turn."""

    kind: str
    side: Side | None
    facts: Mapping[str, Fact] = field(default_factory=dict)
    squares: tuple[Square, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    info: bool = False
    """It may have an innocent cause, and is only noted."""


@dataclass(frozen=True)
class Turn:
    """`side` was to move in `before`, and now `stands` is on the board."""

    before: GamePosition
    stands: Mapping[Square, Piece]
    chess960: bool = False

    @cached_property
    def side(self) -> Side:
        return self.before.turn

    @cached_property
    def other(self) -> Side:
        return OTHER[self.before.turn]

    @cached_property
    def expected(self) -> Mapping[Square, Piece]:
        """What stood before."""
        return _expected(Same(self.before))

    @cached_property
    def differing(self) -> frozenset[Square]:
        """The squares that are not as they were."""
        expected, stands = self.expected, self.stands
        squares = {square for square, _ in expected.items() ^ stands.items()}
        return frozenset(s for s in squares if not self.same(expected.get(s), stands.get(s)))

    @cached_property
    def draughts(self) -> bool:
        return isinstance(self.before, Position)

    def same(self, expected: Piece | None, seen: Piece | None) -> bool:
        """Whether what is seen may be what is expected."""
        if expected is None or seen is None:
            return expected is seen
        if seen == "?":
            return True
        return expected.lower() == seen.lower() if self.draughts else expected == seen

    def owner(self, piece: Piece) -> Side | None:
        """Whose piece it is; None if the board cannot tell."""
        if piece == "?":
            return None
        if self.draughts:
            return "white" if piece.lower() == "w" else "black"
        return "white" if piece.isupper() else "black"

    @cached_property
    def nearly(self) -> list[tuple[Change, Square]]:
        """Plies that explain all but one square, no ply at all being the first that is tried."""
        found = []
        for change in ({}, *(change for _, change in self.legal)):
            if len(self.differing - change.keys()) <= 1:
                rest = self.rest(change)
                if len(rest) == 1:
                    found.append((change, next(iter(rest))))
        return found

    def left(self, square: Square) -> bool:
        """Whether what stood there is gone, or something else stands there."""
        return square in self.differing and square in self.expected

    def rest(self, change: Change) -> Rest:
        """What `change` does not explain."""
        found = {}
        for square in self.differing | change.keys():
            expected = change[square] if square in change else self.expected.get(square)
            seen = self.stands.get(square)
            if not self.same(expected, seen):
                found[square] = (expected, seen)
        return found

    @cached_property
    def legal(self) -> list[tuple[str, Change]]:
        """Every legal ply by its notation, with its change; the square that the piece leaves comes first."""
        return _legal(Same(self.before))

    @cached_property
    def legal_of_other(self) -> list[tuple[str, Change]]:
        """What the other side could play, if it were to move."""
        return _legal_of_other(Same(self.before))

    def went_on(self, notation: str | None) -> Turn:
        """The turn after a legal ply, as if the same side were to move again."""
        assert notation is not None
        after = notate(self.before, parse(self.before, notation)).after
        return Turn(_passed(after), self.stands, self.chess960)

    def fits(self, changes: list[tuple[str, Change]]) -> str | None:
        """The notation of the ply that explains everything, if one does."""
        differing = self.differing
        return next(
            (notation for notation, change in changes if differing <= change.keys() and not self.rest(change)), None
        )

    @cached_property
    def gone(self) -> Mapping[Square, Piece]:
        """Where a piece stood and nothing does."""
        return {s: self.expected[s] for s in self.differing if s in self.expected and s not in self.stands}

    @cached_property
    def come(self) -> Mapping[Square, Piece]:
        """Where a piece stands that did not stand there."""
        return {s: self.stands[s] for s in self.differing if s in self.stands}


@lru_cache(KEPT)
def _expected(key: Same) -> Mapping[Square, Piece]:
    return key.position.pieces()


@lru_cache(KEPT)
def _legal(key: Same) -> list[tuple[str, Change]]:
    return list(_changes(key.position))


@lru_cache(KEPT)
def _legal_of_other(key: Same) -> list[tuple[str, Change]]:
    return list(_changes(_passed(key.position)))


def _changes(position: GamePosition) -> Iterator[tuple[str, Change]]:
    if isinstance(position, ChessPosition):
        board = position.board
        # To take a king is no move (FIDE 1.4.1); it offers itself where one was left in check.
        for move in board.generate_legal_moves(to_mask=chess.BB_ALL & ~board.kings):
            yield board.uci(move), chess_change(board, move)
    else:
        assert isinstance(position, Position)
        for ply in position.legal_plies():
            yield position.notation(ply), draughts_change(position, ply)


def chess_change(board: chess.Board, move: chess.Move) -> dict[Square, Piece | None]:
    """What `move`, carried out as it is written, makes of the squares."""
    kind = board.piece_type_at(move.from_square)
    assert kind is not None
    letters, names = _LETTERS[board.turn], chess.SQUARE_NAMES
    if kind == chess.KING and board.is_castling(move):
        rank = chess.square_rank(move.from_square)
        kingside = move.to_square > move.from_square
        king, rook = (6, 5) if kingside else (2, 3)
        home = move.to_square
        if board.piece_type_at(home) != chess.ROOK:
            home = chess.square(7 if kingside else 0, rank)
        return {
            names[move.from_square]: None,
            names[home]: None,
            names[chess.square(king, rank)]: letters[chess.KING],
            names[chess.square(rook, rank)]: letters[chess.ROOK],
        }
    change = {names[move.from_square]: None, names[move.to_square]: letters[move.promotion or kind]}
    if kind == chess.PAWN and board.is_en_passant(move):
        victim = chess.square(chess.square_file(move.to_square), chess.square_rank(move.from_square))
        change[names[victim]] = None
    return change


_LETTERS: Mapping[chess.Color, tuple[Piece | None, ...]] = {
    chess.WHITE: tuple(letter and letter.upper() for letter in chess.PIECE_SYMBOLS),
    chess.BLACK: tuple(chess.PIECE_SYMBOLS),
}


def draughts_change(position: Position, ply: Ply) -> dict[Square, Piece | None]:
    """What `ply`, carried out as it is written, makes of the squares."""
    change: dict[Square, Piece | None] = {str(square): None for square in (ply.departure, *ply.captured)}
    change[str(ply.arrival)] = position.piece_at(ply.departure)
    return change


def _passed(position: GamePosition) -> GamePosition:
    """The same position with the other side to move."""
    if isinstance(position, ChessPosition):
        board = position.board.copy(stack=False)
        board.turn = not board.turn
        board.ep_square = None
        return ChessPosition(board)
    assert isinstance(position, Position)
    return position.with_turn(OTHER[position.turn])


def written(before: GamePosition, notation: str) -> str:
    """A legal ply as the record writes it: SAN in chess, where `notation` is UCI."""
    return notate(before, notation).notation if isinstance(before, ChessPosition) else notation


def hyphened(uci: str) -> str:
    """A ply that has no SAN, as a person writes it: `e2-e4`, `e7-e8=Q`."""
    return f"{uci[:2]}-{uci[2:4]}" + (f"={uci[4].upper()}" if uci[4:] else "")


def written_of_other(before: GamePosition, notation: str) -> str:
    """A ply of the side that is not to move, as the record would write it."""
    return written(_passed(before), notation)
