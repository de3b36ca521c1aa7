"""The use of the clock: pressed without a move, too early, not at all, and the wrong one running.

Serves FIDE 6.2, 6.10.2, 7.5.3 and FMJD III 6.7, 6.8. Nothing is concluded from a reading that is no longer fresh. That
a player has forgotten to press is for the arbiter's eyes only (FIDE 6.12.2, 12.6); an electronic clock has no flag for
which the first press must wait (FMJD III 6.6 speaks of mechanical ones), so the first move is no exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from gateway.events import OTHER, Side
from gateway.game import Game
from gateway.rules import Finding, Situation, Wake
from gateway.rules.chess_pieces import captured_piece_not_removed, castling_incomplete
from gateway.rules.history import Played, Press
from gateway.rules.turn import Fault, Turn

QUIET = 1.0
"""Seconds before a press without a change of the board, for nothing to have been moved."""
ARBITER_AT_WORK = 5.0
"""Seconds around a stop of both clocks in which a press is the arbiter's."""
EARLY = 0.3
"""Seconds that a move must settle after the press to have been pressed too early; covers the scan of the board."""
TOO_LATE = 30.0
"""Seconds after which what comes down on the board has nothing to do with an early press."""
MOVE_REST = 5.0
"""Seconds after a move in which a wrong clock may only be a late press."""
LEARNED = 2
"""Presses that show which half of the clock is White's, where nobody said so."""


def _last(game: Game, seen: Situation) -> Played | None:
    """How the record's last ply was recognised, if it was on the board."""
    entries = game.record.entries
    for played in reversed(seen.history.played):
        if entries and played.ply == entries[-1].ply and played.side == entries[-1].move.side:
            return played
    return None


def _pressed(seen: Situation, side: Side, since: float) -> Press | None:
    return seen.history.last_press(side, since - EARLY)


class PressedWithoutMove:
    """Pressed with the position as it was (FIDE 7.5.3).

    Innocent: the clock pressed back at once; the press that was still owed for a move already answered (6.2.2); the
    arbiter starting, stopping and setting the clock; a board that was away or has just moved.
    """

    kinds: ClassVar[tuple[str, ...]] = ("clock_pressed_without_move",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether the last press came without a move, and still stands."""
        game = seen.game
        press = seen.history.last_press()
        if game is None or press is None or not seen.playing or not seen.board.known or not seen.link_up:
            return
        if press.turn != press.side or game.record.ply != press.ply or not _still_pressed(seen, press):
            return
        if seen.board.last_change > press.at - QUIET or seen.apart:
            return
        if owed(seen, press) or _arbiter_at_work(seen, game, press):
            return
        evidence = {
            "before": game.position.fen(),
            "pressed": {"at": round(press.at, 3), "white": press.after.white, "black": press.after.black},
        }
        yield Finding(
            "clock_pressed_without_move",
            press.at,
            press.side,
            f"{press.ply + 1}@{press.at:.3f}",
            evidence=evidence,
        )


def _still_pressed(seen: Situation, press: Press) -> bool:
    """Whether nobody has pressed back; that both were stopped later on, to call the arbiter, changes nothing."""
    running, stopped = seen.clock.one_running, seen.history.stopped_at
    if running is None:
        return stopped is not None and stopped - press.at > ARBITER_AT_WORK
    return running == OTHER[press.side]


def owed(seen: Situation, press: Press) -> bool:
    """Whether this was the press for a move that the opponent had answered before it (FIDE 6.2.2)."""
    plies = [played for played in seen.history.played if played.ply <= press.ply and played.arrived <= press.at]
    own = next((played for played in reversed(plies) if played.side == press.side), None)
    if own is None or not plies or plies[-1].side == press.side:
        return False
    return not any(
        other.side == press.side and own.arrived - EARLY <= other.at < press.at for other in seen.history.presses
    )


def _arbiter_at_work(seen: Situation, game: Game, press: Press) -> bool:
    """Whether the clocks were stopped just before, or the game was resumed and this press puts the right one on."""
    history = seen.history
    if history.stopped_at is not None and press.at - history.stopped_at <= ARBITER_AT_WORK:
        return True
    if history.link_up_at is not None and press.at - history.link_up_at <= ARBITER_AT_WORK:
        return True
    if game.resumed_at is None or game.resumed_at > press.at:
        return False
    earlier = [other for other in history.presses if game.resumed_at <= other.at < press.at]
    return not earlier and not any(played.at > game.resumed_at for played in history.played)


class PressedEarly:
    """Pressed with a piece of the own in the air, which came down afterwards (FIDE 6.2.4, FMJD III 6.7).

    Innocent: only a captured piece in the hand; the piece just moved being straightened; a board slower than its clock.
    """

    kinds: ClassVar[tuple[str, ...]] = ("clock_pressed_before_move_completed",)

    def __init__(self) -> None:
        self._early: tuple[float, Side, int, float] | None = None
        """A press before the move was complete: when, who, the ply that was to be made, and until when it may be."""
        self._found: tuple[float, float, Side] | None = None
        """When it was pressed, when the move was complete, and who."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether a move was completed after its press."""
        game = seen.game
        if game is None or not seen.playing:
            self._early = self._found = None
            return
        press = seen.history.last_press()
        if press is not None and press.at == seen.at:
            within = _unfinished(seen, game, press)
            self._early = None
            if within is not None:
                self._early = press.at, press.side, _base(press) + 1, press.at + within
        if self._early is not None:
            self._settle(seen, game, *self._early)
        if self._found is not None:
            pressed, done, side = self._found
            if seen.at > done + TOO_LATE:
                self._found = None
                return
            evidence = {"pressed_at": round(pressed, 3), "placed_at": round(done, 3)}
            yield Finding("clock_pressed_before_move_completed", done, side, f"{pressed:.3f}", evidence=evidence)

    def _settle(self, seen: Situation, game: Game, pressed: float, side: Side, ply: int, latest: float) -> None:
        entries = game.record.entries
        if seen.at > latest or len(entries) > ply:
            self._early = None
        elif len(entries) == ply and entries[-1].move.legal and not seen.apart:
            placed = [touch.at for touch in seen.history.touched_since(pressed) if touch.at > pressed]
            if placed and placed[-1] - pressed >= EARLY:
                self._found = pressed, placed[-1], side
            self._early = None

    def state(self) -> Any:
        """The press that waits for its move, and the one told last."""
        return [self._early and list(self._early), self._found and list(self._found)]

    def restore(self, state: Any) -> None:
        """Undo `state`."""
        early, found = state
        self._early = early and (early[0], early[1], early[2], early[3])
        self._found = found and (found[0], found[1], found[2])


def _base(press: Press) -> int:
    """The ply from which the turn began that was pressed."""
    return press.ply if press.turn == press.side else press.ply - 1


def _unfinished(seen: Situation, game: Game, press: Press) -> float | None:
    """Within how many seconds the move must be completed to have been pressed too early; None if it was complete.

    A piece of the player's own was in his hand; or half a castling or capture was made, which has a name of its own
    once it has stood for its time.
    """
    base = _base(press)
    if not 0 <= base <= seen.record.ply:
        return None
    if seen.record.ply == base + 1 and not seen.apart and seen.record.entries[-1].move.legal:
        return None
    turn = Turn(seen.record.position_at(base), seen.pieces)
    if turn.side != press.side or not turn.differing or turn.fits(turn.legal) is not None:
        return None
    if turn.draughts and turn.come:
        # The piece is down: men still to be lifted or crowned are other rules' business.
        return None
    played = _last(game, seen)
    made = game.record.ply > base and played is not None and press.at - played.arrived > EARLY
    if hand_full(turn):
        # After the move a piece is being straightened, the one just moved or another.
        return None if made else TOO_LATE
    half = _half_made(turn)
    return None if half is None else seen.debounce(half.kind)


def hand_full(turn: Turn) -> bool:
    """Whether a player has a piece of his own in the hand, by what he left on the board."""
    gone = sum(turn.owner(piece) == turn.side for piece in turn.gone.values())
    come = sum(turn.owner(piece) in (turn.side, None) for piece in turn.come.values())
    return gone > come


def _half_made(turn: Turn) -> Fault | None:
    """The castling or the capture of which a part is missing; told as such if it stays so."""
    if turn.draughts:
        return None
    return castling_incomplete(turn) or captured_piece_not_removed(turn)


class NotPressed:
    """A move was made and its player lets his own clock run on.

    Innocent: the opponent has replied already; the game is over; no clock, or none heard of lately.
    """

    kinds: ClassVar[tuple[str, ...]] = ("move_without_clock_press",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether the last move still waits for its press."""
        game = seen.game
        if game is None or not seen.playing or not seen.link_up or not seen.clock.fresh(seen.at):
            return
        played = _last(game, seen)
        if played is None or not played.legal or seen.clock.one_running != played.side or seen.record.over is not None:
            return
        if _pressed(seen, played.side, played.arrived) is not None:
            return
        yield Finding(
            "move_without_clock_press",
            max(played.arrived, seen.history.runs_since or played.arrived),
            played.side,
            f"{played.ply}@{played.arrived:.3f}",
            facts={"move": game.record.entries[-1].move.notation},
            evidence={"move": game.record.entries[-1].move.notation, "moved_at": round(played.arrived, 3)},
        )


class WrongClock:
    """The clock of the player who is not to move runs, though nothing is owed (FIDE 6.10.2).

    Innocent: a move not pressed on yet or not recognised yet; a clock whose halves are still to be learned; in draughts
    Black's clock before the first move (FMJD III 4.4).
    """

    kinds: ClassVar[tuple[str, ...]] = ("wrong_clock_running",)

    def look(self, seen: Situation) -> Iterator[Finding | Wake]:
        """Whether the wrong clock has been running over a settled position."""
        game, running = seen.game, seen.clock.one_running
        if game is None or not seen.playing or running is None or not seen.link_up or not seen.clock.fresh(seen.at):
            return
        turn = game.position.turn
        if running == turn or not seen.board.known or seen.apart:
            return
        if game.record.ply == 0 and game.regulations.startswith("fmjd"):
            return
        if not seen.clock.fixed and len(seen.history.presses) < LEARNED and game.record.ply > 0:
            return
        played = _last(game, seen)
        if played is not None and played.side == running and _pressed(seen, running, played.arrived) is None:
            # He forgot to press: `move_without_clock_press`.
            return
        since = max(seen.history.runs_since or seen.at, seen.board.last_change)
        if seen.at < seen.board.last_change + MOVE_REST:
            yield Wake(seen.board.last_change + MOVE_REST)
            return
        evidence = {"turn": turn, "running": running, "since": round(since, 3)}
        yield Finding("wrong_clock_running", since, None, facts={"running": running, "turn": turn}, evidence=evidence)


RULES = (PressedWithoutMove, PressedEarly, NotPressed, WrongClock)
