"""Legal games made by chance, and the bare lifts and places that play them."""

from __future__ import annotations

from random import Random
from typing import Any

import chess

from gateway import draughts
from gateway.draughts import Position
from gateway.simulate.score import Score, chess_score, draughts_score


def random_game(game: Any, rng: Random, plies: int) -> Score:
    """A legal game that does not end before its last ply; captures and castling are likelier than by chance."""
    if game == "draughts":
        position = Position.start()
        played: list[draughts.Ply] = []
        while len(played) < plies and (legal := position.legal_plies()):
            played.append(rng.choice(legal))
            position = position.after(played[-1])
        return draughts_score(Position.start(), played)
    start = chess.Board.from_chess960_pos(rng.randrange(960)) if game == "chess960" else chess.Board()
    board = start.copy()
    moves: list[chess.Move] = []
    while len(moves) < plies and not board.is_game_over():
        legal_moves = list(board.legal_moves)
        weights = [20 if board.is_castling(m) else 3 if board.is_capture(m) else 1 for m in legal_moves]
        moves.append(rng.choices(legal_moves, weights)[0])
        board.push(moves[-1])
    return chess_score(start, moves)
