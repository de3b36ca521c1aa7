"""Pieces that are gone, too many, or not where the record has them.

Serves FIDE 7.4, 7.6 and FMJD A1 5.4.7, 5.4.14. A piece in the hand of the player to move is no displacement, however
long he thinks; adjusting and knocked pieces put up again are over before the wait is.
"""

from __future__ import annotations

from gateway.events import Piece, Square
from gateway.rules.turn import Fault, Turn


def piece_removed_without_capture(turn: Turn) -> Fault | None:
    """One piece is missing that the move, if there was one, does not take."""
    for change, square in turn.nearly:
        expected = change[square] if square in change else turn.expected.get(square)
        # The arrival of a ply that stands empty is a piece still in the hand, not one removed.
        if expected is not None and square not in turn.stands and change.get(square) is None:
            evidence = {"piece": expected, "moved": bool(change)}
            return Fault("piece_removed_without_capture", turn.side, {"squares": [square]}, (square,), evidence)
    return None


def extra_piece(turn: Turn) -> Fault | None:
    """One piece stands where none should."""
    for change, square in turn.nearly:
        expected = change[square] if square in change else turn.expected.get(square)
        seen = turn.stands.get(square)
        if expected is None and seen is not None and not (turn.draughts and not square.isdigit()):
            return Fault("extra_piece", turn.side, {"squares": [square]}, (square,), {"piece": seen})
    return None


def displaced_piece(turn: Turn) -> Fault:
    """What nothing else explains."""
    squares = sorted(turn.differing, key=_order)
    evidence = {
        "recorded": {square: turn.expected.get(square) for square in squares},
        "physical": {square: turn.stands.get(square) for square in squares},
    }
    return Fault("displaced_piece", None, {"squares": squares}, tuple(squares), evidence)


def piece_on_inactive_square(turn: Turn) -> Fault | None:
    """A piece stands on a light square of the draughts board (A1 2.4)."""
    if not turn.draughts:
        return None
    for square, piece in turn.come.items():
        if square.isdigit() or not _off_play(turn, square, piece):
            continue
        side = turn.owner(piece) or turn.side
        return Fault("piece_on_inactive_square", side, {"squares": [square]}, (square,), {"piece": piece})
    return None


def _off_play(turn: Turn, square: Square, piece: Piece) -> bool:
    """Whether this is a piece put down to play; captured ones may be parked anywhere, and one may lie half across."""
    owner = turn.owner(piece)
    capturable = {s for _, change in turn.legal for s, after in change.items() if after is None and s in turn.expected}
    missing = [s for s, p in turn.gone.items() if owner in (None, turn.owner(p))]
    return any(turn.owner(turn.expected[s]) == turn.side or s not in capturable for s in missing)


def promotes_there(turn: Turn, square: Square) -> bool:
    """Whether a pawn of the player to move may be promoted on `square`: the new piece may come first."""
    return any(
        change.get(square) is not None and turn.expected.get(origin) in ("P", "p") and change[square] not in ("P", "p")
        for _, change in turn.legal
        for origin in change
        if not turn.draughts
    )


def _order(square: Square) -> tuple[bool, int, str]:
    return (not square.isdigit(), int(square) if square.isdigit() else 0, square)
