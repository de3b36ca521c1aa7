"""A hundred simulated games through gateway and feed, read back by other programs' readers."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import chess.pgn
import pytest
from recital import messages, played

from gateway import pdn
from gateway.events import GameKind
from gateway.feed.relay import Relay
from gateway.feed.texts import Site, Writer

GAMES = int(os.environ.get("FEED_GAMES", "9"))
KINDS: tuple[GameKind, ...] = ("chess", "draughts", "chess960")
FAR = 4e9


def movetext(text: str) -> str:
    """All parts without their tags."""
    return "\n".join(line for line in text.splitlines() if line and not line.startswith("["))


@pytest.mark.parametrize("seed", range(GAMES))
def test_simulated_game_is_read_back(tmp_path: Path, seed: int) -> None:
    """What the feed writes is what the gateway wrote, and readers take every move and clock of it."""
    kind = KINDS[seed % 3]
    command = {"command": "end_game", "id": "e", "by": "test", "result": "1-1" if kind == "draughts" else "1/2-1/2"}
    path = played(tmp_path / "game.capture.jsonl", kind, seed, {3.0: command})
    relay = Relay(0, confirmed_only=seed % 2 == 0)
    ours = ""
    state: dict[str, object] = {}
    for topic, payload in messages(path):
        if topic in ("pgn", "pdn"):
            ours = payload
        elif topic == "game" or topic.startswith("event/"):
            state = payload if topic == "game" else state
            relay.hear("12", topic, json.dumps(payload).encode(), FAR)
            relay.advance(FAR)
    texts = Writer(Site()).texts(relay.games())
    [whole] = [text for name, text in texts.items() if "/game-" in name and state["game_id"] in name]
    [main] = [text for name, text in texts.items() if name.startswith("live/")]

    assert [] == relay.notes
    assert movetext(ours) == movetext(whole)
    moves = state["moves"]
    assert isinstance(moves, list)
    legal = next((index for index, move in enumerate(moves) if not move["legal"]), len(moves))
    assert len(moves) > 20
    if kind == "draughts":
        games = list(pdn.read(main))
        assert [None] * len(games) == [game.fault for game in games]
        assert "1-1" == games[-1].result
        assert [tuple(move["squares"]) for move in moves[:legal]][-1] == games[-1].moves[-1].ply.path
        assert legal == len(games[-1].moves)
        assert sum(move["clock"] is not None for move in moves[:legal]) == sum(
            move.clock is not None for move in games[-1].moves
        )
    else:
        file = io.StringIO(main)
        games_read = []
        while game := chess.pgn.read_game(file):
            games_read.append(game)
        game = games_read[-1]
        assert [] == game.errors
        assert "1/2-1/2" == game.headers["Result"]
        assert [move["uci"] for move in moves[:legal]] == [
            node.parent.board().uci(node.move, chess960=kind == "chess960") for node in game.mainline() if node.parent
        ]
        assert [None if m["clock"] is None else int(m["clock"][m["side"]]) for m in moves[:legal]] == [
            node.clock() for node in game.mainline()
        ]
    assert f'[GameId "{state["game_id"]}"]' in main
