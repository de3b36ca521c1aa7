"""What most programs do, to compare with: wait until the board is quiet, then look for one legal ply that explains it.

A slide that was taken for a ply is undone when the same piece goes on. There is no other way back: once two plies have
been made between two quiet moments, the reader waits for ever for one legal ply that leads there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import chess

from gateway import draughts
from gateway.events import BoardDump, FieldUpdate, Move, MoveRetracted, Numbered, Observation, Piece, Senses, Square
from gateway.simulate.device import turned
from gateway.simulate.score import Pieces, Ply, Score, chess_pieces, chess_ply, draughts_ply

WAITS = (0.15, 0.25, 0.35, 0.5)


@dataclass(frozen=True, slots=True)
class ChessState:
    """A chess position."""

    board: chess.Board

    def pieces(self) -> Pieces:
        return chess_pieces(self.board)

    def successors(self, changed: set[Square]) -> Iterator[tuple[Ply, ChessState]]:
        """The legal plies whose departure has changed, and where they lead."""
        mask = chess.SquareSet(chess.parse_square(square) for square in changed)
        for move in self.board.generate_legal_moves(int(mask)):
            after = self.board.copy(stack=False)
            after.push(move)
            yield chess_ply(self.board, move), ChessState(after)


@dataclass(frozen=True, slots=True)
class DraughtsState:
    """A draughts position."""

    position: draughts.Position

    def pieces(self) -> Pieces:
        return self.position.pieces()

    def successors(self, changed: set[Square]) -> Iterator[tuple[Ply, DraughtsState]]:
        """The legal plies whose departure or a victim of which has changed, and where they lead."""
        for ply in self.position.legal_plies():
            if str(ply.departure) in changed or any(str(square) in changed for square in ply.captured):
                yield draughts_ply(self.position, ply), DraughtsState(self.position.after(ply))


State = ChessState | DraughtsState


def start_state(score: Score) -> State:
    """Where the game begins."""
    if score.game == "draughts":
        return DraughtsState(draughts.Position.from_fen(score.start_fen))
    return ChessState(chess.Board(score.start_fen, chess960=score.game == "chess960"))


class Settle:
    """The reader. It is told the start position, which is more than a real one knows."""

    def __init__(self, score: Score, wait: float) -> None:
        self.wait = wait
        self.deadline: float | None = None
        self.board: Pieces = {}
        self.kinds = True
        self.turn_names: bool | None = None
        self.start = score.start
        self.state: State = start_state(score)
        self.earlier: State | None = None
        self.ply = 0
        self.touched: set[Square] = set()
        self.count = 0

    def observe(self, observation: Observation, at: float) -> list[Numbered]:
        """Keep what the board shows; decide nothing yet."""
        if isinstance(observation, Senses):
            self.kinds = observation.pieces
        elif isinstance(observation, BoardDump):
            pieces = dict(observation.pieces)
            if self.turn_names is None:
                self.turn_names = self._differs(self._turn(pieces)) < self._differs(pieces)
            self.board = self._turn(pieces) if self.turn_names else pieces
            self.deadline = at + self.wait
        elif isinstance(observation, FieldUpdate):
            square = turned(observation.square) if self.turn_names else observation.square
            self._hold(square, observation.piece)
            self.deadline = at + self.wait
        return []

    def tick(self, at: float) -> list[Numbered]:
        """The board has been quiet: look for the ply."""
        self.deadline = None
        events: list[Numbered] = []
        if found := self._explain(self.state):
            ply, after = found
            self.earlier, self.state = self.state, after
            self.ply += 1
            events.append(self._move(ply, at))
        elif self.earlier and not self._same(self.state.pieces()) and (found := self._explain(self.earlier)):
            ply, self.state = found
            events.append(self._number(MoveRetracted(self.ply, "slide"), at))
            events.append(self._move(ply, at))
        if events:
            self.touched.clear()
        return events

    def _hold(self, square: Square, piece: Piece | None) -> None:
        self.touched.add(square)
        if piece is None:
            self.board.pop(square, None)
        else:
            self.board[square] = piece

    def _turn(self, pieces: Pieces) -> Pieces:
        return {turned(square): piece for square, piece in pieces.items()}

    def _differs(self, pieces: Pieces) -> int:
        return sum(pieces.get(square) != self.start.get(square) for square in {*pieces, *self.start})

    def _same(self, pieces: Pieces) -> bool:
        return pieces == self.board if self.kinds else pieces.keys() == self.board.keys()

    def _explain(self, state: State) -> tuple[Ply, State] | None:
        """The one legal ply from `state` to what stands; on an occupancy board the arrival must have been touched."""
        now = state.pieces()
        if self.kinds:
            changed = {square for square in {*now, *self.board} if now.get(square) != self.board.get(square)}
        else:
            changed = {*now} ^ {*self.board}
        if not changed or len(changed) > 24:
            return None
        for ply, after in state.successors(changed):
            if self._same(dict(ply.after)) and (self.kinds or ply.arrival in self.touched):
                return ply, after
        return None

    def _move(self, ply: Ply, at: float) -> Numbered:
        path = captured = None
        if ply.departure.isdigit():
            path = (int(ply.departure), int(ply.arrival))
            captured = tuple(int(square) for square, _ in ply.victims)
        move = Move(self.ply, ply.side, ply.name, ply.name, path, captured, ply.fen, True, "board", None, None)
        return self._number(move, at)

    def _number(self, event: Move | MoveRetracted, at: float) -> Numbered:
        self.count += 1
        return Numbered(f"settle.1.{self.count}", self.count, at, "1", "settle", "public", event)
