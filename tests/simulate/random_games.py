"""Legal games made by chance, and hands that play them."""

from __future__ import annotations

from random import Random

import chess

from gateway import draughts
from gateway.draughts import Position
from gateway.simulate.habits import Habits, Pace
from gateway.simulate.hand import Performance, Players
from gateway.simulate.score import Score, chess_score, draughts_score


def random_chess(seed: int, plies: int = 90, chess960: bool = False) -> Score:
    """A legal game with many captures."""
    rng = Random(seed)
    start = chess.Board.from_chess960_pos(rng.randrange(960)) if chess960 else chess.Board()
    board = start.copy()
    moves: list[chess.Move] = []
    while len(moves) < plies and not board.is_game_over():
        legal = list(board.legal_moves)
        move = rng.choices(legal, [20 if board.is_castling(m) else 3 if board.is_capture(m) else 1 for m in legal])[0]
        moves.append(move)
        board.push(move)
    return chess_score(start, moves)


def random_draughts(seed: int, plies: int = 90) -> Score:
    """A legal game."""
    rng = Random(seed)
    position = Position.start()
    played: list[draughts.Ply] = []
    while len(played) < plies and (legal := position.legal_plies()):
        played.append(rng.choice(legal))
        position = position.after(played[-1])
    return draughts_score(Position.start(), played)


def play(score: Score, pace: Pace, habits: Habits, seed: int) -> Performance:
    """One game without anything before or after it."""
    players = Players(score, pace, habits, Random(seed))
    end = players.play(3.0)
    return Performance(dict(score.start), players.acts, [players.truth], end + 5.0)
