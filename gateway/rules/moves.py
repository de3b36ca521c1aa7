"""Turns that are no legal move: out of turn, two pieces at once, and a piece carried where it may not go.

Serves FIDE 1.2, 3.1 to 3.9, 7.5 and FMJD A1 3, 5.4. The named faults of each game are tried first (`acts.py` has the
order); what is left here is told by who moved what. Before the press nothing of this is a fault: a player may change an
illegal move until he has completed it.
"""

from __future__ import annotations

from dataclasses import replace

from gateway.events import Piece, Side, Square
from gateway.record import ChessPosition
from gateway.rules.turn import Fault, Turn, hyphened, written_of_other


def moved_out_of_turn(turn: Turn) -> Fault | None:
    """A legal move of the side that is not to move. Which piece moved can be seen, whose hand it was cannot."""
    theirs = (s for s in turn.differing if turn.left(s) and turn.owner(turn.expected[s]) == turn.other)
    if not turn.draughts and not any(theirs):
        return None
    notation = turn.fits(turn.legal_of_other)
    if notation is None:
        return None
    facts = {"move": written_of_other(turn.before, notation)}
    return Fault("moved_out_of_turn", turn.other, facts, tuple(turn.differing))


def two_pieces_moved(turn: Turn) -> Fault | None:
    """Two pieces of one side stand on new squares; castling, legal or not, is one move.

    Innocent: where one of them made a move and the other stands where no move leads, it was knocked there.
    """
    carried = _carried(turn, turn.side)
    if carried is None or len(carried) != 2 or castled(turn) or _one_knocked(turn, carried):
        return None
    squares = tuple(square for pair in carried for square in pair)
    return Fault("two_pieces_moved", turn.side, {"squares": sorted(squares)}, squares)


def _one_knocked(turn: Turn, carried: list[tuple[Square, Square]]) -> bool:
    """Whether of two pieces one was moved as it may be and the other, by whichever way round, was not."""
    (a, b), (c, d) = carried
    pairings = [((a, b), (c, d))]
    if turn.expected[a] == turn.expected[c]:
        pairings.append(((a, d), (c, b)))
    legal = {pair: _ply(turn, *pair) for pairing in pairings for pair in pairing}
    for first, second in pairings:
        if legal[first] and (legal[second] or _ply(turn.went_on(legal[first]), *second)):
            return False
        if legal[second] and _ply(turn.went_on(legal[second]), *first):
            return False
    return any(legal.values())


def _ply(turn: Turn, origin: Square, target: Square) -> str | None:
    """The legal ply from one square to the other, if there is one."""
    found = (notation for notation, change in turn.legal if next(iter(change)) == origin and change.get(target))
    return next(found, None)


def illegal_move(turn: Turn) -> Fault | None:
    """One piece of the side to move is gone from a and stands on b, whatever stood on b."""
    if castled(turn):
        king = "e1g1" if turn.side == "white" else "e8g8"
        if "g" + king[1] not in turn.come:
            king = king.replace("g", "c")
        return Fault("illegal_move", turn.side, {"move": hyphened(king)}, tuple(turn.differing), {"move": king})
    carried = _carried(turn, turn.side, promoting=True) or _as_if_passing(turn)
    if carried is None or len(carried) != 1:
        return None
    origin, target = carried[0]
    shown = f"{origin}-{target}"
    move = shown if turn.draughts else origin + target
    return Fault("illegal_move", turn.side, {"move": shown}, (origin, target), {"move": move})


def opponent_piece_moved(turn: Turn) -> Fault | None:
    """A piece of the other side stands where it could not legally go. Who moved it cannot be seen."""
    carried = _carried(turn, turn.other)
    if carried is None or len(carried) != 1:
        return None
    origin, target = carried[0]
    return Fault("opponent_piece_moved", turn.side, {"origin": origin, "square": target}, (origin, target))


def _carried(turn: Turn, side: Side, *, promoting: bool = False) -> list[tuple[Square, Square]] | None:
    """From where to where pieces of `side` went, if nothing else is different but what they captured."""
    left = {s: p for s, p in turn.expected.items() if s in turn.differing and turn.owner(p) == side}
    if set(turn.come) & set(left):
        return None
    if set(turn.gone) - set(left) or len(left) != len(turn.come):
        return None
    pairs: list[tuple[Square, Square]] = []
    arrivals = dict(turn.come)
    for origin, piece in left.items():
        target = next((s for s, seen in arrivals.items() if _is(turn, piece, seen, s, promoting=promoting)), None)
        if target is None:
            return None
        del arrivals[target]
        pairs.append((origin, target))
    return pairs


def _as_if_passing(turn: Turn) -> list[tuple[Square, Square]] | None:
    """A pawn that took another in passing, which it might not (3.7.4.1)."""
    pawns = [square for square, piece in turn.gone.items() if piece in ("P", "p")]
    mine = [square for square in pawns if turn.owner(turn.expected[square]) == turn.side]
    if turn.draughts or len(mine) != 1 or len(turn.gone) != len(pawns) or len(pawns) != 2:
        return None
    origin, victim = mine[0], next(square for square in pawns if square != mine[0])
    beyond = victim[0] + str(int(victim[1]) + (1 if turn.side == "white" else -1))
    stands = {**turn.stands, victim: turn.expected[victim]}
    carried = _carried(replace(turn, stands=stands), turn.side)
    beside = victim[1] == origin[1] and abs(ord(victim[0]) - ord(origin[0])) == 1
    return carried if beside and carried == [(origin, beyond)] else None


def _is(turn: Turn, piece: Piece, seen: Piece, square: Square, *, promoting: bool) -> bool:
    if turn.same(piece, seen):
        return True
    last = square.endswith("8" if turn.side == "white" else "1")
    return promoting and piece in ("P", "p") and last and turn.owner(seen) == turn.owner(piece)


def castled(turn: Turn) -> bool:
    """King and rook stand as after a castling that was not allowed: one illegal move, of the king (4.4.3)."""
    if not isinstance(turn.before, ChessPosition) or turn.chess960:
        return False
    rank = "1" if turn.side == "white" else "8"
    king, rook = ("K", "R") if turn.side == "white" else ("k", "r")
    for home, king_to, rook_to in (("h", "g", "f"), ("a", "c", "d")):
        if turn.expected.get("e" + rank) != king or turn.expected.get(home + rank) != rook:
            continue
        change = {"e" + rank: None, home + rank: None, king_to + rank: king, rook_to + rank: rook}
        if not turn.rest(change):
            return True
    return False
