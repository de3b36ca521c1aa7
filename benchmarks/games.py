"""Real games to play on simulated boards, read from the data folder that lies beside the repository."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import chess
import chess.pgn

from gateway import pdn
from gateway.draughts import Position
from gateway.simulate.games import thinks
from gateway.simulate.score import Ply, Score, chess_ply, chess_score, draughts_ply, draughts_score


class NoGamesError(Exception):
    """The data folder is not there, or holds no such games."""


def data_folder() -> Path:
    """`shared/data` beside the repository's root.

    Raises:
        NoGamesError: it is not there.
    """
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        raise NoGamesError(f"there are no games: {folder} does not exist")
    return folder


@cache
def _pgn_moves() -> tuple[tuple[str, str, tuple[chess.Move, ...], tuple[float | None, ...]], ...]:
    """Name, result, moves and times of every usable chess game: cheap to keep, while scores are made when asked for."""
    found = []
    for path in sorted((data_folder() / "chess_pgn").glob("*.pgn")):
        if path.stem == "broken":
            continue
        increment = 10.0 if "rapid" in path.stem else 30.0
        with path.open(encoding="utf-8", errors="replace") as file:
            index = 0
            while game := chess.pgn.read_game(file):
                index += 1
                moves = tuple(game.mainline_moves())
                if game.errors or len(moves) < 10 or game.board().fen() != chess.STARTING_FEN:
                    continue
                name = f"{path.stem}#{index}"
                found.append(
                    (
                        name,
                        game.headers.get("Result", "*"),
                        moves,
                        tuple(thinks([node.clock() for node in game.mainline()], increment)),
                    )
                )
    if not found:
        raise NoGamesError(f"{data_folder() / 'chess_pgn'} holds no games")
    return tuple(found)


def chess_game(seed: int) -> Score:
    """A real game, chosen by seed."""
    games = _pgn_moves()
    name, result, moves, times = games[Random(seed).randrange(len(games))]
    return chess_score(chess.Board(), moves, times, result, name)


@cache
def _pdn_games() -> tuple[tuple[str, pdn.PdnGame], ...]:
    """Name and game of every usable draughts game of the ordinary start position."""
    found = []
    for path in sorted((data_folder() / "draughts_pdn").glob("*.pdn")):
        if path.stem in ("broken", "server_brazilian", "server_frisian", "server_russian"):
            continue
        for index, game in enumerate(pdn.read(path.read_text(encoding="utf-8", errors="replace")), 1):
            if not game.fault and game.moves:
                found.append((f"{path.stem}#{index}", game))
    if not found:
        raise NoGamesError(f"{data_folder() / 'draughts_pdn'} holds no games")
    return tuple(found)


def draughts_game(seed: int, problems: bool = False) -> Score:
    """A real game, or a problem with its solution, chosen by seed."""
    start = Position.start()
    games = [
        (name, game)
        for name, game in _pdn_games()
        if (game.start != start if problems else game.start == start and len(game.moves) >= 10)
    ]
    name, game = games[Random(seed).randrange(len(games))]
    return draughts_score(game.start, [move.ply for move in game.moves], game.result, name)


def chess960_game(seed: int) -> Score:
    """A game from one of the 960 positions, made up: captures and castling are liked, all else is chance."""
    rng = Random(seed)
    board = chess.Board.from_chess960_pos(rng.randrange(960))
    start = board.copy()
    moves: list[chess.Move] = []
    while len(moves) < 110 and not board.is_game_over():
        legal = list(board.legal_moves)
        likes = [30 if board.is_castling(m) else 4 if board.is_capture(m) else 1 for m in legal]
        move = rng.choices(legal, likes)[0]
        moves.append(move)
        board.push(move)
    return chess_score(start, moves, (), board.result(), f"chess960#{seed}")


def with_takeback(score: Score, seed: int) -> Score:
    """The same game, in which one or two plies are made somewhere and taken back."""
    rng = Random(seed)
    index = rng.randrange(4, len(score.plies) - 1)
    before = score.plies[index - 1].fen
    detour = _draughts_detour(before, rng) if score.game == "draughts" else _chess_detour(before, score, index, rng)
    return replace(score, detours={index: detour}) if detour else score


def _chess_detour(fen: str, score: Score, index: int, rng: Random) -> tuple[Ply, ...]:
    board = chess.Board(fen, chess960=score.game == "chess960")
    plies: list[Ply] = []
    for _ in range(1 if rng.random() < 0.6 else 2):
        moves = [m for m in board.legal_moves if not m.promotion and (plies or m.uci() != score.plies[index].name)]
        if not moves:
            break
        # a takeback often goes on with the same piece, as the Laws demand
        same = [m for m in moves if not plies and chess.square_name(m.from_square) == score.plies[index].departure]
        move = rng.choice(same if same and rng.random() < 0.5 else moves)
        plies.append(chess_ply(board, move))
        board.push(move)
    return tuple(plies)


def _draughts_detour(fen: str, rng: Random) -> tuple[Ply, ...]:
    position = Position.from_fen(fen)
    plies: list[Ply] = []
    for _ in range(1 if rng.random() < 0.6 else 2):
        legal = position.legal_plies()
        if not legal:
            break
        ply = rng.choice(legal)
        plies.append(draughts_ply(position, ply))
        position = position.after(ply)
    return tuple(plies)
