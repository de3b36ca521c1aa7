"""A table as a capture: what devices and arbiters say, line by line, and what the hall is told of it.

Boards speak the generic text protocol, because it can say everything; bytes of real boards have their own tests.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

import chess

from gateway import capture, replay
from gateway.draughts import Ply, Position
from gateway.record import position_from_fen
from gateway.registry import DRIVERS

STARTED = "2026-05-01T10:00:00.000Z"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
DRAUGHTS_START = Position.start().placement()


class Sitting:
    """One table's capture while it is written, and the hands that play at it.

    Args:
        game: the kind of game.
        placement: what stands at first; None: nothing is said of it.
        occupancy: the board senses only whether a square is taken.
        clock: readings in seconds at the start; None: no clock.
        table: further keys of the table.
    """

    def __init__(
        self,
        game: str = "chess",
        placement: str | None = "",
        occupancy: bool = False,
        clock: float | None = 180,
        **table: Any,
    ) -> None:
        regulations = "fmjd-blitz" if game == "draughts" else "fide-blitz"
        self.header = {
            "capture": 1,
            "started": STARTED,
            "gateway": "g",
            "table": {
                "id": "1",
                "game": game,
                "regulations": regulations,
                "time_control": "180+2",
                "board": {"driver": "generic"},
                **table,
            },
        }
        self.lines: list[dict[str, Any]] = []
        self.t = 0.0
        self.game = game
        self.occupancy = occupancy
        self.readings = {"white": float(clock or 0), "black": float(clock or 0)}
        self.running: str | None = None
        self.timed = clock is not None
        self._said = 0.0
        if placement == "":
            placement = DRAUGHTS_START if game == "draughts" else START
        self.up(0.0)
        self.say(0.0, f"hello test senses={'occupancy' if occupancy else 'pieces'}")
        if placement is not None:
            self.position(0.1, placement)
        if self.timed:
            self.clock(0.2, None)

    # --- lines --------------------------------------------------------------------------------------------------

    def add(self, t: float, **line: Any) -> None:
        """A line at `t`; from now on it is `t`."""
        self.t = round(t, 3)
        self.lines.append({"t": self.t, **line})

    def up(self, t: float) -> None:
        self.add(t, link="board", state="up")

    def down(self, t: float) -> None:
        self.add(t, link="board", state="down")

    def say(self, t: float, text: str) -> None:
        """The board says a line."""
        self.add(t, link="board", dir="rx", hex=f"{text}\n".encode().hex())

    def command(self, t: float, name: str, **arguments: Any) -> None:
        self.add(t, command={"command": name, "id": f"c{len(self.lines)}", "by": "arbiter", **arguments})

    def position(self, t: float, placement: str) -> None:
        """The board says all that stands; an occupancy board only where."""
        if self.occupancy:
            placement = "".join("?" if c.isalpha() else c for c in placement)
        self.say(t, f"position {placement}")

    def clock(self, t: float, running: str | None, more: str = "") -> None:
        """The clock says its readings, the running side's counted down; another side runs from now on."""
        if self.running is not None:
            self.readings[self.running] -= t - self._said
        self._said, self.running = t, running
        white, black = (round(self.readings[side], 3) for side in ("white", "black"))
        self.say(t, f"clock {white} {black} {running or 'none'}{more and ' ' + more}")

    def lift(self, t: float, square: str) -> None:
        self.say(t, f"lift {square}")

    def place(self, t: float, piece: str, square: str) -> None:
        self.say(t, f"place {'?' if self.occupancy else piece}@{square}")

    # --- hands --------------------------------------------------------------------------------------------------

    def touch(self, words: str, pause: float = 0.5) -> None:
        """Lifts and places, one after the other: ``-e2 +P@e4``."""
        for word in words.split():
            if word[0] == "-":
                self.lift(self.t + pause, word[1:])
            else:
                piece, _, square = word[1:].partition("@")
                self.place(self.t + pause, piece, square)

    def press(self, side: str, pause: float = 0.7) -> None:
        """`side` presses, and gets its two seconds."""
        other = "black" if side == "white" else "white"
        t = self.t + pause
        if self.running == side:
            self.readings[side] += 2
        self.clock(t, other)

    def chess(self, moves: str, board: chess.Board | None = None, pause: float = 1.0) -> chess.Board:
        """Play legal moves in UCI or SAN tidily: victim, departure, arrival, press."""
        board = board or chess.Board()
        if self.timed and self.running is None:
            self.clock(self.t + pause, "white" if board.turn else "black")
        for text in moves.split():
            move = board.parse_uci(text) if text[1:2].isdigit() and text[0].islower() and len(text) >= 4 else None
            move = move or board.parse_san(text)
            side = "white" if board.turn else "black"
            self.t += pause
            self.touch(chess_touches(board, move), 0.3)
            board.push(move)
            if self.timed:
                self.press(side)
        return board

    def draughts(self, moves: str, position: Position | None = None, pause: float = 1.0) -> Position:
        """Play legal plies in PDN tidily: departure, landings, arrival, then the captured men."""
        position = position or Position.start()
        if self.timed and self.running is None:
            self.clock(self.t + pause, position.turn)
        for text in moves.split():
            ply = position.parse(text)
            side = position.turn
            self.t += pause
            self.touch(draughts_touches(position, ply), 0.3)
            position = position.after(ply)
            if self.timed:
                self.press(side)
        return position

    # --- what is told -------------------------------------------------------------------------------------------

    def text(self, end: float = 5.0) -> bytes:
        """The capture as a file, ended `end` seconds after the last line."""
        lines = [self.header, *self.lines, {"t": round(self.t + end, 3), "end": True}]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    def told(self, end: float = 5.0) -> list[dict[str, Any]]:
        """What a replay prints: topics, retain, payloads."""
        return printed(self.text(end))

    def events(self, *kinds: str, end: float = 5.0) -> list[dict[str, Any]]:
        """The payloads of events of these kinds, or of all."""
        found = [json.loads(line) for line in replayed(self.text(end), events_only=True)]
        return [event for event in found if not kinds or event["kind"] in kinds]

    def topic(self, name: str, end: float = 5.0) -> list[Any]:
        """All payloads of a topic, such as `table/1/game`."""
        return [line["payload"] for line in self.told(end) if line["topic"] == f"hall/{name}"]

    def replies(self) -> list[dict[str, Any]]:
        return self.topic("arbiter/1/reply")

    def moves(self, end: float = 5.0) -> list[str]:
        """The plies that stand at the end, in their notation."""
        return [move["notation"] for move in standing(self.events(end=end))]

    def alerts(self, end: float = 5.0) -> list[tuple[str, str]]:
        """Irregularity and state of all alerts of notice and above."""
        alerts = self.events("alert", end=end)
        return [(alert["irregularity"], alert["state"]) for alert in alerts if alert["severity"] != "info"]


def from_position(fen: str, game: str = "chess", running: str | None = None, **more: Any) -> Sitting:
    """A game that goes on from a position: the arbiter starts it, and then the clock of the side to move."""
    position = position_from_fen("draughts" if game == "draughts" else "chess960", fen)
    sitting = Sitting(game, position.placement(), **more)
    sitting.command(0.3, "start_game", start_fen=fen)
    if sitting.timed:
        sitting.clock(0.5, running or position.turn)
    sitting.t = 2.0
    return sitting


def chess_touches(board: chess.Board, move: chess.Move) -> str:
    """What a tidy hand does for a move."""
    piece = board.piece_at(move.from_square)
    assert piece is not None
    source, target = chess.square_name(move.from_square), chess.square_name(move.to_square)
    letter = piece.symbol()
    if board.is_castling(move):
        return _castling(board, move)
    words = []
    if board.is_en_passant(move):
        words.append(f"-{target[0]}{source[1]}")
    elif board.piece_at(move.to_square):
        words.append(f"-{target}")
    if move.promotion:
        letter = chess.Piece(move.promotion, board.turn).symbol()
    return " ".join([*words, f"-{source}", f"+{letter}@{target}"])


def _castling(board: chess.Board, move: chess.Move) -> str:
    """King first; where one goes to the other's square, both are lifted before either is set down."""
    king, rook = ("K", "R") if board.turn else ("k", "r")
    rank = "1" if board.turn else "8"
    kingside = board.is_kingside_castling(move)
    rooks = list(chess.SquareSet(board.rooks & board.occupied_co[board.turn] & board.castling_rights))
    corner = max(rooks) if kingside else min(rooks)
    source, rook_from = chess.square_name(move.from_square), chess.square_name(corner)
    king_to, rook_to = ("g", "f") if kingside else ("c", "d")
    words = []
    if source != king_to + rank:
        words += [f"-{source}"]
    if rook_from != rook_to + rank:
        words += [f"-{rook_from}"]
    if source != king_to + rank:
        words += [f"+{king}@{king_to}{rank}"]
    if rook_from != rook_to + rank:
        words += [f"+{rook}@{rook_to}{rank}"]
    return " ".join(words)


def draughts_touches(position: Position, ply: Ply) -> str:
    """What a tidy hand does for a ply: each landing is tapped, the men go afterwards, in order."""
    piece = position.pieces()[str(ply.departure)]
    becomes = position.after(ply).pieces()[str(ply.arrival)]
    words = [f"-{ply.departure}"]
    for square in ply.path[1:-1]:
        words += [f"+{piece}@{square}", f"-{square}"]
    words.append(f"+{becomes}@{ply.arrival}")
    return " ".join([*words, *(f"-{square}" for square in ply.captured)])


def replayed(text: bytes, *, events_only: bool = False) -> list[bytes]:
    """The lines that a replay of a capture prints; the capture must be sound."""
    damage: list[str] = []
    reader = capture.Reader(io.BytesIO(text), DRIVERS, lambda number, problem: damage.append(f"{number}: {problem}"))
    lines = list(replay.lines(replay.replayed(reader), replay.Form(events_only)))
    assert [] == damage
    return lines


def printed(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in replayed(text)]


def standing(events: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The plies that stand, as a subscriber finds them."""
    plies: list[Mapping[str, Any]] = []
    for event in events:
        if event["kind"] == "game_started":
            plies = []
        elif event["kind"] == "move":
            assert event["ply"] == (plies[-1]["ply"] + 1 if plies else event["ply"])
            plies.append(event)
        elif event["kind"] == "move_retracted":
            plies = [ply for ply in plies if ply["ply"] < event["from_ply"]]
    return plies
