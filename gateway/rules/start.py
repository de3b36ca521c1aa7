"""Before the first move: what stands, which way round, at whose places, and whether anybody is there.

Nothing is said while pieces are being put up: a clock must have been started. Absence is never seen, only that nobody
touched anything; a player may sit and think. Articles: FIDE 2.1 to 2.3, 6.6, 6.7, 7.2, 7.3, A.5.1; FMJD III 3.5, 4.4 to
4.6; FMJD A1 2.4, 2.8, 5.1, 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import chess

from gateway.events import GameKind, GameStarted, Piece, Square
from gateway.game import Game
from gateway.record import START_FEN, position_from_fen
from gateway.rules import Finding, Situation
from gateway.time_control import TimeControl

MOST_WRONG = 6
"""Squares that may differ where a start position was meant."""
LATE_FOR_A_GAME = 10
"""Moves by both after which it is too late in rapid and blitz (FIDE A.5.1.2)."""


class StartPosition:
    """The start position is wrong, or right on a board that lies askew."""

    kinds: ClassVar[tuple[str, ...]] = ("start_position_wrong", "board_rotated")

    def __init__(self) -> None:
        self._started: float | None = None
        """When a clock was started with no game in play."""
        self._from: tuple[float, list[str], str | None] | None = None
        """Since when a wrong start stood from which play went on, the squares, and the game's id."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        for event in seen.happened:
            if isinstance(event, GameStarted) and not (event.reason == "resumed" and self._from is not None):
                self._from = None
        if _no_game(seen):
            yield from self._before_the_game(seen)
        elif self._from is not None:
            self._started = None
            yield from self._in_the_game(seen)

    def _before_the_game(self, seen: Situation) -> Iterator[Finding]:
        if seen.clock.running == "none" or not seen.board.known:
            self._started = None
            self._from = None
            return
        if any(change.change == "started" for change in seen.clock_changes):
            self._started = seen.at
        if self._started is None:
            # The gateway came up with a clock running, or the last game's was never stopped: no start was seen.
            return
        since = max(self._started, seen.board.last_change)
        self._from = None
        if _askew(seen):
            yield Finding("board_rotated", since)
            return
        wrong = _wrong_squares(seen)
        if wrong and len(wrong) <= MOST_WRONG:
            self._from = since, wrong, None
            yield _wrong_start(since, wrong)

    def _in_the_game(self, seen: Situation) -> Iterator[Finding]:
        """Play went on from the wrong position; the record begins with it."""
        assert self._from is not None
        game = seen.game
        if game is None or game.phase != "play":
            self._from = None
            return
        since, wrong, identity = self._from
        if identity is None:
            self._from = since, wrong, game.id
        elif identity != game.id:
            self._from = None
            return
        late = seen.record.fewest >= LATE_FOR_A_GAME
        if game.record.ply == 0 and not _wrong_squares(seen):
            # It is put right, and stays so: a piece that is lifted now is played.
            self._from = None
        elif seen.in_force.endswith("standard") or not late:
            yield _wrong_start(since, wrong)

    def state(self) -> list[Any]:
        return [self._started, self._from and list(self._from)]

    def restore(self, state: list[Any]) -> None:
        self._started, begun = state
        self._from = begun and (begun[0], begun[1], begun[2])


def _no_game(seen: Situation) -> bool:
    return seen.game is None or seen.game.phase == "ended"


def _wrong_start(since: float, wrong: list[str]) -> Finding:
    return Finding("start_position_wrong", since, facts={"squares": wrong}, evidence={"squares": wrong})


def _wrong_squares(seen: Situation) -> list[Square]:
    """Where the board differs from the start that was meant, whichever way round that is less."""
    pieces = seen.pieces
    turned = {seen.board.geometry.turned(square): piece for square, piece in pieces.items()}
    found = [sorted(_differing(seen, each)) for each in ((pieces,) if seen.orientation else (pieces, turned))]
    return min(found, key=len)


def _differing(seen: Situation, pieces: Mapping[Square, Piece]) -> set[Square]:
    expected = _expected(seen.game_kind, seen.assigned.start_fen, pieces)
    if not seen.board.pieces_known:
        return set(pieces) ^ set(expected)
    return {square for square in {*pieces, *expected} if pieces.get(square) not in (expected.get(square), "?")}


def nearly_start(game: Game, start_fen: str | None) -> bool:
    """Whether the record begins with what was meant as a start position."""
    pieces = game.record.start.pieces()
    expected = _expected(game.kind, start_fen, pieces)
    return sum(pieces.get(square) != expected.get(square) for square in {*pieces, *expected}) <= MOST_WRONG


def _expected(game: GameKind, start_fen: str | None, pieces: Mapping[Square, Piece]) -> dict[Square, Piece]:
    """The start that was meant; of the 960 the one that one of the back ranks shows."""
    if game != "chess960" or start_fen is not None:
        return position_from_fen(game, start_fen or START_FEN[game]).pieces()
    for rank in "18":
        back = "".join(pieces.get(f"{file}{rank}", " ") for file in "abcdefgh").upper()
        board = chess.Board(None, chess960=True)
        if sorted(back) == sorted("RNBQKBNR"):
            board.set_board_fen(f"{back.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{back}")
            board.castling_rights = board.rooks
            if board.chess960_pos() is not None:
                return {chess.square_name(square): piece.symbol() for square, piece in board.piece_map().items()}
    return position_from_fen("chess", START_FEN["chess"]).pieces()


def _askew(seen: Situation) -> bool:
    """Whether the start position stands turned by a quarter, in the board's own frame."""
    start = seen.assigned.start_fen or START_FEN[seen.game_kind]
    expected = position_from_fen(seen.game_kind, start).pieces()
    board = seen.board
    standing = {_cell(square): piece for square, piece in seen.pieces.items()}
    last = 7 if "K" in board.geometry.white else 9
    cells = {_cell(square): piece for square, piece in expected.items()}
    for turned in (
        {(row, last - column): piece for (column, row), piece in cells.items()},
        {(last - row, column): piece for (column, row), piece in cells.items()},
    ):
        if turned.keys() == standing.keys() and all(
            not board.pieces_known or standing[cell] in (piece, "?") for cell, piece in turned.items()
        ):
            return True
    return False


def _cell(square: Square) -> tuple[int, int]:
    """Column and row, from 0 at the bottom left as White sees it."""
    if not square.isdigit():
        return "abcdefghij".index(square[0]), int(square[1:]) - 1
    row, column = divmod(int(square) - 1, 5)
    return 2 * column + (row % 2 == 0), 9 - row


class ColoursReversed:
    """White was to sit at the other edge of the board."""

    kinds: ClassVar[tuple[str, ...]] = ("colours_reversed",)

    def __init__(self) -> None:
        self._since: tuple[float, str | None] | None = None

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        for event in seen.happened:
            if isinstance(event, GameStarted) and game is not None and event.reason == "start_position":
                self._since = (seen.at, game.id) if self._reversed(game, seen) else None
        if self._since is None or game is None or game.phase != "play" or game.id != self._since[1]:
            return
        # FIDE 7.3: it goes on after ten moves of both.
        if seen.record.fewest < LATE_FOR_A_GAME and self._reversed(game, seen):
            edge = "near" if seen.orientation == "normal" else "far"
            yield Finding("colours_reversed", self._since[0], facts={"edge": edge})

    @staticmethod
    def _reversed(game: Game, seen: Situation) -> bool:
        seats = game.assigned.seats
        return seats is not None and seen.orientation is not None and seen.orientation != seats

    def state(self) -> Any:
        return self._since and list(self._since)

    def restore(self, state: Any) -> None:
        self._since = state and (state[0], state[1])


class TimeControlOutside:
    """The time control is none that the regulations know; from the settings alone."""

    kinds: ClassVar[tuple[str, ...]] = ("time_control_outside_regulations",)

    def __init__(self) -> None:
        self._since: tuple[str, float] | None = None
        self._judged: tuple[TimeControl, str, bool] | None = None
        """What was judged last, and whether it is one of theirs."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        control, regulations = seen.time_control, seen.in_force
        if seen.config.rules.accept_time_control or not control.periods:
            return
        if self._judged is None or self._judged[:2] != (control, regulations):
            electronic = seen.config.clock.driver != "none"
            self._judged = control, regulations, _is_of(control, regulations, electronic=electronic)
        if self._judged[2]:
            return
        key = f"{control} {regulations}"
        if self._since is None or self._since[0] != key:
            self._since = key, seen.at
        facts = {"time_control": str(control), "regulations": regulations}
        yield Finding("time_control_outside_regulations", self._since[1], key=key, facts=facts)

    def state(self) -> Any:
        return self._since and list(self._since)

    def restore(self, state: Any) -> None:
        self._since = state and (state[0], state[1])


def _is_of(control: TimeControl, regulations: str, *, electronic: bool) -> bool:
    """Whether the control is one of the regulations; on an electronic clock some must have a bonus."""
    rapid = regulations in ("fmjd-rapid", "fmjd-blitz")
    fixed = regulations == "fmjd-standard" and control.periods[-1].moves is None
    without = electronic and not control.has_bonus and (rapid or fixed)
    return bool(control.fits(regulations)) and not without


RULES = (StartPosition, ColoursReversed, TimeControlOutside)
