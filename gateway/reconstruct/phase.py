"""What the whole board says about the phase: a start position, which way round it lies, a result shown by the kings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import chess

from gateway.draughts import Position
from gateway.events import GameKind, Piece, Side, Square
from gateway.reconstruct.chess import ChessNode
from gateway.reconstruct.draughts import DraughtsNode
from gateway.reconstruct.node import Node
from gateway.reconstruct.observed import CHESS, DRAUGHTS, Geometry, Observed
from gateway.record import START_FEN, ChessPosition, GamePosition, position_from_fen

TELLING = 4
"""Men of each side from which the board tells which way round it lies."""
CENTRE = ("d4", "e4", "d5", "e5")
_LIGHT = ("e4", "d5")

KEPT = 256
"""Positions of which what follows is kept, all tables together: some of each of a hall."""


class Same:
    """A position as the key of a cache: positions are never changed, so the same object is the same position."""

    def __init__(self, position: GamePosition) -> None:
        self.position = position

    def __hash__(self) -> int:
        return id(self.position)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.position is other.position


def geometry(game: GameKind) -> Geometry:
    """The board on which `game` is played."""
    return DRAUGHTS if game == "draughts" else CHESS


def node_of(position: GamePosition) -> Node:
    """A position as the reader of rival games takes it."""
    if isinstance(position, ChessPosition):
        return ChessNode(position.board.copy(stack=False))
    assert isinstance(position, Position)
    return DraughtsNode(position)


def position_of(node: Node) -> GamePosition:
    """The position of a rival game."""
    if isinstance(node, ChessNode):
        return ChessPosition(node.board)
    assert isinstance(node, DraughtsNode)
    return node.position


def start_position(game: GameKind, pieces: Mapping[Square, Piece], start_fen: str | None = None) -> GamePosition | None:
    """The position from which a game may start, if that is what stands; None otherwise.

    Args:
        start_fen: the start that was assigned; None is the usual one, or any of the 960.
    """
    if game == "chess960" and start_fen is None:
        return _chess960(pieces)
    expected = position_from_fen(game, start_fen or START_FEN[game])
    return expected if _stands(expected.pieces(), pieces) else None


def _stands(expected: Mapping[Square, Piece], pieces: Mapping[Square, Piece]) -> bool:
    """Whether `pieces` are the expected ones; an unknown piece may be any."""
    return len(expected) == len(pieces) and all(
        piece in ("?", expected.get(square)) and square in expected for square, piece in pieces.items()
    )


def _chess960(pieces: Mapping[Square, Piece]) -> ChessPosition | None:
    """Any of the 960 start positions (FIDE Guidelines II.2)."""
    if len(pieces) != 32:
        return None
    back = "".join(pieces.get(f"{file}1", " ") for file in "abcdefgh")
    if sorted(back) != sorted("RNBQKBNR"):
        return None
    if "".join(pieces.get(f"{file}8", " ") for file in "abcdefgh") != back.lower():
        return None
    if any(pieces.get(f"{file}2") != "P" or pieces.get(f"{file}7") != "p" for file in "abcdefgh"):
        return None
    board = chess.Board(f"{back.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{back} w KQkq - 0 1", chess960=True)
    return ChessPosition(board) if board.chess960_pos() is not None else None


def as_it_stands(game: GameKind, pieces: Mapping[Square, Piece], turn: str = "white") -> GamePosition:
    """The position that the board shows, castling rights as kings and rooks stand.

    Raises:
        ValueError: the pieces cannot be told, or stand where none can.
    """
    if game == "draughts":
        return Position.from_pieces(pieces, "white" if turn == "white" else "black")
    board = chess.Board(None, chess960=game == "chess960")
    for square, piece in pieces.items():
        board.set_piece_at(chess.parse_square(square), chess.Piece.from_symbol(piece))
    board.turn = turn == "white"
    board.castling_rights = board.rooks & (chess.BB_RANK_1 | chess.BB_RANK_8)
    board.castling_rights = board.clean_castling_rights()
    return ChessPosition(board)


def standing(before: Node, board: Observed, turn: Side) -> Node | None:
    """The position that the board shows, in the game of `before`: what castling was lost stays lost. None if none can
    stand so, or the board cannot name its pieces."""
    game = position_of(before)
    chess_game: GameKind = "chess960" if isinstance(game, ChessPosition) and game.board.chess960 else "chess"
    try:
        position = as_it_stands("draughts" if isinstance(game, Position) else chess_game, board.pieces(), turn)
    except ValueError:
        return None
    if isinstance(game, ChessPosition) and isinstance(position, ChessPosition):
        position.board.castling_rights &= game.board.castling_rights
    return None if position.fault() else node_of(position)


def kings_signal(pieces: Mapping[Square, Piece]) -> str | None:
    """The result that two kings in the centre show: both on light squares 1-0, both on dark 0-1, else a draw.

    Source: the board maker's kings convention (protocols of DGT boards, 6.1).
    """
    white = [square for square in CENTRE if pieces.get(square) == "K"]
    black = [square for square in CENTRE if pieces.get(square) == "k"]
    if len(white) != 1 or len(black) != 1:
        return None
    light = (white[0] in _LIGHT) + (black[0] in _LIGHT)
    return {2: "1-0", 0: "0-1", 1: "1/2-1/2"}[light]


class KingsSignal:
    """The result that the kings show at present, and since when."""

    def __init__(self) -> None:
        self.shown: tuple[str, float] | None = None

    def look(self, board: Observed, at: float) -> None:
        """Note whether the signal stands at `at`, on a board that knows its pieces."""
        index = board.geometry.index
        result = kings_signal({square: board.piece(index[square]) or "" for square in CENTRE})
        if result is None:
            self.shown = None
        elif self.shown is None or self.shown[0] != result:
            self.shown = (result, at)


def over(position: GamePosition) -> tuple[str, str] | None:
    """Result and reason if the side to move cannot move: mate, stalemate, no pieces, no moves (FIDE 5.1.1, 5.2.1;
    FMJD A1 7.2)."""
    return _over(Same(position))


@lru_cache(KEPT)
def _over(key: Same) -> tuple[str, str] | None:
    position = key.position
    if isinstance(position, ChessPosition):
        board = position.board
        if board.king(chess.WHITE) is None or board.king(chess.BLACK) is None or any(board.generate_legal_moves()):
            return None
        if board.is_check():
            return ("0-1" if board.turn else "1-0"), "checkmate"
        return "1/2-1/2", "stalemate"
    assert isinstance(position, Position)
    if position.legal_plies():
        return None
    lost = position.turn
    own = position.white_men | position.white_kings if lost == "white" else position.black_men | position.black_kings
    return ("0-2" if lost == "white" else "2-0"), ("no_moves" if own else "no_pieces")


def upside_down(pieces: Mapping[Square, Piece]) -> bool:
    """Whether White's men stand farther up the board than Black's, and there are enough of both to tell."""
    rows: dict[str, list[int]] = {"P": [], "p": [], "w": [], "b": []}
    for square, piece in pieces.items():
        if piece in rows:
            rows[piece].append(-int(square) if square.isdigit() else int(square[1:]))
    white, black = rows["P"] or rows["w"], rows["p"] or rows["b"]
    return min(len(white), len(black)) >= TELLING and sum(white) / len(white) > sum(black) / len(black)


def lies_rotated(board: Geometry, expected: Mapping[Square, Piece], seen: Mapping[Square, Piece]) -> bool:
    """Whether `seen`, in the board's own frame, is nearer to the `expected` position turned round; a tie is not."""
    turned = {board.turned(square): piece for square, piece in seen.items()}
    return _differing(expected, turned) < _differing(expected, seen)


def _differing(expected: Mapping[Square, Piece], seen: Mapping[Square, Piece]) -> int:
    squares = expected.keys() | seen.keys()
    return sum(expected.get(square) != seen.get(square) for square in squares)
