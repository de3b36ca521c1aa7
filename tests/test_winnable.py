"""Can a side still mate? Known hard positions, the common misbeliefs, and proofs checked against play.

Positions marked CHA are classified by M. Ambrona's Chess Unwinnability Analyzer, which is sound and complete (D3-Chess,
tests/test-vector.txt).
"""

from __future__ import annotations

from random import Random

import chess
import pytest

from gateway import winnable
from gateway.walls import never_mated
from gateway.winnable import Answer, Verdict, can_mate, dead

CAN, CANNOT, NOT_PROVED = Answer.CAN, Answer.CANNOT, Answer.NOT_PROVED

BOTH_CAN = (
    "8/2pN4/3p4/3k4/r7/8/5K2/8 b - - 0 1",
    "k1bK4/1p1p4/1PpPp3/2P1Pp2/2p1pP2/2p1P3/2P5/8 w - - 0 1",
    "8/1p4p1/1Pp3p1/k1P3p1/1pP3Pb/1P4p1/6P1/7K w - - 0 1",
    "5k2/4pP2/3pP3/2pP4/1pPK4/pP6/P7/8 w - - 0 1",
    "8/2k5/8/1p1p1p2/1P1P1P2/4B3/2K5/8 w - - 0 1",
    "8/7p/k4p1P/3b1p1K/5Pp1/6P1/6P1/8 w - - 0 1",
    "4Q2k/4q3/5p1K/7P/8/8/8/8 b - - 0 1",
    "8/2P1K3/8/4k3/b7/8/8/8 w - - 0 1",
    "1k3b2/8/8/8/8/8/8/1K3N2 w - - 0 1",
)
"""CHA: each side can still mate."""
DEAD = (
    "2b1k3/8/8/1p1p1p1p/1P1P1P1P/8/8/2B1K3 w - - 0 1",
    "8/1k5B/7b/8/1p1p1p1p/1PpP1P1P/2P3K1/N3b3 b - - 0 1",
    "8/8/8/8/8/1kB5/1B6/BKB5 w - - 0 1",
    "5k2/4p3/3pPp2/2pP1Pp1/1pPK2Pp/pP5P/P7/8 w - - 0 1",
    "8/2k5/8/1p1p1p1p/1P1P1P1P/4B3/2K5/8 w - - 0 1",
    "8/8/5k2/1p6/1Pp5/B1Pp4/RK1P4/QRB5 w - - 0 1",
    "k3b1b1/Pp1b1b1p/1Pb1p1pP/1p1pP1P1/1P1P4/8/8/4K3 w - - 0 1",
    "4k3/2b1p3/3pPp2/2pP1Pp1/1pP3Pp/pP5P/P1B5/1K6 b - - 0 1",
    "2k5/6p1/6P1/6PK/6P1/6PR/7P/8 b - - 0 1",
    "k7/P1K5/8/8/8/8/8/8 b - - 0 1",
    "1q2Q2k/8/5p1K/7P/8/8/8/8 b - - 0 1",
    "8/8/8/6p1/6P1/4p1PK/3pPp1p/3R1nkr b - - 0 1",
    "k4b2/4pPp1/3pP1Pp/2pP3P/BpP5/1P6/K7/8 b - - 0 1",
    "4k3/8/8/1p1p1p1p/1P1P1P1P/8/4K3/8 b - - 0 1",
)
"""CHA: neither can. Walls, shut-in pieces, bishops of one colour, and play that is forced."""
WHITE_ONLY = (
    "6k1/6P1/6K1/8/8/8/8/8 w - - 0 1",
    "B7/8/8/8/4r3/8/7p/5K1k w - - 0 1",
    "8/8/7p/p5p1/P1pR4/2P3qk/8/5Q1K b - - 0 1",
)
"""CHA: White can, Black cannot."""


def known(board: chess.Board, winner: chess.Color, verdict: Verdict) -> bool:
    """Whether a verdict holds by its own line: legal moves that end in mate."""
    board = board.copy()
    for text in verdict.line:
        move = chess.Move.from_uci(text)
        assert board.is_legal(move)
        board.push(move)
    return board.is_checkmate() and board.turn is not winner


class TestKnownPositions:
    @pytest.mark.parametrize("fen", BOTH_CAN)
    def test_both_can(self, fen: str) -> None:
        """Each mate is shown by its moves."""
        board = chess.Board(fen)

        assert all(known(board, winner, can_mate(board, winner)) for winner in chess.COLORS)

    @pytest.mark.parametrize("fen", DEAD)
    def test_a_dead_position_is_never_called_alive(self, fen: str) -> None:
        board = chess.Board(fen)

        assert all(can_mate(board, winner, 3_000).answer is not CAN for winner in chess.COLORS)

    @pytest.mark.parametrize("fen", [fen for fen in DEAD if not fen.startswith("8/1k5B")])
    def test_dead_positions_are_proved(self, fen: str) -> None:
        """The one left out is beyond the tests: both bishops are walled in by each other."""
        assert CANNOT is dead(chess.Board(fen)).answer

    @pytest.mark.parametrize("fen", WHITE_ONLY)
    def test_one_side_can(self, fen: str) -> None:
        board = chess.Board(fen)

        assert (CAN, CANNOT) == (can_mate(board, chess.WHITE).answer, can_mate(board, chess.BLACK).answer)

    @pytest.mark.parametrize("fen, reason", [
        ("8/8/8/4k3/8/8/8/K7 w - - 0 1", "material"),
        ("8/8/8/4k3/3b4/8/1B6/K7 w - - 0 1", "material"),
        ("8/8/8/8/8/1k1q4/8/K7 w - - 0 1", "material"),
        ("1q2Q2k/8/5p1K/7P/8/8/8/8 b - - 0 1", "forced play"),
        ("4k3/8/8/1p1p1p1p/1P1P1P1P/8/4K3/8 b - - 0 1", "blocked position"),
        ("8/3p1p1p/8/1p6/kP6/Pp6/pP1P1P1P/K7 w - - 0 1", "all positions"),
    ])  # fmt: skip
    def test_which_test_proved_it(self, fen: str, reason: str) -> None:
        verdict = can_mate(chess.Board(fen), chess.WHITE)

        assert (CANNOT, reason) == (verdict.answer, verdict.reason)


class TestMisbeliefs:
    @pytest.mark.parametrize("fen", [
        "8/8/8/4k3/8/2N2N2/8/K7 b - - 0 80",
        "8/8/8/8/8/1kr5/8/1N2K3 w - - 0 1",
        "8/8/8/8/8/1kp5/8/1N2K3 w - - 0 1",
        "8/8/8/4k3/4b3/8/1B6/K7 b - - 0 80",
        "8/8/8/4k3/4p3/8/1B6/K7 b - - 0 80",
        "kb6/8/1K6/8/8/8/4B3/8 w - - 0 1",
        "kn6/8/1K6/8/8/8/4B3/8 w - - 0 1",
        "kr6/8/K7/8/3N4/8/8/8 w - - 0 1",
    ])  # fmt: skip
    def test_little_material_can_mate(self, fen: str) -> None:
        """Two knights, a knight beside a rook or pawn, a bishop beside a knight, a pawn or the other bishop."""
        board = chess.Board(fen)

        assert known(board, chess.WHITE, can_mate(board, chess.WHITE, 40_000))

    def test_a_knight_cannot_mate_a_queen_alone(self) -> None:
        assert CANNOT is can_mate(chess.Board("8/8/8/4k3/4q3/8/1N6/K7 w - - 0 1"), chess.WHITE).answer


class TestWhatIsNotJudged:
    def test_a_missing_king(self) -> None:
        assert NOT_PROVED is can_mate(chess.Board("8/8/8/8/4k3/8/8/8 w - - 0 1"), chess.WHITE).answer

    def test_an_illegal_position(self) -> None:
        """The side that has just moved stands in check."""
        assert NOT_PROVED is can_mate(chess.Board("4r1k1/8/8/8/8/8/8/4K3 b - - 0 1"), chess.BLACK).answer

    def test_the_limit_is_kept(self) -> None:
        verdict = can_mate(chess.Board(), chess.WHITE, 200)

        assert NOT_PROVED is verdict.answer
        assert "200 positions" in verdict.reason

    def test_the_seventy_five_moves_come_first(self) -> None:
        """A mate that needs more moves than are left proves nothing (FIDE 9.6.2); mate on the last one stands."""
        far = chess.Board("8/8/8/4k3/8/8/8/KR6 w - - 149 120")
        near = chess.Board("7k/8/6K1/8/8/8/8/R7 w - - 149 120")

        assert NOT_PROVED is can_mate(far, chess.WHITE).answer
        assert (CAN, ("a1a8",)) == (can_mate(near, chess.WHITE).answer, can_mate(near, chess.WHITE).line)

    def test_the_board_is_left_alone(self) -> None:
        board = chess.Board("5k2/4pP2/3pP3/2pP4/1pPK4/pP6/P7/8 w - - 0 1")
        before = board.copy()
        can_mate(board, chess.WHITE)

        assert before == board


class TestMateOnTheBoard:
    def test_it_stands(self) -> None:
        board = chess.Board("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1")

        assert Verdict(CAN, "mate line") == can_mate(board, chess.WHITE)
        assert CANNOT is can_mate(board, chess.BLACK).answer

    def test_stalemate_is_dead(self) -> None:
        assert CANNOT is dead(chess.Board("7k/8/6Q1/8/8/8/8/K7 b - - 0 1")).answer


def walled(rng: Random) -> chess.Board | None:
    """Rams of pawns on every other file and some more, kings on their sides, perhaps a bishop or two."""
    board = chess.Board(None)
    odd, rank = rng.randint(0, 1), rng.randint(2, 4)
    for file in range(8):
        if (file % 2 == odd and rng.random() < 0.9) or rng.random() < 0.1:
            board.set_piece_at(chess.square(file, rank), chess.Piece(chess.PAWN, chess.WHITE))
            board.set_piece_at(chess.square(file, rank + 1), chess.Piece(chess.PAWN, chess.BLACK))
    extra = [chess.Piece(chess.KING, chess.WHITE), chess.Piece(chess.KING, chess.BLACK)]
    extra += [chess.Piece(chess.BISHOP, rng.random() < 0.5) for _ in range(rng.randint(0, 2))]
    for piece in extra:
        ranks = range(rank) if piece.color else range(rank + 2, 8)
        free = [chess.square(file, each) for file in range(8) for each in ranks]
        free = [square for square in free if not board.piece_at(square)]
        board.set_piece_at(rng.choice(free), piece)
    board.turn = rng.random() < 0.5
    return board if board.is_valid() else None


class TestWalls:
    def test_what_is_walled_in_never_mates_in_play(self) -> None:
        """Helped play in 300 blocked positions finds no mate where one was excluded."""
        rng = Random(69)
        excluded = found = 0
        for _ in range(300):
            board = walled(rng)
            if board is None:
                continue
            verdict = _without_walls(board)
            walls = never_mated(board, chess.WHITE)
            excluded += walls
            found += verdict.answer is CAN

            assert not (walls and verdict.answer is CAN), board.fen()
        assert excluded > 20
        assert found > 20

    def test_a_right_to_castle_is_no_wall(self) -> None:
        assert not never_mated(chess.Board("4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K2R w K - 0 1"), chess.BLACK)


def _without_walls(board: chess.Board) -> Verdict:
    """The walk alone."""
    return winnable.Proof(winnable._walk(board, chess.WHITE, 1_500, [])).finish()
