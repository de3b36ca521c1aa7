"""Can a side still mate by any series of legal moves, the other side helping? (FIDE 6.9, 7.5.5, A.5.3; 5.2.2 for both.)

The answer is a proof or the admission that there is none. No list of material is exact in either direction: two knights
mate a bare king that walks into the corner, and a knight mates beside an enemy rook. Tests stand in order of cost: what
material allows, play in which each side has but one move, pieces that are walled in for ever, and a walk over the
positions that can be reached. The walk goes first where mates are likely; when it has been everywhere, there is none.

Sources: FIDE Laws of Chess 2023; M. Ambrona, "A Practical Algorithm for Chess Unwinnability" (2022), whose idea of
piece mobility without move order `_walled_in` follows in a simpler form.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush

import chess

from gateway.walls import growing

NODES = 20_000
"""Positions that the walk may reach by default: a second or two on a desktop (`benchmarks/winnable.py`). An open
position without a near mate is then not proved."""
STEP = 20
"""Moves from one position that are looked at in one step."""
LONGEST_FORCED = 40
"""Plies of forced play that are followed; forced play may go round in a circle."""
AUTOMATIC_DRAW = 150
"""Plies without capture or pawn move at which the game is drawn of itself (FIDE 9.6.2); mate on the last one stands."""


class Answer(Enum):
    """What has been proved."""

    CAN = "possible"
    CANNOT = "impossible"
    NOT_PROVED = "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer and what proved it."""

    answer: Answer
    reason: str
    """The test: `material`, `forced play`, `blocked position`, `all positions`, `mate line`, or what is missing."""
    line: tuple[str, ...] = ()
    """The moves to the mate that was found, in UCI."""


Steps = Generator[None, None, Verdict]
"""A proof that pauses after every few tenths of a millisecond."""


class Proof:
    """A proof that is sought a little at a time."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self.verdict: Verdict | None = None
        """What came of it; None: it is still being sought."""

    def advance(self, steps: int) -> Verdict | None:
        """Go on by so many steps, of a few tenths of a millisecond on a desktop."""
        try:
            for _ in range(steps):
                if self.verdict is None:
                    next(self._steps)
        except StopIteration as end:
            self.verdict = end.value
        return self.verdict

    def finish(self) -> Verdict:
        """Seek it to the end."""
        while self.verdict is None:
            self.advance(1000)
        return self.verdict


def can_mate(board: chess.Board, winner: chess.Color, nodes: int = NODES) -> Verdict:
    """Tell whether `winner` can mate by any series of legal moves; `board` is not changed.

    Args:
        nodes: positions that the last test may reach.
    """
    return Proof(mating(board, winner, nodes)).finish()


def dead(board: chess.Board, nodes: int = NODES) -> Verdict:
    """Tell whether neither side can mate (FIDE 5.2.2): CANNOT is then a dead position, CAN names one side's mate."""
    return Proof(dying(board, nodes)).finish()


def mating(board: chess.Board, winner: chess.Color, nodes: int = NODES) -> Steps:
    """`can_mate`, step by step."""
    if len(board.pieces(chess.KING, chess.WHITE)) != 1 or len(board.pieces(chess.KING, chess.BLACK)) != 1:
        return Verdict(Answer.NOT_PROVED, "a king is missing")
    if board.was_into_check():
        return Verdict(Answer.NOT_PROVED, "the position is illegal")
    if board.has_insufficient_material(winner):
        return Verdict(Answer.CANNOT, "material")
    line, decided = _forced(board, winner)
    if decided is not None:
        return decided
    board = _after(board, line)
    if (yield from growing(board, winner)):
        return Verdict(Answer.CANNOT, "blocked position")
    return (yield from _walk(board, winner, nodes, line))


def dying(board: chess.Board, nodes: int = NODES) -> Steps:
    """`dead`, step by step."""
    white = yield from mating(board, chess.WHITE, nodes)
    if white.answer is not Answer.CANNOT:
        return white
    black = yield from mating(board, chess.BLACK, nodes)
    if black.answer is Answer.CANNOT and black.reason != white.reason:
        return Verdict(Answer.CANNOT, f"{white.reason}, {black.reason}")
    return black


def _after(board: chess.Board, line: list[chess.Move]) -> chess.Board:
    board = board.copy(stack=False)
    for move in line:
        board.push(move)
    return board


def _forced(board: chess.Board, winner: chess.Color) -> tuple[list[chess.Move], Verdict | None]:
    """Follow play in which there is one legal move each time; the line, and what it decides if it does."""
    board = board.copy(stack=False)
    line: list[chess.Move] = []
    while True:
        moves = _first_two(board)
        if not moves:
            return line, _end(board, winner, line)
        if board.has_insufficient_material(winner):
            return line, Verdict(Answer.CANNOT, "forced play")
        if len(moves) > 1 or len(line) == LONGEST_FORCED:
            return line, None
        if board.halfmove_clock >= AUTOMATIC_DRAW:
            return line, Verdict(Answer.NOT_PROVED, "the 75-move rule comes first")
        line.append(moves[0])
        board.push(moves[0])


def _first_two(board: chess.Board) -> list[chess.Move]:
    found: list[chess.Move] = []
    for move in board.generate_legal_moves():
        found.append(move)
        if len(found) == 2:
            break
    return found


def _end(board: chess.Board, winner: chess.Color, line: list[chess.Move]) -> Verdict:
    """The game ends here: by the winner's mate, or otherwise."""
    if board.is_check() and board.turn is not winner:
        return Verdict(Answer.CAN, "mate line", tuple(move.uci() for move in line))
    return Verdict(Answer.CANNOT, "forced play")


# --- the walk ---------------------------------------------------------------------------------------------------


def _walk(board: chess.Board, winner: chess.Color, nodes: int, line: list[chess.Move]) -> Steps:
    """Look at all positions that can be reached, likely mates first."""
    before: dict[object, tuple[object, chess.Move] | None] = {board._transposition_key(): None}
    waiting: list[tuple[float, int, int, chess.Board]] = [(0.0, 0, 0, board)]
    while waiting:
        if len(before) > nodes:
            return Verdict(Answer.NOT_PROVED, f"{nodes} positions hold no mate and are not all")
        _, _, depth, here = heappop(waiting)
        key = here._transposition_key()
        for number, move in enumerate(here.generate_legal_moves(), 1):
            if number % STEP == 0:
                yield
            after = here.copy(stack=False)
            after.push(move)
            reached = after._transposition_key()
            if reached in before:
                continue
            before[reached] = (key, move)
            if after.turn is not winner and after.is_checkmate():
                return _mate(board, [*line, *_moves_to(before, reached)], line)
            if not after.has_insufficient_material(winner):
                heappush(waiting, (_promise(after, winner) + depth, len(before), depth + 1, after))
        yield
    return Verdict(Answer.CANNOT, "all positions")


def _moves_to(before: dict[object, tuple[object, chess.Move] | None], key: object) -> list[chess.Move]:
    moves = []
    while (step := before[key]) is not None:
        key, move = step
        moves.append(move)
    return moves[::-1]


def _mate(board: chess.Board, moves: list[chess.Move], forced: list[chess.Move]) -> Verdict:
    """The mate counts if no automatic draw comes before it."""
    board = board.copy(stack=False)
    for move in moves[len(forced) :]:
        if board.halfmove_clock >= AUTOMATIC_DRAW:
            return Verdict(Answer.NOT_PROVED, "the 75-move rule comes first")
        board.push(move)
    return Verdict(Answer.CAN, "mate line", tuple(move.uci() for move in moves))


_CORNERS = (chess.A1, chess.H1, chess.A8, chess.H8)


def _promise(board: chess.Board, winner: chess.Color) -> float:
    """How far from a mate this looks; lower comes first. It only sets the order, never the answer."""
    hunted, hunter = board.king(not winner), board.king(winner)
    assert hunted is not None and hunter is not None
    around = chess.BB_KING_ATTACKS[hunted]
    own, other = board.occupied_co[winner] & ~board.kings, board.occupied_co[not winner] & ~board.kings
    flights = around & ~other & ~chess.BB_KING_ATTACKS[hunter]
    for square in chess.scan_forward(own):
        flights &= ~board.attacks_mask(square)
    promise = (
        4 * min(chess.square_distance(hunted, square) for square in _CORNERS)
        + 3 * chess.square_distance(hunted, hunter)
        + 2 * flights.bit_count()
    )
    if own & (board.queens | board.rooks):
        return promise
    # Without a major piece somebody must promote, or the hunted king's own men must stand in his way.
    promise += sum(chess.square_distance(square, hunted) for square in chess.scan_forward(own | other))
    return promise + 2 * min(_steps(board, winner), default=0)


def _steps(board: chess.Board, winner: chess.Color) -> Iterator[int]:
    """How far each pawn is from promotion."""
    for square in board.pieces(chess.PAWN, winner):
        rank = chess.square_rank(square)
        yield 7 - rank if winner else rank
