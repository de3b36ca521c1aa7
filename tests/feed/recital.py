"""Games for the feed: simulated hands through the real gateway, as the messages that a broker would deliver."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import chess

from gateway import draughts
from gateway.capture import Reader
from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.events import GameKind
from gateway.registry import DRIVERS
from gateway.replay import Form, lines, replayed
from gateway.simulate import captures
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, Board
from gateway.simulate.habits import BLITZ, DRAUGHTS_BLITZ, Habits
from gateway.simulate.hand import Performance, Players
from gateway.simulate.score import Score, chess_score, draughts_score

Message = tuple[str, Any]
"""Topic below ``hall/table/TABLE/``, and the payload (text for pgn and pdn)."""


def score(kind: GameKind, seed: int, plies: int = 60) -> Score:
    """A legal game by chance."""
    rng = Random(seed)
    if kind == "draughts":
        position = draughts.Position.start()
        played: list[draughts.Ply] = []
        while len(played) < plies and (legal := position.legal_plies()):
            played.append(rng.choice(legal))
            position = position.after(played[-1])
        return draughts_score(draughts.Position.start(), played)
    start = chess.Board.from_chess960_pos(rng.randrange(960)) if kind == "chess960" else chess.Board()
    board = start.copy()
    moves: list[chess.Move] = []
    while len(moves) < plies and not board.is_game_over():
        choice = list(board.legal_moves)
        weights = [20 if board.is_castling(m) else 3 if board.is_capture(m) else 1 for m in choice]
        moves += rng.choices(choice, weights)
        board.push(moves[-1])
    return chess_score(start, moves)


def played(path: Path, kind: GameKind, seed: int, commands: Mapping[float, dict[str, Any]] | None = None) -> Path:
    """A capture of one game; commands are given so many seconds after its end."""
    sheet = score(kind, seed)
    players = Players(sheet, DRAUGHTS_BLITZ if kind == "draughts" else BLITZ, Habits().noisy(0.5), Random(seed))
    end = players.play(3.0)
    performance = Performance(dict(sheet.start), players.acts, [players.truth], end + 5.0)
    table = TableConfig(
        id="12",
        game=kind,
        board=BoardConfig("dgt"),
        clock=ClockConfig("board"),
        regulations="fmjd-blitz" if kind == "draughts" else "fide-blitz",
        time_control="180+2",
    )
    trace = Board(CLASSIC, performance, kind, Random(seed)).trace(ClockModel(180, 2))
    captures.write(path, table, performance, trace)
    if commands:
        *head, last = path.read_text().splitlines()
        t = json.loads(last)["t"]
        more = [json.dumps({"t": t + after, "command": command}) for after, command in sorted(commands.items())]
        path.write_text("\n".join([*head, *more, json.dumps({"t": t + max(commands) + 5, "end": True})]) + "\n")
    return path


def messages(path: Path) -> Iterator[Message]:
    """What the gateway publishes of a capture's table, in its order."""
    reader = Reader(path, DRIVERS, lambda number, text: None)
    for line in lines(replayed(reader), Form()):
        said = json.loads(line)
        root, branch, _, rest = said["topic"].split("/", 3)
        if (root, branch) == ("hall", "table"):
            yield rest, said["payload"]
