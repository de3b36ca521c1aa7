"""Chess and Chess960 for the reader of rival games: legal plies and what the board shows of them."""

from __future__ import annotations

from collections.abc import Iterator

import chess

from gateway.events import Side
from gateway.reconstruct.node import HIDDEN, PLY, SCAN_GRACE, Extension, Node, blind, since_mask
from gateway.reconstruct.observed import Observed, bits
from gateway.record import carried

_KINGS = chess.KING - 1
_PAWNS = chess.PAWN - 1
_ROOKS = chess.ROOK - 1
_LAST_RANKS = chess.BB_RANK_1 | chess.BB_RANK_8
UNLIFTED = 0.3
"""A capture on an occupancy board whose victim made room too fast to be seen."""
MISREAD = 0.7
"""A ply whose piece was read as another."""


def _masks(board: chess.Board) -> tuple[int, ...]:
    white, black = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    return (*(kind & white for kind in kinds), *(kind & black for kind in kinds))


def _piece(board: Observed, square: int) -> chess.Piece | None:
    """What the board shows there, if it can name it."""
    shown = board.piece(square)
    return None if shown in (None, "?") else chess.Piece.from_symbol(shown)


class ChessNode(Node):
    """A chess position in a rival game."""

    __slots__ = ("board",)

    def __init__(self, board: chess.Board, lingering: int = 0, trail: tuple[int, int] | None = None) -> None:
        masks = _masks(board)
        turn: Side = "white" if board.turn else "black"
        key = (masks, board.turn, board.castling_rights, board.ep_square if board.has_legal_en_passant() else None)
        super().__init__(masks, turn, key, lingering, trail)
        self.board = board

    def after(self, ply: chess.Move, *, legal: bool = True) -> ChessNode:
        """The position after `ply`; an illegal one is carried out as it stands: a piece goes from a to b."""
        if not legal:
            return ChessNode(carried(self.board, ply))
        board = self.board.copy(stack=False)
        victim = chess.BB_SQUARES[_en_passant_victim(ply)] if board.is_en_passant(ply) else chess.BB_EMPTY
        board.push(ply)
        return ChessNode(board, victim, (ply.from_square, ply.to_square))

    def ceremony(self, board: Observed) -> bool:
        kings = self.board.kings
        return board.pieces_known and kings.bit_count() == 2 and not kings & ~self.difference(board)

    def permits(self, ply: chess.Move) -> bool:
        return self.board.is_legal(ply)

    def allows(self, departure: int, arrival: int) -> bool:
        return any(self.board.generate_legal_moves(chess.BB_SQUARES[departure], chess.BB_SQUARES[arrival]))

    def allows_again(self, departure: int, arrival: int) -> bool:
        board = self.board.copy(stack=False)
        board.turn, board.ep_square = not board.turn, None
        return any(board.generate_legal_moves(chess.BB_SQUARES[departure], chess.BB_SQUARES[arrival]))

    def carried(self, ply: chess.Move, board: Observed) -> bool:
        if not self.board.kings & chess.BB_SQUARES[ply.from_square]:
            return False
        differing = self.after(ply).difference(board)
        other_king = self.board.kings & self.other
        return bool(differing & other_king & ~board.occupied and differing & board.occupied)

    def plies(self, board: Observed, departures: int) -> Iterator[chess.Move]:
        for move in self.board.generate_legal_moves(departures):
            shown = board.piece(move.to_square)
            if move.promotion is None or (
                chess.piece_symbol(move.promotion) == (shown.lower() if shown and shown != "?" else "q")
            ):
                yield move

    # --- what may have been played ------------------------------------------------------------------------------

    def extensions(self, board: Observed, since: float) -> Iterator[Extension]:
        if board.pieces_known:
            yield from self._by_kind(board, since - SCAN_GRACE)
        else:
            yield from self._by_occupancy(board, since - SCAN_GRACE)

    def _by_kind(self, board: Observed, after: float) -> Iterator[Extension]:
        first = 0 if self.turn == "white" else len(self.masks) // 2
        for kind in range(6):
            expected = self.masks[first + kind]
            for square in bits(board.masks[first + kind] & ~expected & ~self.board.kings):
                at = board.changed_at[square]
                if at >= after:
                    for move in self._arriving(kind, expected, square):
                        yield Extension(move, at, PLY)

    def _arriving(self, kind: int, movers: int, square: int) -> Iterator[chess.Move]:
        """Legal plies that bring a piece of `kind` to `square`."""
        if kind in (_KINGS, _ROOKS):
            for move in self.board.generate_castling_moves():
                if _last_arrival(move) == square:
                    yield move
        bit = chess.BB_SQUARES[square]
        promotes = bit & _LAST_RANKS and kind != _PAWNS
        if promotes:
            movers |= self.board.pawns & self.own
        for move in self.board.generate_legal_moves(movers, bit):
            if not self.board.is_castling(move) and (move.promotion is None or move.promotion == kind + 1):
                yield move

    def _by_occupancy(self, board: Observed, after: float) -> Iterator[Extension]:
        gone = self.own & ~board.occupied
        if not gone:
            return
        arrived = board.occupied & ~self.occupied
        lifted = since_mask(board.lifted_at, board.occupied & self.other, after)
        if self.trail is not None and board.lifted_at[self.trail[1]] <= after + SCAN_GRACE:
            # That was the victim of the ply before.
            lifted &= ~chess.BB_SQUARES[self.trail[1]]
        targets = (arrived | lifted) & ~self.board.kings
        for move in self.board.generate_castling_moves():
            square = _last_arrival(move)
            if chess.BB_SQUARES[square] & arrived and board.changed_at[square] >= after:
                yield Extension(move, board.changed_at[square], PLY)
        for move in self.board.generate_legal_moves(gone, targets):
            at = board.changed_at[move.to_square]
            if at < after or self.board.is_castling(move) or move.promotion not in (None, chess.QUEEN):
                continue
            # The arrival may be the victim's own: no sooner than its captor left.
            at = max(at, board.changed_at[move.from_square])
            yield Extension(move, at, PLY / 3 if chess.BB_SQUARES[move.to_square] & lifted else PLY)

    def hidden(self, board: Observed, since: float) -> Iterator[Extension]:
        after = since - SCAN_GRACE
        own, other = self.own, self.other
        seen = board.black if self.turn == "white" else board.white
        gone = since_mask(board.changed_at, own & ~board.occupied, after)
        if not gone or not board.pieces_known:
            return
        arrived = seen & ~other
        if other & ~board.occupied:
            arrived |= seen & other
        else:
            arrived |= self.difference(board) & seen & other
        # Where it was taken twice, a piece of its own side stands: the last of three exchanged on one square.
        back = (board.white if self.turn == "white" else board.black) & ~own if other & ~board.occupied else 0
        for move in self.board.generate_legal_moves(gone, (arrived | back) & ~self.board.kings):
            square = chess.BB_SQUARES[move.to_square]
            if square & back and self.board.piece_at(move.from_square) == _piece(board, move.to_square):
                continue
            if move.promotion in (None, chess.QUEEN):
                yield Extension(move, max(since, board.changed_at[move.from_square]), PLY + HIDDEN, hidden=True)

    def retakes(self, ply: chess.Move, reply: chess.Move) -> bool:
        return ply.to_square == reply.to_square

    def doubtful(self, board: Observed, since: float) -> Iterator[Extension]:
        after = since - SCAN_GRACE
        own = self.own
        gone = since_mask(board.changed_at, own & ~board.occupied, after)
        if not gone:
            return
        seen = board.white if self.turn == "white" else board.black
        for move in self.board.generate_legal_moves(gone, ~self.board.kings & chess.BB_ALL):
            if move.promotion not in (None, chess.QUEEN):
                continue
            bit = chess.BB_SQUARES[move.to_square]
            if move.promotion and (board.piece(move.to_square) or "").lower() == "p":
                continue
            if bit & seen & ~own:
                at = board.changed_at[move.to_square]
                if at >= after:
                    yield Extension(move, at, PLY + MISREAD)
            elif not bit & seen:
                cost = blind(board, move.from_square, move.to_square)
                if not board.pieces_known and bit & self.other & board.occupied:
                    cost = UNLIFTED
                yield Extension(move, max(board.changed_at[move.from_square], since), PLY + cost)

    # --- what is left to see ------------------------------------------------------------------------------------

    def irregular(self, board: Observed) -> chess.Move | None:
        differing = self.difference(board)
        gone = differing & self.own & ~board.occupied
        if gone.bit_count() != 1:
            return None
        source = gone.bit_length() - 1
        if not board.pieces_known:
            return self._irregular_by_lift(board, differing ^ gone, source)
        arrived = differing ^ gone
        if arrived.bit_count() != 1 or not arrived & board.occupied or arrived & self.own:
            return None
        target = arrived.bit_length() - 1
        piece = self.board.piece_at(source)
        if piece is None or board.piece(target) != piece.symbol():
            return None
        move = chess.Move(source, target)
        return None if self._half_castled(move) or self._signalled(move) else move

    def _signalled(self, move: chess.Move) -> bool:
        """A king went to the centre as none can: a result is being shown, by one king or by both (kings convention)."""
        return bool(
            self.board.kings & chess.BB_SQUARES[move.from_square]
            and chess.BB_CENTER & chess.BB_SQUARES[move.to_square]
            and chess.square_distance(move.from_square, move.to_square) > 1
        )

    def _irregular_by_lift(self, board: Observed, arrived: int, source: int) -> chess.Move | None:
        """On an occupancy board a capture leaves no difference but the departure: the lift tells the square."""
        if not arrived:
            recent = board.changed_at[source] - 5.0
            lifted = [s for s in bits(board.occupied & self.other) if board.lifted_at[s] >= recent]
            # What came down there before the piece was taken up is not that piece.
            lifted = [s for s in lifted if board.changed_at[s] >= board.changed_at[source]]
            arrived = chess.BB_SQUARES[lifted[0]] if len(lifted) == 1 else 0
        if arrived.bit_count() != 1 or not arrived & board.occupied:
            return None
        move = chess.Move(source, arrived.bit_length() - 1)
        return None if self._half_castled(move) or self._signalled(move) else move

    def _half_castled(self, move: chess.Move) -> bool:
        """The king went two files towards a rook that castling would have moved: half a castling, no ply."""
        return any(
            move.from_square == castling.from_square and move.to_square == _king_arrival(castling)
            for castling in self.board.generate_castling_moves()
        )

    def farther(self, ply: chess.Move) -> bool:
        piece = self.board.piece_type_at(ply.from_square)
        if piece not in (chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING) or self.board.is_castling(ply):
            return False
        if self.board.occupied & chess.BB_SQUARES[ply.to_square]:
            return False
        ray = chess.ray(ply.from_square, ply.to_square)
        step = [
            square
            for square in bits(ray & chess.BB_KING_ATTACKS[ply.to_square])
            if chess.square_distance(square, ply.from_square) > chess.square_distance(ply.to_square, ply.from_square)
        ]
        if not step:
            return False
        if piece == chess.KING:
            return self.board.is_legal(chess.Move(ply.from_square, step[0])) or bool(self.board.castling_rights)
        return not self.own & chess.BB_SQUARES[step[0]]

    def half_castled(self, board: Observed) -> chess.Move | None:
        differing = self.difference(board)
        king, arrived = differing & self.board.kings & self.own & ~board.occupied, differing & board.occupied
        if differing.bit_count() != 2 or not king or not arrived:
            return None
        move = chess.Move(king.bit_length() - 1, arrived.bit_length() - 1)
        return move if self._half_castled(move) else None

    def begins_castling(self, ply: chess.Move) -> bool:
        rook = self.board.rooks & chess.BB_SQUARES[ply.from_square]
        return bool(rook and self.board.castling_rights & rook) and any(
            _rook_arrival(castling) == ply.to_square for castling in self.board.generate_castling_moves()
        )

    def ply_state(self, ply: chess.Move) -> str:
        return ply.uci()

    def ply_from(self, state: str) -> chess.Move:
        return chess.Move.from_uci(state)

    def finished(self, ply: chess.Move, board: Observed) -> bool:
        if self.board.is_en_passant(ply):
            return not board.occupied & chess.BB_SQUARES[_en_passant_victim(ply)]
        if self.board.is_castling(ply):
            return all(board.occupied & chess.BB_SQUARES[arrival(ply)] for arrival in (_king_arrival, _rook_arrival))
        return True


def _en_passant_victim(ply: chess.Move) -> int:
    return chess.square(chess.square_file(ply.to_square), chess.square_rank(ply.from_square))


def _king_arrival(castling: chess.Move) -> int:
    """Where the king of a castling ends, in either spelling of the move."""
    kingside = castling.to_square > castling.from_square
    return chess.square(6 if kingside else 2, chess.square_rank(castling.from_square))


def _rook_arrival(castling: chess.Move) -> int:
    king = _king_arrival(castling)
    return king - 1 if chess.square_file(king) == 6 else king + 1


def _last_arrival(castling: chess.Move) -> int:
    """The arrival that shows a castling: the king's, or the rook's where the king stays (Chess960)."""
    king = _king_arrival(castling)
    return king if king != castling.from_square else _rook_arrival(castling)
