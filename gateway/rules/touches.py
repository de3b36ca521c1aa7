"""What hands do around a move: touched and put back, adjusted in the other's time, two at once, the rook first.

Serves FIDE 4.1 to 4.4, 4.7 and FMJD A1 4.3, 5.4.3, 5.4.4. A board sees no hands and hears no "j'adoube", so most of
this is never more than a note for the arbiter. A move that was settled and then taken back is seen for certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import zip_longest
from typing import Any, ClassVar

import chess

from gateway.events import OTHER, Move, Side, Square
from gateway.game import Game
from gateway.record import ChessPosition
from gateway.rules import Finding, Situation, Undone
from gateway.rules.history import PRESS_GRACE, Played, Return, Touch
from gateway.rules.presses import owed
from gateway.rules.turn import Turn

TOUCHED = 1.5
"""Seconds in the air from which a piece was touched with intent, or on its square from which it was released."""
ADJUSTED = 3
"""Pieces that may be lifted and put back in the other's time before it is too many."""
ADJUSTING_TIME = 60.0
AFTER_PRESS = 2.0
"""Seconds after the press for straightening what was just moved."""
TOGETHER = 0.3
"""Seconds for which king and rook must be in the air together."""
ONE_SCAN = 0.05
"""Seconds within which two lifts may be one scan of the board."""
ROOK_FIRST = 0.5
"""Seconds by which the rook must be first; less is the order of the scan."""
HAND_TO_CLOCK = 0.12
"""Seconds that one hand needs from the far half of the board to the clock."""
FORGOTTEN = 30.0
"""Seconds after which a move taken back and not replaced is told or past."""


def turn_began(seen: Situation, played: Played) -> float:
    """When the turn began that ended in `played`: with the opponent's press, or his move."""
    presses = [p.at for p in seen.history.presses if p.side == OTHER[played.side] and p.at <= played.arrived]
    plies = [p.arrived for p in seen.history.played if p.ply < played.ply and p.arrived <= played.arrived]
    return max([seen.history.game_at or 0.0, *presses[-1:], *plies[-1:]])


def completed_now(seen: Situation) -> Iterator[tuple[Played, float]]:
    """The ply that this very step has completed: by its press, or by the reply; with the moment."""
    history = seen.history
    moments = [newest[-1].at for newest in (history.played, history.presses) if newest]
    if seen.at not in moments:
        return
    plies = seen.standing
    for played, reply in zip_longest(plies, plies[1:]):
        press = seen.history.pressed_on(played)
        done = min((moment.at for moment in (press, reply) if moment is not None), default=None)
        if done is not None and max(done, played.at) == seen.at:
            yield played, done


class TouchMove:
    """A piece that could move was lifted for a while, put back, and another one was moved (FIDE 4.3).

    Innocent: a short lift, several pieces in turn, a piece that had no move, king and rook of a castling, a piece that
    stood elsewhere in between.
    """

    kinds: ClassVar[tuple[str, ...]] = ("touch_move",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether the move just completed leaves a touched piece where it was."""
        game = seen.game
        if game is None or not seen.playing:
            return
        for played, done in completed_now(seen):
            if not played.legal:
                continue
            began = turn_began(seen, played)
            returns = [r for r in seen.history.returns if began <= r.lifted and r.back <= played.arrived]
            if len(returns) != 1:
                # Several pieces in turn are being adjusted.
                continue
            turn = Turn(seen.record.position_at(played.ply - 1), {})
            if not _binding(returns[0], played, turn) or _elsewhere(returns[0], seen):
                continue
            back = returns[0]
            yield Finding(
                "touch_move",
                done,
                played.side,
                f"{played.ply}@{done:.3f}",
                facts={"square": back.square},
                evidence={
                    "squares": [back.square],
                    "lifted": round(back.lifted, 3),
                    "back": round(back.back, 3),
                    "move": played.notation,
                },
            )


def _binding(back: Return, played: Played, turn: Turn) -> bool:
    """Whether the piece that was touched would have had to be moved or captured, and was not."""
    piece = turn.expected.get(back.square)
    if piece is None or back.back - back.lifted < TOUCHED or back.square == played.origin:
        return False
    changes = [change for _, change in turn.legal]
    if turn.owner(piece) == turn.side:
        if _castling_rook(back.square, played, turn):
            return False
        # The first square of a change is the one that the piece leaves.
        return any(next(iter(change)) == back.square for change in changes)
    captured = [change for change in changes if back.square in change]
    made = next((change for notation, change in turn.legal if _is(notation, played, change)), {})
    return bool(captured) and back.square not in made


def _is(notation: str, played: Played, change: Any) -> bool:
    return next(iter(change)) == played.origin and change.get(played.target) is not None


def _castling_rook(square: Square, played: Played, turn: Turn) -> bool:
    return played.notation.startswith("O-O") and turn.expected[square] in ("R", "r")


def _elsewhere(back: Return, seen: Situation) -> bool:
    """Whether the piece came down on another square before it went back."""
    return any(
        touch.now == back.piece and touch.square != back.square and back.lifted < touch.at < back.back
        for touch in seen.history.touches
    )


class Adjusting:
    """Pieces of the side that is not on move are lifted and put back, again and again (FIDE 4.2).

    Innocent: the player on move, who may adjust any piece (so this is off by default); straightening what was just
    moved; knocked pieces, which are in the air together.
    """

    kinds: ClassVar[tuple[str, ...]] = ("adjusting_out_of_turn",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether it has been done three times within a minute."""
        running, since = seen.clock.one_running, seen.history.runs_since
        if not seen.playing or seen.game is None or running is None or since is None:
            return
        turn = Turn(seen.game.position, {})
        mine = [
            back
            for back in seen.history.returns
            if back.lifted > since + AFTER_PRESS
            and back.back >= seen.at - ADJUSTING_TIME
            and turn.owner(turn.expected.get(back.square, back.piece)) == OTHER[running]
        ]
        alone = [back for back in mine if not any(o is not back and _overlap(o, back) for o in seen.history.returns)]
        if len(alone) < ADJUSTED:
            return
        squares = [back.square for back in alone]
        yield Finding(
            "adjusting_out_of_turn",
            alone[ADJUSTED - 1].back,
            OTHER[running],
            facts={"squares": squares},
            evidence={"squares": squares, "lifts": [[round(b.lifted, 3), round(b.back, 3)] for b in alone]},
        )


def _overlap(one: Return, other: Return) -> bool:
    return one.lifted < other.back and other.lifted < one.back


@dataclass(frozen=True, slots=True)
class _Castling:
    """When king and rook of a castling left the board and came back."""

    king_up: float
    king_down: float
    rook_up: float
    rook_down: float


def _castlings(seen: Situation) -> Iterator[tuple[Move, _Castling]]:
    """Castlings recognised in this step, with their touches."""
    if seen.game is None:
        return
    for played in seen.history.played:
        if played.at != seen.at or not played.notation.startswith("O-O"):
            continue
        move = next((m for m in seen.happened if isinstance(m, Move) and m.ply == played.ply), None)
        before = seen.record.position_at(played.ply - 1) if played.ply - 1 <= seen.record.ply else None
        if move is None or move.uci is None or not isinstance(before, ChessPosition):
            continue
        board = before.board
        found = board.parse_uci(move.uci)
        home = chess.square_name(found.from_square)
        rank, kingside = home[1], board.is_kingside_castling(found)
        rooks = board.pieces(chess.ROOK, board.turn) & chess.BB_RANKS[chess.square_rank(found.from_square)]
        fitting = [s for s in rooks if (s > found.from_square) == kingside]
        rook = chess.square_name((max if kingside else min)(fitting))
        king_to, rook_to = ("g" + rank, "f" + rank) if kingside else ("c" + rank, "d" + rank)
        touches = seen.history.touched_since(turn_began(seen, played))
        times = _up(touches, home), _down(touches, king_to), _up(touches, rook), _down(touches, rook_to)
        if None not in times:
            yield move, _Castling(*(at for at in times if at is not None))


def _up(touches: list[Touch], square: Square) -> float | None:
    return next((touch.at for touch in reversed(touches) if touch.square == square and touch.now is None), None)


def _down(touches: list[Touch], square: Square) -> float | None:
    return next((touch.at for touch in reversed(touches) if touch.square == square and touch.now is not None), None)


class RookFirst:
    """Castling with the rook first (FIDE 4.4.2): the rook stood on its new square while the king was still at home.

    Innocent: lifts closer than half a second, which are the order of the scan; both pieces in the air at once.
    """

    kinds: ClassVar[tuple[str, ...]] = ("castling_rook_first",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether a castling of this step began with the rook."""
        if not seen.playing:
            return
        for move, times in _castlings(seen):
            if times.rook_down <= times.king_up and times.king_up - times.rook_up >= ROOK_FIRST:
                evidence = {key: round(at, 3) for key, at in zip(_TIMES, astuple(times), strict=True)}
                yield Finding("castling_rook_first", seen.at, move.side, str(move.ply), evidence=evidence)


_TIMES = ("king_up", "king_down", "rook_up", "rook_down")


class TwoHands:
    """King and rook in the air together, or the clock pressed as the piece comes down far from it (FIDE 4.1, 6.2.3).

    Innocent: one hand that holds both, so never more than a note; both lifts in one scan.
    """

    kinds: ClassVar[tuple[str, ...]] = ("two_hands",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether this step shows two hands."""
        if not seen.playing or seen.game is None:
            return
        for move, times in _castlings(seen):
            together = min(times.king_down, times.rook_down) - max(times.king_up, times.rook_up)
            if together >= TOGETHER and abs(times.king_up - times.rook_up) > ONE_SCAN:
                evidence = {key: round(at, 3) for key, at in zip(_TIMES, astuple(times), strict=True)}
                yield Finding("two_hands", seen.at, move.side, str(move.ply), evidence=evidence)
        press = seen.history.last_press()
        touches = seen.history.touches
        if press is None or press.at != seen.at or not touches:
            return
        last = touches[-1]
        if last.now is not None and press.at - last.at < HAND_TO_CLOCK and _far(last.square, press.side):
            evidence = {"squares": [last.square], "placed_at": round(last.at, 3), "pressed_at": round(press.at, 3)}
            yield Finding("two_hands", press.at, press.side, f"press@{press.at:.3f}", evidence=evidence)


def _far(square: Square, side: Side) -> bool:
    """Whether a square lies in the opponent's half."""
    if square.isdigit():
        return (int(square) <= 25) == (side == "white")
    rank, half = int(square[1:]), 4 if square[0] <= "h" else 5
    return (rank > half) == (side == "white")


@dataclass(frozen=True, slots=True)
class _Back:
    """A move that was settled and taken back."""

    ply: int
    side: Side
    notation: str
    after: str
    arrived: float
    lifted: float
    back: float


class TakenBack:
    """A move was released or pressed on, and then the position before it stands again (FIDE 4.7, A1 5.4.4).

    Innocent: less than a second and a half on its square; an illegal move put right; both clocks stopped.
    """

    kinds: ClassVar[tuple[str, ...]] = ("move_taken_back",)

    def __init__(self) -> None:
        self._back: _Back | None = None

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether a move has been taken back, and what came in its place."""
        game = seen.game
        if game is None or not seen.playing or (seen.clock.running == "none" and seen.clock.connected):
            self._back = None
            return
        if seen.touched:
            self._note(_taken_back(seen, game))
        if any(isinstance(event, Move) for event in seen.happened):
            self._note(_put_elsewhere(seen))
        back = self._back
        if back is None:
            return
        instead = next((p for p in seen.standing if p.ply == back.ply and p.at >= back.back), None)
        gone_on = any(p.ply > back.ply for p in seen.standing)
        if instead is None and seen.record.ply == back.ply and not seen.apart:
            # It was put there again.
            self._back = None
            return
        if gone_on or seen.at > back.back + FORGOTTEN or (instead is not None and instead.notation == back.notation):
            self._back = None
            return
        evidence: dict[str, Any] = {
            "move": back.notation,
            "moved_at": round(back.arrived, 3),
            "lifted_at": round(back.lifted, 3),
            "back_at": round(back.back, 3),
        }
        if instead is not None:
            evidence["instead"] = instead.notation
        yield Finding(
            "move_taken_back",
            back.back,
            back.side,
            f"{back.ply}@{back.back:.3f}",
            facts={"move": back.notation},
            evidence=evidence,
            wait=None if instead is None else 0.0,
            undone=Undone(back.ply, back.after, by_reply=True),
        )

    def _note(self, found: _Back | None) -> None:
        """A move is taken back once, however long its piece is moved about before another takes its place."""
        if found is not None and (self._back is None or found.arrived != self._back.arrived):
            self._back = found

    def state(self) -> Any:
        """The move that was taken back last."""
        return self._back and list(astuple(self._back))

    def restore(self, state: Any) -> None:
        """Undo `state`."""
        self._back = state and _Back(*state)


def _taken_back(seen: Situation, game: Game) -> _Back | None:
    """The last move, if the board now shows the position before it and it had been released or pressed on."""
    for played in reversed(seen.history.played):
        base = played.ply - 1
        if not base <= game.record.ply <= played.ply or not played.legal or _blamed(seen, played):
            continue
        if seen.apart_from(base):
            return None
        touches = [t for t in seen.history.touched_since(played.arrived) if t.at > played.arrived]
        lifted = next((t.at for t in touches if t.square == played.target), None)
        if lifted is None:
            return None
        return _released(seen, played, lifted, seen.board.last_change)
    return None


def _blamed(seen: Situation, played: Played) -> bool:
    """Whether something was wrong with the turn: then to take it back is right."""
    return any(told.side == played.side and told.key.startswith(f"{played.ply}@") for told in seen.told)


def _released(seen: Situation, played: Played, lifted: float, back: float) -> _Back | None:
    """A move that was taken back, if the piece had been let go, or the clock pressed, before it was lifted again."""
    if played.at >= lifted:
        # It was told only afterwards, as by a board's own log, which has no times.
        return None
    press = seen.history.pressed_on(played)
    if press is not None and (not played.arrived + PRESS_GRACE <= press.at <= lifted or owed(seen, press)):
        # It came too soon after the piece to be the press on it.
        press = None
    if lifted - played.arrived < TOUCHED and press is None:
        return None
    return _Back(played.ply, played.side, played.notation, played.after, played.arrived, lifted, back)


def _put_elsewhere(seen: Situation) -> _Back | None:
    """The last move, if its piece went on to another square after it had been let go (FIDE 4.7)."""
    plies = list(seen.history.played)
    if len(plies) < 2:
        return None
    played, instead = plies[-2:]
    if (played.ply, played.side, played.origin) != (instead.ply, instead.side, instead.origin):
        return None
    if not (played.legal and instead.legal) or played.target == instead.target:
        return None
    touches = [t for t in seen.history.touched_since(played.arrived) if played.arrived < t.at <= instead.arrived]
    carried = [t for t in touches if (t.square, t.now is None) in ((played.target, True), (instead.target, False))]
    if [t.square for t in carried] != [played.target, instead.target]:
        return None
    return _released(seen, played, carried[0].at, instead.arrived)


RULES = (TouchMove, Adjusting, RookFirst, TwoHands, TakenBack)
