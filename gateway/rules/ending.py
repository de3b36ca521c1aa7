"""The end: on the board, by the kings, without a word; and what goes on after it.

Articles: FIDE 5.1.1, 5.2, 8.7, 9.6, 11.3; FMJD A1 7.2; FMJD III 2.5, 6.18, 6.19; the board makers' kings convention.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar

import chess

from gateway.catalogue import Fact
from gateway.events import Side, Square
from gateway.reconstruct.observed import NEVER
from gateway.reconstruct.phase import CENTRE, kings_signal
from gateway.record import START_FEN
from gateway.rules import Finding, Situation, Told
from gateway.rules.readings import at_base
from gateway.rules.recorded import node_of_fen

BOARD_ENDS = {
    "checkmate": "Checkmate",
    "stalemate": "Stalemate",
    "no_pieces": "No pieces left",
    "no_moves": "No legal move",
}
"""Reasons of `phase.over`, as told."""
ON_BOARD = 1.0
"""Seconds for which an end on the board must stand (catalogue, `game_over_on_board`)."""
SIGNAL = 3.0
"""Seconds for which the kings must stand (`kings_result_signal`)."""
AUTOMATIC = ("dead_position", "fivefold", "seventy_five_moves")
"""Ends that the board does not show by itself."""
RUNNING = 60.0
"""Seconds for which pieces may stand so while a clock runs."""
ONE_FALL = 1.0
"""Seconds within which all pieces fall when a board is knocked over; hands that put them away need longer."""
MANY_CHANGES = 20
ANALYSIS = 60.0
WINNER: dict[str, Side] = {"1-0": "white", "0-1": "black"}


class GameOver:
    """The position ends the game; and what goes on all the same."""

    kinds: ClassVar[tuple[str, ...]] = ("game_over_on_board", "clock_running_after_end", "play_after_game_end")

    def __init__(self) -> None:
        self._game: str | None = None
        self._stands: tuple[int, float] | None = None
        """The ply that ended the game, and since when it stands on the board."""
        self._running: float | None = None
        """Since when the game is over with the clock never stopped."""
        self._stopped = False
        self._presses: list[float] = []
        """Presses after the end, each with a piece moved before it."""
        self._moved = False

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.phase not in ("play", "ended"):
            return
        if game.id != self._game:
            self.restore([game.id, None, None, False, [], False])
        self._note_end(seen)
        reason = self._reason(seen)
        if self._stands is not None and reason in BOARD_ENDS:
            entry = next((entry for entry in game.record.entries if entry.ply == self._stands[0]), None)
            if entry is not None:
                facts = {"detail": BOARD_ENDS[reason]}
                evidence = {"move": entry.move.notation, "fen": entry.move.fen}
                yield Finding("game_over_on_board", self._stands[1], entry.move.side, facts=facts, evidence=evidence)
        yield from self._clock(seen)
        yield from self._play(reason, seen)

    def _note_end(self, seen: Situation) -> None:
        assert seen.game is not None
        game = seen.game
        last = seen.record.last
        if last is None or not last.move.legal or seen.record.last_over is None:
            if game.phase == "play":
                self._stands = None
            return
        if seen.differing and game.phase == "play" and not last.confirmed:
            # It is being put elsewhere, or back.
            self._stands = None
            return
        if self._stands is None or self._stands[0] != last.ply:
            self._stands = None
            if not seen.differing:
                self._stands = last.ply, min(seen.at, max(seen.board.last_change, 0.0))

    def _reason(self, seen: Situation) -> str | None:
        """Why the game is over, if it is by itself."""
        assert seen.game is not None
        verdict = seen.record.over
        if verdict is not None and self._stands is not None:
            return verdict[1]
        for told in reversed(seen.told):
            if told.kind in AUTOMATIC and told.ruling != "dismissed" and seen.game.phase == "play":
                return told.kind
        return None

    # --- the clock runs on --------------------------------------------------------------------------------------

    def _clock(self, seen: Situation) -> Iterator[Finding]:
        assert seen.game is not None
        kings = seen.game.phase == "ended" and seen.game.reason == "kings_signal"
        if not kings and self._stands is None:
            self._running, self._stopped = None, False
            return
        report = seen.clock.report
        runs = seen.clock.one_running
        if runs is None or report is None or at_base(report, seen.time_control) or seen.next is not None:
            # From here on a clock that runs is the next game's.
            self._stopped = True
        if self._stopped or runs is None:
            return
        if self._running is None:
            self._running = seen.at if kings or self._stands is None else self._stands[1] + ON_BOARD
        evidence = {"readings": {"white": report.white, "black": report.black}} if report else {}
        yield Finding("clock_running_after_end", self._running, facts={"running": runs}, evidence=evidence)

    # --- moves go on --------------------------------------------------------------------------------------------

    def _play(self, reason: str | None, seen: Situation) -> Iterator[Finding]:
        assert seen.game is not None
        if reason in AUTOMATIC:
            yield from self._after_automatic(reason, seen)
            return
        if reason is None or seen.game.phase != "ended" or seen.next is not None:
            self._presses, self._moved = [], False
            return
        # Only a press says that pieces are moved in earnest; without one they are put away or looked at.
        if seen.clock.running == "none":
            self._presses, self._moved = [], False
        self._moved |= any(touch.now not in (None, "K", "k") for touch in seen.touched)
        if self._moved and any(change.change == "pressed" for change in seen.clock_changes):
            self._presses.append(seen.at)
            self._moved = False
        if len(self._presses) >= 2:
            yield Finding("play_after_game_end", self._presses[1], facts={"reason": BOARD_ENDS[reason].lower()})

    def _after_automatic(self, kind: str, seen: Situation) -> Iterator[Finding]:
        assert seen.game is not None
        told = next(told for told in reversed(seen.told) if told.kind == kind)
        ended = told.ply or 0
        moves = [played for played in seen.standing if played.ply > ended and played.legal]
        if len(moves) < 2 or seen.clock.running == "none":
            return
        facts = {"reason": kind.replace("_", " ")}
        yield Finding("play_after_game_end", moves[1].arrived, key=kind, facts=facts, evidence={"ended_at_ply": ended})

    def state(self) -> list[Any]:
        stands = self._stands and list(self._stands)
        return [self._game, stands, self._running, self._stopped, self._presses, self._moved]

    def restore(self, state: list[Any]) -> None:
        self._game, stands, self._running, self._stopped, self._presses, self._moved = state
        self._stands = stands and (stands[0], stands[1])
        self._presses = list(self._presses)


class KingsSignal:
    """A result shown with the kings, and whether it can be."""

    kinds: ClassVar[tuple[str, ...]] = ("kings_result_signal", "result_signal_conflict")

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.phase not in ("play", "ended") or not seen.board.pieces_known:
            return
        if seen.game_kind == "draughts":
            return
        kinds, masks, index = seen.board.geometry.kinds, seen.board.masks, seen.board.geometry.index
        if not (masks[kinds["K"]] & chess.BB_CENTER and masks[kinds["k"]] & chess.BB_CENTER):
            return
        pieces = {square: seen.board.piece(index[square]) or "" for square in CENTRE}
        result = kings_signal(pieces)
        if result is None:
            return
        squares: list[Square] = [square for square in CENTRE if pieces[square] in ("K", "k")]
        since = max(seen.board.changed_at[index[square]] for square in squares)
        facts: dict[str, Fact] = {"squares": squares, "result": result}
        yield Finding("kings_result_signal", since, key=result, facts=facts, evidence=facts)
        contrary = self._contrary(result, since, seen)
        if contrary is not None:
            facts = {"result": result, "detail": contrary}
            yield Finding("result_signal_conflict", since, key=result, facts=facts, evidence=facts, wait=SIGNAL)

    @staticmethod
    def _contrary(result: str, since: float, seen: Situation) -> str | None:
        """What the record holds against the result."""
        if seen.record.last_end is not None:
            entry, verdict = seen.record.last_end
            if entry.move.legal and verdict[0] != result:
                return f"{BOARD_ENDS[verdict[1]].lower()} stands on the board, {verdict[0]}"
            return None
        for told in seen.told:
            if told.kind == "dead_position" and result in WINNER and _stood(told, since):
                return "neither side could mate"
            fell = told.kind == "flag_fall" and told.at < since and told.ruling != "dismissed"
            if fell and told.side is not None and told.side == WINNER.get(result):
                return f"{told.side.capitalize()}'s flag was down"
        return None


def _stood(told: Told, at: float) -> bool:
    """Whether an alert was open at `at` or the arbiter had agreed with it; what closed it after that does not count."""
    if told.closed_at is None or told.closed_at >= at:
        return told.ruling != "dismissed"
    return told.counts


class ResultMissing:
    """In the middle of a game the pieces are set up again, or put away, and no result was shown."""

    kinds: ClassVar[tuple[str, ...]] = ("result_missing",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if not seen.playing or game is None or not seen.board.known or seen.record.over is not None:
            return
        if any(told.kind == "start_position_wrong" and _stood(told, seen.board.last_change) for told in seen.told):
            # It is put right, and the game begins anew (FIDE 7.2.1).
            return
        if not self._put_away(seen):
            return
        quiet = max(seen.board.last_change, seen.history.game_at or 0.0)
        if seen.clock.running == "none":
            yield Finding("result_missing", max(quiet, seen.history.stopped_at or quiet))
        else:
            yield Finding("result_missing", quiet, wait=RUNNING)

    @staticmethod
    def _put_away(seen: Situation) -> bool:
        if not seen.differing:
            return False
        if 2 * seen.board.occupied.bit_count() < seen.record.node.occupied.bit_count():
            return seen.clock.running == "none" or not _at_once(seen)
        start = node_of_fen(seen.game_kind, seen.assigned.start_fen or START_FEN[seen.game_kind])
        return not start.difference(seen.board)


def _at_once(seen: Situation) -> bool:
    """Whether all squares that are different changed together: over a running clock the board was knocked over."""
    changed = seen.board.changed_at
    times = [changed[bit] for bit in range(seen.board.geometry.size) if seen.differing >> bit & 1]
    return min(times) > NEVER and max(times) - min(times) <= ONE_FALL


class AnalysisOnBoard:
    """Pieces go to and fro after the game."""

    kinds: ClassVar[tuple[str, ...]] = ("analysis_on_board",)

    def __init__(self) -> None:
        self._changes: deque[tuple[float, int, int]] = deque(maxlen=200)
        """When a square changed, how many squares then stood as in the start position, and how many were taken."""
        self._since: float | None = None

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.phase != "ended":
            self._changes.clear()
            self._since = None
            return
        if seen.touched:
            placed = self._placed(seen)
            for touch in seen.touched:
                self._changes.append((touch.at, placed, seen.board.occupied.bit_count()))
        while self._changes and seen.at - self._changes[0][0] > ANALYSIS:
            self._changes.popleft()
        if self._since is None and len(self._changes) > MANY_CHANGES and self._to_and_fro():
            self._since = seen.at
        if self._since is not None:
            yield Finding("analysis_on_board", self._since)

    def _to_and_fro(self) -> bool:
        """Neither set up nor cleared away: as many squares stand right as before, and as many are taken."""
        (_, placed, taken), (_, placed_now, taken_now) = self._changes[0], self._changes[-1]
        return placed_now - placed <= MANY_CHANGES / 5 and taken - taken_now <= MANY_CHANGES / 5

    @staticmethod
    def _placed(seen: Situation) -> int:
        start = node_of_fen(seen.game_kind, START_FEN[seen.game_kind])
        return seen.board.geometry.size - start.difference(seen.board).bit_count()

    def state(self) -> list[Any]:
        return [[list(change) for change in self._changes], self._since]

    def restore(self, state: list[Any]) -> None:
        changes, self._since = state
        self._changes = deque(((a, b, c) for a, b, c in changes), maxlen=200)


RULES = (GameOver, KingsSignal, ResultMissing, AnalysisOnBoard)
