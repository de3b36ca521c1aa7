"""International draughts for the reader of rival games: legal plies and what the board shows of them.

A capture is shown in many ways: each landing square tapped or none, the captured men taken off one by one at the end,
early, or in one sweep. So only the arrival counts as the ply; what still lingers costs a little until it is gone, and
among captures that end alike the men that are gone decide.
"""

from __future__ import annotations

from collections.abc import Iterator

from gateway.draughts import BIT, BIT_NUMBER, SQUARES, Ply, Position
from gateway.events import OTHER
from gateway.reconstruct.node import PLY, SCAN_GRACE, Extension, Node, blind, since_mask
from gateway.reconstruct.observed import Observed, bits

HIDDEN = 0.2
_MEN = {"white": 0, "black": 2}
_INDEX = {BIT_NUMBER[square]: square for square in SQUARES}


class DraughtsNode(Node):
    """A draughts position in a rival game."""

    __slots__ = ("_legal", "position")

    def __init__(self, position: Position, lingering: int = 0, trail: tuple[int, int] | None = None) -> None:
        masks = (position.white_men, position.white_kings, position.black_men, position.black_kings)
        super().__init__(masks, position.turn, (masks, position.turn), lingering, trail)
        self.position = position
        self._legal: list[Ply] | None = None

    @property
    def legal(self) -> list[Ply]:
        """All legal plies, worked out once."""
        if self._legal is None:
            self._legal = self.position.legal_plies()
        return self._legal

    def after(self, ply: Ply, *, legal: bool = True) -> DraughtsNode:
        trail = BIT_NUMBER[ply.departure], BIT_NUMBER[ply.arrival]
        return DraughtsNode(self.position.after(ply), sum(BIT[square] for square in ply.captured), trail)

    def uncrowned(self, board: Observed) -> int:
        _, white_kings, _, black_kings = self.masks
        return (white_kings & board.masks[0]) | (black_kings & board.masks[2])

    def plies(self, board: Observed, departures: int) -> Iterator[Ply]:
        return (ply for ply in self.legal if BIT[ply.departure] & departures)

    # --- what may have been played ------------------------------------------------------------------------------

    def extensions(self, board: Observed, since: float) -> Iterator[Extension]:
        own = self.own
        seen = self._own_seen(board)
        if not (self.difference(board) or self._loops(board)):
            return
        arrived = seen & ~own
        after = since - SCAN_GRACE
        for ply in self.legal:
            target, source = BIT[ply.arrival], BIT[ply.departure]
            if target & arrived or (target == source and target & seen and self._gone(ply, board)):
                at = board.changed_at[target.bit_length() - 1]
                if at >= after:
                    yield Extension(ply, at, PLY)

    def _own_seen(self, board: Observed) -> int:
        if not board.pieces_known:
            return board.occupied & ~self.other
        return (board.white if self.turn == "white" else board.black) | board.unknown & ~self.other

    def _loops(self, board: Observed) -> bool:
        return any(ply.departure == ply.arrival for ply in self.legal)

    @staticmethod
    def _gone(ply: Ply, board: Observed) -> bool:
        """Whether at least one captured piece has been taken off."""
        return any(not BIT[square] & board.occupied for square in ply.captured)

    def hidden(self, board: Observed, since: float) -> Iterator[Extension]:
        after = since - SCAN_GRACE
        other_seen = (
            board.occupied & ~self.own
            if not board.pieces_known
            else (board.black if self.turn == "white" else board.white)
        )
        gone = since_mask(board.changed_at, self.own & ~board.occupied, after)
        if not gone:
            return
        taken = other_seen & ~self.other
        for ply in self.legal:
            if BIT[ply.departure] & gone and (BIT[ply.arrival] & taken or self._retaken(ply, board, other_seen)):
                yield Extension(ply, since, PLY + HIDDEN, hidden=True)

    def _retaken(self, ply: Ply, board: Observed, other_seen: int) -> bool:
        """Whether the piece may have been captured where it landed: it is gone, and a new enemy piece stands near."""
        return bool(not BIT[ply.arrival] & board.occupied and other_seen & ~self.other and self.other & ~board.occupied)

    def retakes(self, ply: Ply, reply: Ply) -> bool:
        return ply.arrival in reply.captured

    def doubtful(self, board: Observed, since: float) -> Iterator[Extension]:
        after = since - SCAN_GRACE
        gone = since_mask(board.changed_at, self.own & ~board.occupied, after)
        if not gone:
            return
        for ply in self.legal:
            if BIT[ply.departure] & gone and not BIT[ply.arrival] & board.occupied:
                departure, arrival = BIT_NUMBER[ply.departure], BIT_NUMBER[ply.arrival]
                cost = PLY + blind(board, departure, arrival)
                yield Extension(ply, max(board.changed_at[departure], since), cost)

    # --- what is left to see ------------------------------------------------------------------------------------

    def irregular(self, board: Observed) -> Ply | None:
        differing = self.difference(board) & ~self.uncrowned(board)
        gone = differing & self.own & ~board.occupied
        arrived = differing & board.occupied
        removed = differing & self.other & ~board.occupied
        if arrived.bit_count() != 1 or not gone:
            return None
        target = _INDEX.get(arrived.bit_length() - 1)
        if target is None:
            return None
        source = self._mover(gone, target, board)
        if source is None:
            return None
        captured = [_INDEX[s] for s in bits(removed | (gone & ~BIT[source]))]
        return Ply((source, target), tuple(captured))

    def amended(self, ply: Ply, board: Observed) -> Ply | None:
        """A capture that took other pieces than its path allows (A1 4.12): what is really gone."""
        if not ply.captured:
            return None
        gone = self.other & ~board.occupied
        foul = [_INDEX[bit] for bit in bits(gone) if _INDEX[bit] not in ply.captured]
        standing = [square for square in ply.captured if BIT[square] & board.occupied]
        if not foul or not standing or self._answered(ply, foul, standing):
            return None
        taken = [square for square in ply.captured if BIT[square] & gone]
        return Ply(ply.path, (*taken, *foul))

    def _answered(self, ply: Ply, foul: list[int], standing: list[int]) -> bool:
        """Whether the man that is gone may have replied, and stands where a captured one stood."""
        after = self.after(ply)
        return len(foul) == 1 and any(after.allows(BIT_NUMBER[foul[0]], BIT_NUMBER[square]) for square in standing)

    def _mover(self, gone: int, target: int, board: Observed) -> int | None:
        """The one own piece that may have gone to `target`; more than one own piece gone is no ply."""
        if gone.bit_count() != 1:
            return None
        piece = board.piece(BIT_NUMBER[target])
        source = _INDEX[gone.bit_length() - 1]
        expected = self.position.piece_at(source)
        if expected is None or piece is None or (piece != "?" and piece.lower() != expected.lower()):
            return None
        return source

    def farther(self, ply: Ply) -> bool:
        if ply.captured:
            return False
        piece = self.position.piece_at(ply.departure)
        if piece not in ("W", "B"):
            return False
        return any(other.departure == ply.departure and _beyond(ply, other) for other in self.legal)

    def ply_state(self, ply: Ply) -> list[list[int]]:
        return [list(ply.path), list(ply.captured)]

    def ply_from(self, state: list[list[int]]) -> Ply:
        path, captured = map(tuple, state)
        legal = (ply for ply in self.legal if (ply.path, ply.captured) == (path, captured))
        return next(legal, Ply(path, captured))

    def permits(self, ply: Ply) -> bool:
        return ply in self.legal

    def allows(self, departure: int, arrival: int) -> bool:
        ends = 1 << departure, 1 << arrival
        return any((BIT[ply.departure], BIT[ply.arrival]) == ends for ply in self.legal)

    def allows_again(self, departure: int, arrival: int) -> bool:
        return DraughtsNode(self.position.with_turn(OTHER[self.turn])).allows(departure, arrival)

    def finished(self, ply: Ply, board: Observed) -> bool:
        """A capture counts from the landing; only equal captures wait for the men that tell them apart."""
        rivals = [
            other
            for other in self.legal
            if other.departure == ply.departure and other.arrival == ply.arrival and other != ply
        ]
        if not rivals:
            return True
        return all(not BIT[square] & board.occupied for square in ply.captured)


def _beyond(ply: Ply, other: Ply) -> bool:
    """Whether a king's quiet ply `other` goes on in the direction of `ply`, past its arrival."""
    (row, column), (end_row, end_column), (far_row, far_column) = map(
        _cell, (ply.departure, ply.arrival, other.arrival)
    )
    down, right = far_row - end_row, far_column - end_column
    return (end_row - row) * down > 0 and (end_column - column) * right > 0 and abs(down) == abs(right)


def _cell(square: int) -> tuple[int, int]:
    row, place = divmod(square - 1, 5)
    return row, 2 * place + (row % 2 == 0)
