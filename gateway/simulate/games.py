"""Games of a PGN or PDN file as scores, with the thinking times that clock comments tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chess
import chess.pgn

from gateway import pdn
from gateway.errors import UsageError
from gateway.simulate.score import Score, chess_score, draughts_score

LONGEST_THINK = 3600.0

OPERA = (
    "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 "
    "Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#"
)
"""Morphy against two gentlemen in their box, Paris 1858: what is played when no file is given."""


def opera() -> Score:
    """The game that is played when no file is given."""
    board = chess.Board()
    moves = [board.push_san(san) for san in OPERA.split()]
    return chess_score(chess.Board(), moves, (), "1-0", "opera")


def thinks(readings: Sequence[float | None], increment: float) -> list[float | None]:
    """Seconds that each ply took by the clock; None where a reading is missing or makes no sense."""
    found: list[float | None] = []
    for index, reading in enumerate(readings):
        before = readings[index - 2] if index >= 2 else None
        took = None if reading is None or before is None else before - reading + increment
        found.append(took if took is not None and 0 <= took < LONGEST_THINK else None)
    return found


def read_scores(path: Path, increment: float = 0.0) -> list[Score]:
    """The games of a file, illegal ones left out; the name's ending tells PGN from PDN.

    Raises:
        UsageError: it holds no game that can be played.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    scores = _pdn_scores(text, path.stem, increment) if path.suffix == ".pdn" else _pgn_scores(path, increment)
    if not scores:
        raise UsageError(f"{path} holds no game that can be played")
    return scores


def _pgn_scores(path: Path, increment: float) -> list[Score]:
    scores = []
    with path.open(encoding="utf-8", errors="replace") as file:
        index = 0
        while game := chess.pgn.read_game(file):
            index += 1
            moves = list(game.mainline_moves())
            if moves and not game.errors:
                readings = [node.clock() for node in game.mainline()]
                result = game.headers.get("Result", "*")
                name = f"{path.stem}#{index}"
                scores.append(chess_score(game.board(), moves, thinks(readings, increment), result, name))
    return scores


def _pdn_scores(text: str, stem: str, increment: float) -> list[Score]:
    scores = []
    for index, game in enumerate(pdn.read(text), 1):
        if game.moves and not game.fault:
            times = thinks([move.clock for move in game.moves], increment)
            plies = [move.ply for move in game.moves]
            scores.append(draughts_score(game.start, plies, game.result, f"{stem}#{index}", times))
    return scores
