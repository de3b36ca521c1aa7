"""Positions in which walled-in pieces can never give mate, whoever moves in whatever order.

For every piece the squares are gathered to which it might ever come, turn and order of moves left aside: a square is
open unless something stands on it that never moves and is never taken; a king keeps away from squares that a pawn
guards which never moves and is never taken. What is gathered is never too little, so what it excludes is excluded by
the rules. A mate needs a square on which the king can be checked while every flight is taken or guarded.

A pawn that might promote, or a right to castle, ends the attempt: such positions are not blocked.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import chess


@dataclass(slots=True)
class _Man:
    """One piece and where it might come."""

    type: chess.PieceType
    color: chess.Color
    home: chess.Square
    reach: chess.Bitboard
    taken: bool = False
    """It might be captured."""

    @property
    def fixed(self) -> bool:
        """It stands where it stands for ever."""
        return not self.taken and self.reach == chess.BB_SQUARES[self.home]


class _UnblockedError(Exception):
    """Something may happen that this test does not follow."""


def never_mated(board: chess.Board, winner: chess.Color) -> bool:
    """Tell whether it is proved that `winner` can never mate; False is no proof of anything."""
    steps = growing(board, winner)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return bool(end.value)


def growing(board: chess.Board, winner: chess.Color) -> Generator[None, None, bool]:
    """`never_mated`, with a pause after each piece that is followed."""
    if board.clean_castling_rights() or not board.pawns:
        return False
    men = [_man(board, square) for square in chess.scan_forward(board.occupied)]
    grown = True
    while grown:
        grown = False
        for man in men:
            try:
                grown |= _grow(man, men)
            except _UnblockedError:
                return False
            yield
    for square in _squares(_king(men, not winner).reach):
        if _mate_on(square, men, winner):
            return False
        yield
    return True


def _man(board: chess.Board, square: chess.Square) -> _Man:
    piece = board.piece_at(square)
    assert piece is not None
    reach = chess.BB_SQUARES[square]
    if board.ep_square is not None and square == board.ep_square + (-8 if board.turn else 8):
        # It may still be taken on the square that it passed.
        reach |= chess.BB_SQUARES[board.ep_square]
    return _Man(piece.piece_type, piece.color, square, reach)


def _squares(mask: chess.Bitboard) -> Iterator[chess.Square]:
    return chess.scan_forward(mask)


def _king(men: list[_Man], color: chess.Color) -> _Man:
    return next(man for man in men if man.type == chess.KING and man.color == color)


def _fixed(men: list[_Man], color: chess.Color | None = None) -> chess.Bitboard:
    """Squares that are taken for ever."""
    squares = [chess.BB_SQUARES[man.home] for man in men if man.fixed and color in (None, man.color)]
    return sum(squares)


def _grow(man: _Man, men: list[_Man]) -> bool:
    """Add what one more move of `man` might bring; tell whether that is anything new."""
    grown = False
    enemies = [other for other in men if other.color != man.color]
    for square in _squares(man.reach):
        quiet, captures = _targets(man, square, men)
        for enemy in enemies:
            # An enemy that is met might be taken, except the king.
            if enemy.type != chess.KING and enemy.reach & captures:
                grown |= not enemy.taken
                enemy.taken = True
        met = 0
        for enemy in enemies:
            if enemy.type != chess.KING:
                met |= enemy.reach
        new = (quiet | captures & met) & ~man.reach
        if new:
            grown = True
            man.reach |= new
            if man.type == chess.PAWN and new & chess.BB_BACKRANKS:
                raise _UnblockedError
    return grown


def _targets(man: _Man, square: chess.Square, men: list[_Man]) -> tuple[chess.Bitboard, chess.Bitboard]:
    """Where `man` might go from `square` without and with a capture; the latter only if an enemy comes there."""
    fixed = _fixed(men)
    if man.type == chess.PAWN:
        return _pushes(man, square, fixed), chess.BB_PAWN_ATTACKS[man.color][square]
    attacks = _attacks(man.type, man.color, square, fixed)
    if man.type == chess.KING:
        attacks &= ~_guarded_for_ever(men, not man.color)
    # A square held for ever by an own piece stays closed; one held by an enemy opens when he might be taken.
    return attacks & ~fixed, attacks & ~_fixed(men, man.color)


def _pushes(man: _Man, square: chess.Square, fixed: chess.Bitboard) -> chess.Bitboard:
    """A pawn's steps; two steps are two of one step here, which opens no square too few."""
    step = square + (8 if man.color else -8)
    if not 0 <= step < 64:
        raise _UnblockedError
    return chess.BB_SQUARES[step] & ~fixed


def _attacks(kind: chess.PieceType, color: chess.Color, square: chess.Square, fixed: chess.Bitboard) -> chess.Bitboard:
    """Squares attacked from `square` over a board on which only what is fixed stands in the way."""
    if kind == chess.PAWN:
        return chess.BB_PAWN_ATTACKS[color][square]
    if kind == chess.KNIGHT:
        return chess.BB_KNIGHT_ATTACKS[square]
    if kind == chess.KING:
        return chess.BB_KING_ATTACKS[square]
    attacks = chess.BB_EMPTY
    if kind in (chess.BISHOP, chess.QUEEN):
        attacks |= chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & fixed]
    if kind in (chess.ROOK, chess.QUEEN):
        attacks |= chess.BB_RANK_ATTACKS[square][chess.BB_RANK_MASKS[square] & fixed]
        attacks |= chess.BB_FILE_ATTACKS[square][chess.BB_FILE_MASKS[square] & fixed]
    return attacks


def _guarded_for_ever(men: list[_Man], color: chess.Color) -> chess.Bitboard:
    """Squares on which no king of the other side may ever stand."""
    guarded = chess.BB_EMPTY
    for man in men:
        if man.type == chess.PAWN and man.color == color and man.fixed:
            guarded |= chess.BB_PAWN_ATTACKS[color][man.home]
    return guarded


def _mate_on(square: chess.Square, men: list[_Man], winner: chess.Color) -> bool:
    """Whether the king might be mated on `square`: checked there, and every flight taken or guarded."""
    fixed = _fixed(men)
    checks = flights = chess.BB_EMPTY
    for man in men:
        if man.color == winner and man.type != chess.KING:
            for stand in _squares(man.reach):
                checks |= _attacks(man.type, man.color, stand, fixed)
        elif man.color != winner and man.type != chess.KING:
            flights |= man.reach
    if not checks & chess.BB_SQUARES[square]:
        return False
    open_flights = chess.BB_KING_ATTACKS[square] & ~flights & ~checks
    hunter = _king(men, winner)
    return any(
        not open_flights & ~chess.BB_KING_ATTACKS[stand]
        for stand in _squares(hunter.reach & ~chess.BB_KING_ATTACKS[square] & ~chess.BB_SQUARES[square])
    )
