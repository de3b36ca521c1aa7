"""A game as work for hands: for each ply, what must leave, arrive and go away, and where it could go wrong.

Hands know no rules. All that they need of a game is worked out here once, the same for chess and draughts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import chess

from gateway import draughts
from gateway.events import GameKind, Piece, Side, Square

Pieces = dict[Square, Piece]


@dataclass(frozen=True, slots=True)
class Ply:
    """One half-move as hands see it."""

    name: str
    """UCI; in draughts the departure, the arrival and the captured squares: what two readers must agree on."""
    side: Side
    piece: Piece
    departure: Square
    arrival: Square
    becomes: Piece
    """What stands on the arrival at last: `piece`, unless it was promoted or crowned."""
    fen: str
    """The game after the ply."""
    after: Mapping[Square, Piece]
    """All that stands after the ply."""
    path: tuple[Square, ...] = ()
    """Squares on the way: dragged over in chess, landed on in a draughts capture."""
    victims: tuple[tuple[Square, Piece], ...] = ()
    """What is taken, in order of jumping."""
    rook: tuple[Square, Square, Piece] | None = None
    """Castling: where the rook stands, where it goes, which rook."""
    elsewhere: tuple[Square, ...] = ()
    """Empty squares on which this piece could have been set down as a ply of its own."""
    slides: bool = False
    """A hand may drag the piece over its path."""
    think: float | None = None
    """Seconds from turn to press as a real clock showed them; None: not known."""

    @property
    def crowned(self) -> bool:
        return self.piece != self.becomes

    def touches(self) -> set[Square]:
        """Every square that the ply changes."""
        squares = {self.departure, self.arrival, *(square for square, _ in self.victims)}
        return squares | {self.rook[0], self.rook[1]} if self.rook else squares


@dataclass(frozen=True, slots=True)
class Score:
    """A whole game."""

    game: GameKind
    start_fen: str
    start: Mapping[Square, Piece]
    plies: tuple[Ply, ...]
    result: str = "*"
    ended_by: str | None = None
    """`checkmate`, `stalemate`, `no_moves`, `no_pieces` where the last position ends the game by itself."""
    detours: Mapping[int, tuple[Ply, ...]] = field(default_factory=dict)
    """Index of a ply -> plies that are played before it and taken back."""
    name: str = ""


# --- chess ------------------------------------------------------------------------------------------------------


def chess_pieces(board: chess.Board) -> Pieces:
    """Square -> FEN letter."""
    return {chess.SQUARE_NAMES[square]: piece.symbol() for square, piece in board.piece_map().items()}


def _side(colour: chess.Color) -> Side:
    return "white" if colour else "black"


def chess_ply(board: chess.Board, move: chess.Move, think: float | None = None) -> Ply:
    """The work that a legal `move` asks for."""
    names = chess.SQUARE_NAMES
    mover = board.piece_at(move.from_square)
    if mover is None:
        raise ValueError(f"nothing stands on the departure of {move.uci()}")
    rook: tuple[Square, Square, Piece] | None = None
    victims: tuple[tuple[Square, Piece], ...] = ()
    arrival = move.to_square
    if board.is_castling(move):
        kingside = chess.square_file(move.to_square) > chess.square_file(move.from_square)
        rank = chess.square_rank(move.from_square)
        arrival = chess.square(6 if kingside else 2, rank)
        rook_from = _castling_rook(board, move, kingside)
        rook = names[rook_from], names[chess.square(5 if kingside else 3, rank)], "R" if mover.color else "r"
    elif board.is_capture(move):
        beside = chess.square(chess.square_file(arrival), chess.square_rank(move.from_square))
        taken = beside if board.is_en_passant(move) else arrival
        victim = board.piece_at(taken)
        assert victim is not None
        victims = ((names[taken], victim.symbol()),)
    elsewhere = tuple(
        names[other.to_square]
        for other in board.generate_legal_moves(chess.BB_SQUARES[move.from_square])
        if other.to_square != arrival and not board.piece_at(other.to_square) and not board.is_castling(other)
    )
    after = board.copy(stack=False)
    after.push(move)
    becomes = chess.Piece(move.promotion, mover.color) if move.promotion else mover
    between = chess.SquareSet(chess.between(move.from_square, arrival))
    path = sorted(between, key=lambda square: chess.square_distance(move.from_square, square))
    return Ply(
        name=move.uci(),
        side=_side(board.turn),
        piece=mover.symbol(),
        departure=names[move.from_square],
        arrival=names[arrival],
        becomes=becomes.symbol(),
        fen=after.fen(),
        after=chess_pieces(after),
        path=tuple(names[square] for square in path if not board.piece_at(square)),
        victims=victims,
        rook=rook,
        elsewhere=tuple(dict.fromkeys(elsewhere)),
        slides=mover.piece_type in (chess.ROOK, chess.QUEEN, chess.BISHOP, chess.KING) and arrival != move.from_square,
        think=think,
    )


def _castling_rook(board: chess.Board, move: chess.Move, kingside: bool) -> chess.Square:
    """Where the rook of a castling stands, however the move is written."""
    if board.piece_at(move.to_square) == chess.Piece(chess.ROOK, board.turn):
        return move.to_square
    rooks = chess.SquareSet(board.castling_rights & chess.BB_RANKS[chess.square_rank(move.from_square)])
    return max(rooks) if kingside else min(rooks)


def chess_score(
    board: chess.Board,
    moves: Iterable[chess.Move],
    thinks: Sequence[float | None] = (),
    result: str = "*",
    name: str = "",
) -> Score:
    """A chess or Chess960 game from `board` (which is left as it was)."""
    board = board.copy(stack=False)
    game: Final[GameKind] = "chess960" if board.chess960 else "chess"
    start_fen, start = board.fen(), chess_pieces(board)
    plies = []
    for index, move in enumerate(moves):
        plies.append(chess_ply(board, move, thinks[index] if index < len(thinks) else None))
        board.push(move)
    ended_by = "checkmate" if board.is_checkmate() else "stalemate" if board.is_stalemate() else None
    return Score(game, start_fen, start, tuple(plies), result, ended_by, name=name)


# --- draughts ---------------------------------------------------------------------------------------------------


def draughts_name(departure: int, arrival: int, captured: Iterable[int]) -> str:
    """What makes a draughts ply itself, by whichever path: ``32-28``, ``19x28:23`` with what it takes."""
    taken = sorted(captured)
    return f"{departure}x{arrival}:{','.join(map(str, taken))}" if taken else f"{departure}-{arrival}"


def draughts_ply(position: draughts.Position, ply: draughts.Ply, think: float | None = None) -> Ply:
    """The work that a legal `ply` asks for."""
    piece = position.piece_at(ply.departure)
    if piece is None:
        raise ValueError(f"nothing stands on {ply.departure}")
    after = position.after(ply)
    standing = position.pieces()
    others = position.quiet_plies() if not ply.captured else position.captures()
    elsewhere = {other.arrival for other in others if other.departure == ply.departure} - {ply.arrival, ply.departure}
    return Ply(
        name=draughts_name(ply.departure, ply.arrival, ply.captured),
        side=position.turn,
        piece=piece,
        departure=str(ply.departure),
        arrival=str(ply.arrival),
        becomes=after.pieces()[str(ply.arrival)],
        fen=after.fen(),
        after=after.pieces(),
        path=tuple(str(square) for square in ply.path[1:-1]),
        victims=tuple((str(square), standing[str(square)]) for square in ply.captured),
        elsewhere=tuple(str(square) for square in sorted(elsewhere)),
        think=think,
    )


def draughts_score(
    position: draughts.Position,
    plies: Iterable[draughts.Ply],
    result: str = "*",
    name: str = "",
    thinks: Sequence[float | None] = (),
) -> Score:
    """A draughts game from `position`."""
    start_fen, start = position.fen(), position.pieces()
    score = []
    for index, ply in enumerate(plies):
        score.append(draughts_ply(position, ply, thinks[index] if index < len(thinks) else None))
        position = position.after(ply)
    sides = {"w": "white", "b": "black"}
    has_pieces = any(sides[piece.lower()] == position.turn for piece in position.pieces().values())
    ended_by = None if position.legal_plies() else "no_moves" if has_pieces else "no_pieces"
    return Score("draughts", start_fen, start, tuple(score), result, ended_by, name=name)
