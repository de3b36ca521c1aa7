"""A stand-in for lichess's push address that checks as the real one does.

After modules/relay/src/main/RelayPush.scala of lichess-org/lila: bearer token with the scope study:write; a round with
a source of its own refuses; the text is split into at most 100 games, the rest dropped; each is parsed to its end, an
illegal move is an error for that game unless it is a king carried to the centre as the last; a game is the one it has
already if `GameId` or, without it, the names and the event are the same.
"""

from __future__ import annotations

import http.server
import io
import json
import threading
from typing import Any

import chess
import chess.pgn

MOST_GAMES = 100
CENTRE = (chess.D4, chess.E4, chess.D5, chess.E5)


class Lichess:
    """Runs in a thread until `stop`."""

    def __init__(self) -> None:
        self.token = "lip_secret"
        self.upstream = False
        self.say: list[int] = []
        """Statuses to answer the next requests with, before any check."""
        self.requests: list[dict[str, str]] = []
        self.games: dict[str, chess.pgn.Game] = {}
        lichess = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                lichess.requests.append({**dict(self.headers.items()), "path": self.path, "text": text})
                status, body = lichess.answer(self.path, dict(self.headers.items()), text)
                self.send_response(status)
                if status in (301, 302):
                    self.send_header("Location", f"http://127.0.0.1:{lichess.port}/elsewhere")
                data = json.dumps(body).encode()
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self) -> None:
                lichess.requests.append({"path": self.path})
                self.send_error(405)

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, headers: dict[str, str], text: str) -> tuple[int, Any]:
        if self.say:
            status = self.say.pop(0)
            return status, {"error": "Too many requests" if status == 429 else "said so"}
        if headers.get("Authorization") != f"Bearer {self.token}":
            return 401, {"error": "No such token"}
        if path != "/api/broadcast/round/AbCdEfGh/push":
            return 404, {"error": "Not found"}
        if not headers.get("Content-Type", "").startswith("text/plain"):
            return 415, {"error": "Expected text/plain"}
        if self.upstream:
            error = "The relay has an upstream URL, and cannot be pushed to."
            return 200, {"games": [{"tags": {}, "error": error}]}
        return 200, {"games": [self._take(game) for game in self._split(text)]}

    def _split(self, text: str) -> list[chess.pgn.Game]:
        file, found = io.StringIO(text), []
        while len(found) < MOST_GAMES and (game := chess.pgn.read_game(file)):
            found.append(game)
        return found

    def _take(self, game: chess.pgn.Game) -> dict[str, Any]:
        tags = dict(game.headers)
        if game.errors and not self._is_signal(str(game.errors[0])):
            return {"tags": tags, "error": str(game.errors[0])}
        key = tags.get("GameId") or "|".join(tags.get(name, "?") for name in ("Event", "White", "Black"))
        self.games[key] = game
        return {"tags": tags, "moves": len(list(game.mainline_moves()))}

    @staticmethod
    def _is_signal(error: str) -> bool:
        return any(f"'K{chess.square_name(square)}" in error for square in CENTRE)
