"""Faults with a name in chess: promotion, castling and capture left undone, and what is done to kings.

Each explanation serves an article of FIDE's Laws and takes a completed turn, so a player who is still at it (fetching
a queen, between king and rook, a captured piece in his hand) is never accused: what he has not completed is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import chess

from gateway.catalogue import Fact
from gateway.events import Piece, Side, Square
from gateway.record import ChessPosition
from gateway.rules.moves import castled
from gateway.rules.turn import Fault, Turn, chess_change, hyphened, written

CENTRE = frozenset({"d4", "e4", "d5", "e5"})


def _board(turn: Turn) -> chess.Board:
    assert isinstance(turn.before, ChessPosition)
    return turn.before.board


def _letter(turn: Turn, piece: str) -> Piece:
    return piece.upper() if turn.side == "white" else piece.lower()


def unpromoted_pawn(turn: Turn) -> Fault | None:
    """A pawn was left on its last rank (3.7.5). A board that cannot tell pieces apart never sees it."""
    rank = "8" if turn.side == "white" else "1"
    for square, piece in turn.stands.items():
        if square[1] == rank and piece == _letter(turn, "p"):
            return Fault("unpromoted_pawn", turn.side, {"square": square}, (square,), {"piece": piece})
    return None


def promotion_piece_wrong(turn: Turn) -> Fault | None:
    """A pawn was exchanged for a king or for a piece of the other colour (3.7.5.1)."""
    for move in _promotions(turn):
        origin, square = chess.square_name(move.from_square), chess.square_name(move.to_square)
        piece = turn.stands.get(square)
        if piece is None or piece == turn.expected.get(square):
            continue
        if set(turn.rest({origin: None})) != {square}:
            continue
        if piece == _letter(turn, "k") or turn.owner(piece) == turn.other:
            facts = {"square": square, "piece": _named(piece)}
            return Fault("promotion_piece_wrong", turn.side, facts, (square,), {"piece": piece})
    return None


def _named(piece: Piece) -> str:
    return f"a {'white' if piece.isupper() else 'black'} {chess.piece_name(chess.PIECE_SYMBOLS.index(piece.lower()))}"


def _promotions(turn: Turn) -> Iterator[chess.Move]:
    seventh = "7" if turn.side == "white" else "2"
    if not any(square[1] == seventh and turn.left(square) for square in turn.differing):
        return
    for move in _board(turn).generate_legal_moves():
        if move.promotion == chess.QUEEN:
            yield move


def castling_incomplete(turn: Turn) -> Fault | None:
    """The king castled and the rook stayed at home (3.8.2, 4.7.2); in Chess960 a king's move may look the same."""
    board = _board(turn)
    if turn.chess960:
        return None
    for move in board.generate_castling_moves():
        origin, target = chess.square_name(move.from_square), chess.square_name(move.to_square)
        if not turn.rest({origin: None, target: _letter(turn, "k")}):
            rook = ("h" if target[0] == "g" else "a") + target[1]
            return Fault("castling_incomplete", turn.side, {"square": target, "rook": rook}, (target, rook))
    return None


def captured_piece_not_removed(turn: Turn) -> Fault | None:
    """A capture was made and the captured piece is still on the board (4.7.1): the pawn taken en passant on its own
    square, another piece pushed aside."""
    board = _board(turn)
    for move in board.generate_legal_captures():
        if not turn.left(chess.SQUARE_NAMES[move.from_square]):
            continue
        rest = turn.rest(chess_change(board, move))
        if len(rest) != 1:
            continue
        victim = board.piece_at(move.to_square) or chess.Piece(chess.PAWN, not board.turn)
        square, (expected, seen) = next(iter(rest.items()))
        if expected is None and turn.same(victim.symbol(), seen):
            facts: dict[str, Fact] = {"move": written(turn.before, board.uci(move)), "squares": [square]}
            return Fault("captured_piece_not_removed", turn.side, facts, (square,), {"piece": victim.symbol()})
    return None


def king_left_in_check(turn: Turn) -> Fault | None:
    """A move that would be legal but for the own king, which is attacked after it (1.4.1, 3.9.2)."""
    board = _board(turn)
    for move in board.generate_pseudo_legal_moves():
        if not turn.left(chess.SQUARE_NAMES[move.from_square]) or board.is_legal(move):
            continue
        if turn.rest(chess_change(board, move)):
            continue
        after = board.copy(stack=False)
        after.push(move)
        king = after.king(board.turn)
        if king is None:
            continue
        checkers = [chess.square_name(square) for square in after.attackers(not board.turn, king)]
        facts = {"square": chess.square_name(king), "move": hyphened(board.uci(move))}
        return Fault(
            "king_left_in_check",
            turn.side,
            facts,
            (chess.square_name(king), *checkers),
            {"move": board.uci(move), "checking": checkers},
        )
    return None


def castled_into_check(turn: Turn) -> Fault | None:
    """King and rook stand as after a castling, and the king is attacked there (3.8.2.2)."""
    if not castled(turn):
        return None
    board = chess.Board(None)
    for square, piece in turn.stands.items():
        if piece != "?":
            board.set_piece_at(chess.parse_square(square), chess.Piece.from_symbol(piece))
    king = board.king(turn.side == "white")
    if king is None:
        return None
    checkers = [chess.square_name(square) for square in board.attackers(turn.side == "black", king)]
    if not checkers:
        return None
    square = chess.square_name(king)
    move = "e" + square[1] + square
    facts = {"square": square, "move": hyphened(move)}
    return Fault("king_left_in_check", turn.side, facts, (square, *checkers), {"move": move, "checking": checkers})


def both_kings_in_check(stands: Mapping[Square, Piece]) -> Fault | None:
    """Both kings are attacked (A.5.3); kings on the centre squares are a result."""
    board = chess.Board(None)
    for square, piece in stands.items():
        if piece == "?":
            return None
        board.set_piece_at(chess.parse_square(square), chess.Piece.from_symbol(piece))
    kings = board.king(chess.WHITE), board.king(chess.BLACK)
    if kings[0] is None or kings[1] is None:
        return None
    names = [chess.square_name(king) for king in kings if king is not None]
    if CENTRE.issuperset(names):
        return None
    if board.is_attacked_by(chess.BLACK, kings[0]) and board.is_attacked_by(chess.WHITE, kings[1]):
        return Fault("both_kings_in_check", None, {}, tuple(names), {"placement": board.board_fen()})
    return None


def king_captured(turn: Turn) -> Fault | None:
    """A king is gone and an enemy piece stands on its square (1.4.1): a claim that he was left in check."""
    for square, king in turn.expected.items():
        if king not in ("K", "k") or king in turn.stands.values():
            continue
        piece = turn.stands.get(square)
        owner: Side = "white" if king == "k" else "black"
        if piece is not None and turn.owner(piece) == owner:
            return Fault("king_captured", owner, {"square": square}, (square,), {"piece": piece})
    return None
