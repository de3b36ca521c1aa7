"""What stands on the board against what the record says: one cause, one explanation, in the order of the Laws' reading.

Three looks, the first that finds something wins:

1. plies in the record that break the rules: completed by the press, the reply or the time;
2. the turn of the player who pressed last, as he left it, until the opponent has replied: half-made moves that the
   press completed;
3. what stands now, without a press: it must have stood for a while, and nothing that the player to move could have in
   his hand, or could still change, is a fault.

The explanations themselves are in `chess_pieces.py`, `draughts_pieces.py`, `moves.py` and `pieces.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from gateway.draughts import Position
from gateway.events import Piece, Side, Square
from gateway.game import Game
from gateway.reconstruct.observed import NEVER
from gateway.reconstruct.phase import CENTRE, start_position
from gateway.record import ChessPosition, Entry
from gateway.rules import Finding, Situation, Undone, Wake, chess_pieces, draughts_pieces
from gateway.rules.history import PRESS_GRACE, Played, Press
from gateway.rules.moves import illegal_move, moved_out_of_turn, opponent_piece_moved, two_pieces_moved
from gateway.rules.pieces import (
    displaced_piece,
    extra_piece,
    piece_on_inactive_square,
    piece_removed_without_capture,
    promotes_there,
)
from gateway.rules.presses import hand_full, owed
from gateway.rules.promotions import unread_promotion
from gateway.rules.recorded import Recorded
from gateway.rules.turn import Change, Fault, Turn

Explanation = Callable[[Turn], Fault | None]

CHESS: tuple[Explanation, ...] = (
    moved_out_of_turn,
    chess_pieces.unpromoted_pawn,
    chess_pieces.promotion_piece_wrong,
    chess_pieces.castling_incomplete,
    chess_pieces.captured_piece_not_removed,
    chess_pieces.king_captured,
    chess_pieces.king_left_in_check,
    chess_pieces.castled_into_check,
    two_pieces_moved,
    illegal_move,
    opponent_piece_moved,
    piece_removed_without_capture,
    extra_piece,
)
DRAUGHTS: tuple[Explanation, ...] = (
    moved_out_of_turn,
    draughts_pieces.capture_stopped_early,
    draughts_pieces.captured_men_not_removed,
    draughts_pieces.wrong_men_removed,
    draughts_pieces.majority_capture_violation,
    draughts_pieces.capture_ignored,
    piece_on_inactive_square,
    two_pieces_moved,
    illegal_move,
    opponent_piece_moved,
    piece_removed_without_capture,
    extra_piece,
)
"""The order in which explanations are tried; the first that fits wins, and nothing fits: pieces are displaced."""

AT_THE_PRESS = frozenset({"moved_out_of_turn", "opponent_piece_moved", "piece_on_inactive_square"})
"""A press ends the wait for these."""
OF_THE_BOARD = AT_THE_PRESS | {"displaced_piece", "piece_removed_without_capture", "extra_piece"}
"""About what stands, whether or not somebody completed a turn by it."""
MAN_IN_HAND = 1.8
"""Seconds after the press for which a man too many that is gone may be the opponent's, in his hand for the reply."""
IN_HAND = 5.0
"""Seconds after the press for which a player who has not moved may still have his own piece in the hand. Where the
board has lost a report before, it may have lost the landing."""
DOUBTED = 6.0
"""Seconds for which a board that has lost reports must go on showing a fault: most replies clear up what was lost."""
HELD = 10.0
"""Seconds from its lift for which a piece that the opponent can move may be in his hand for the reply: he took it up
before the press. Until then it is only noted that it is gone."""
ADJUSTED = 2.3
"""Seconds after the press for which the opponent may still be putting one of his pieces straight."""
UNTIMED = 20.0
"""Seconds of rest that complete a turn where no clock can."""
REMOVED_WAIT = 30.0
"""Seconds for which a piece must be gone where nothing was pressed on it."""
EXTRA_WAIT = 20.0
SHOWING = 30.0
"""Seconds for which one king stands in the centre until the other is there too."""
SWEEP = 0.3
"""Seconds within which three squares change when a sleeve brushes over the board."""
SWEPT_WAIT = 3.0
MOST_IN_HAND = 4
"""Pieces that a player may have taken up; where more are missing, the board was swept or knocked over."""
MOVED_ABOUT = 3
"""Pieces that must have been moved, of both sides, for it to be analysis."""
UNTIMED_DISPLACED_WAIT = 30.0
STOPPING_HAND = 5.0
"""Seconds after both clocks were stopped in which a king may still have been taken in the game."""
AT_REST = 0.3
"""Seconds without a change before what stands is explained: nothing of it is raised earlier, and hands are faster."""
PERSISTS = 1.0
"""Seconds at rest after which a displacement that has outlived the next move is no passing one."""
EXPLAINED = 4
"""Explanations kept: more than are asked for at one look."""


class Acts:
    """Completed turns that break the rules, and pieces that are not where the record has them."""

    kinds: ClassVar[tuple[str, ...]] = (
        "illegal_move",
        "king_left_in_check",
        "both_kings_in_check",
        "king_captured",
        "unpromoted_pawn",
        "promotion_piece_wrong",
        "castling_incomplete",
        "captured_piece_not_removed",
        "moved_out_of_turn",
        "two_pieces_moved",
        "opponent_piece_moved",
        "displaced_piece",
        "piece_removed_without_capture",
        "extra_piece",
        "capture_ignored",
        "majority_capture_violation",
        "capture_stopped_early",
        "captured_men_not_removed",
        "wrong_men_removed",
        "piece_on_inactive_square",
    )

    def __init__(self) -> None:
        self._blamed: dict[Square, float] = {}
        """Squares that differ because of a fault already found, and when they had last changed then."""
        self._clean: tuple[float, int] | None = None
        """The press, and the ply, with which a turn was completed that left nothing to say."""
        self._explained: deque[tuple[Turn, Fault | None]] = deque(maxlen=EXPLAINED)
        """What was explained last: most of it is asked again, while nothing moves."""

    def look(self, seen: Situation) -> Iterator[Finding | Wake]:
        """What was left behind, or stands."""
        if not seen.playing or not seen.board.known or not seen.link_up:
            return
        game = seen.game
        assert game is not None
        if game.follow.unexplained_gap is not None:
            # The board was away, and what stands is still being read.
            return
        yield from _recorded(seen, game)
        yield from unread_promotion(seen)
        pressed = list(self._pressed(seen, game))
        if pressed:
            index, changed = seen.board.geometry.index, seen.board.changed_at
            self._blamed = {square: changed[index[square]] for square in seen.board.geometry.names(seen.apart)}
        yield from pressed or self._standing(seen, game)

    def _explain(self, turn: Turn) -> Fault | None:
        for known, fault in self._explained:
            if known.before is turn.before and known.stands == turn.stands:
                return fault
        fault = explain(turn)
        self._explained.append((turn, fault))
        return fault

    def _pressed(self, seen: Situation, game: Game) -> Iterator[Finding]:
        """What is wrong with the turn of the player who pressed last, while the opponent has not replied."""
        press = seen.history.last_press()
        base = None if press is None else _base(press, seen.record)
        if press is None or base is None or seen.clock.one_running == press.side or self._clean == (press.at, base):
            return
        if owed(seen, press) or _answered_unseen(seen, press, base):
            # The turn had been completed before, and the opponent has replied.
            self._clean = press.at, base
            return
        if seen.record.ply == base + 1 and not seen.apart:
            # The record has the turn, and it is legal.
            self._clean = press.at, base
            return
        if seen.record.ply == base + 1 and _replied(seen):
            return
        now = Turn(seen.record.position_at(base), _heard(seen, seen.pieces), chess960=game.kind == "chess960")
        now = _of_this_turn(seen, now, base)
        stands = now.stands
        turn, since = replace(now, stands=_left_at(seen, press, stands)), press.at
        if self._explain(turn) is None or self._explain(now) is None:
            # What the opponent does from here on is no matter of this turn.
            self._clean = press.at, base
            return
        fault = self._explain(turn)
        again = _touched_again(seen, press, fault)
        if hand_full(turn) or again:
            # What he had in the hand when he pressed may have come down since, and what he had left may be put right.
            later = [touch.at for touch in seen.history.touched_since(press.at) if touch.now is not None]
            turn, since = (
                replace(now, stands={**stands, **_lifted_since(seen, press, now)}),
                max([since, *later, *again]),
            )
            fault = self._explain(turn)
        if fault is not None and fault.kind in OF_THE_BOARD:
            # One piece carried against the rules is likelier than a lost report and a piece that is gone besides.
            plain = self._explain(replace(turn, stands=_left_at(seen, press, seen.pieces)))
            fault = plain if plain is not None and plain.kind == "illegal_move" else fault
        if fault is not None and fault.kind != "displaced_piece" and _fair(seen, fault, turn):
            yield from _left_behind(seen, game, fault, turn, press, since)

    def _standing(self, seen: Situation, game: Game) -> Iterator[Finding | Wake]:
        index, changed = seen.board.geometry.index, seen.board.changed_at
        self._blamed = {square: at for square, at in self._blamed.items() if changed[index[square]] == at}
        if not seen.apart or _held(seen, game):
            return
        rest = seen.board.last_change + AT_REST
        if seen.at < rest and not any(told.open and told.kind in self.kinds for told in seen.told):
            yield Wake(rest)
            return
        stands = _heard(seen, seen.pieces)
        expected = Turn(game.position, stands).expected
        for square in self._blamed:
            stands.pop(square, None)
            if square in expected:
                stands[square] = expected[square]
        yield from _standing(seen, game, stands, self._explain)

    # --- across a restart ---------------------------------------------------------------------------------------

    def state(self) -> Any:
        """The squares already blamed."""
        return dict(self._blamed)

    def restore(self, state: Any) -> None:
        """Undo `state`."""
        self._blamed = dict(state)


def _base(press: Press, record: Recorded) -> int | None:
    """The ply from which the turn that was pressed began, if it is still the last one; None if it is over."""
    base = press.ply if press.turn == press.side else press.ply - 1
    if base < 0 or not base <= record.ply <= base + 1:
        return None
    if record.ply > base and not record.entries[base].move.legal:
        # The record has it already.
        return None
    return base if record.position_at(base).turn == press.side else None


def _answered_unseen(seen: Situation, press: Press, base: int) -> bool:
    """Whether this turn had been completed before, and the opponent has made a reply that was not recognised."""
    before = (other for other in seen.history.presses if other.at < press.at)
    over = any(_base(other, seen.record) == (base if other.side == press.side else base + 1) for other in before)
    recorded, board = seen.record.node, seen.board
    theirs = recorded.black | board.black if press.side == "white" else recorded.white | board.white
    return over and bool(seen.apart & theirs)


def _replied(seen: Situation) -> bool:
    """Whether the opponent's reply stands already, and has only to be recognised."""
    reply = Turn(seen.record.position, seen.pieces)
    return reply.fits(reply.legal) is not None


def _held(seen: Situation, game: Game) -> bool:
    """Whether all that is different is in the hand of the player who is thinking."""
    running = seen.clock.one_running if seen.clock.connected else game.position.turn
    node = seen.record.node
    own = node.white if running == "white" else node.black
    few = seen.apart.bit_count() <= MOST_IN_HAND
    return running is not None and few and not seen.apart & (seen.board.occupied | ~own)


def _heard(seen: Situation, stands: Mapping[Square, Piece]) -> dict[Square, Piece]:
    """What stands, where squares from which a report was lost hold what the record has there."""
    heard, unheard = dict(stands), seen.history.unheard(seen.board)
    if unheard:
        recorded = Turn(seen.record.position, stands).expected
        for square in unheard:
            _put(heard, square, recorded.get(square))
    return heard


def _of_this_turn(seen: Situation, turn: Turn, base: int) -> Turn:
    """The turn without what its player did not do: what was different before, and what the opponent did until he
    pressed."""
    played = next((played for played in reversed(seen.history.played) if played.ply == base), None)
    if played is None or turn.fits(turn.legal) is not None:
        return turn
    began = played.arrived - PRESS_GRACE
    press = next((press for press in seen.history.presses if press.side == turn.other and press.at >= began), None)
    index, changed = seen.board.geometry.index, seen.board.changed_at
    captured = {square for _, change in turn.legal for square, after in change.items() if after is None}
    stands = dict(turn.stands)
    for square in turn.differing:
        at, piece = changed[index[square]], stands.get(square) or turn.expected[square]
        theirs = press is not None and at <= press.at and turn.owner(piece) == turn.other and square not in captured
        if at > NEVER and (at < began or theirs):
            _put(stands, square, turn.expected.get(square))
    return replace(turn, stands=stands)


def _put(pieces: dict[Square, Piece], square: Square, piece: Piece | None) -> None:
    if piece is None:
        pieces.pop(square, None)
    else:
        pieces[square] = piece


def _left_behind(
    seen: Situation, game: Game, fault: Fault, turn: Turn, press: Press, since: float
) -> Iterator[Finding]:
    base = press.ply if press.turn == press.side else press.ply - 1
    wait = 0.0 if fault.kind in AT_THE_PRESS else None
    if _in_the_hand(fault, turn):
        since, wait = press.at, REMOVED_WAIT if seen.history.lossy else IN_HAND
    elif fault.kind == "wrong_men_removed":
        since, wait = press.at, max(MAN_IN_HAND, seen.debounce(fault.kind))
    elif fault.kind == "piece_removed_without_capture" and (
        turn.owner(fault.evidence["piece"]) != turn.side or _lifted_at(seen, fault.squares[0], press)
    ):
        since, wait = press.at, max(ADJUSTED, seen.debounce(fault.kind))
    if seen.history.lossy and seen.board.pieces_known:
        wait = max(wait or 0.0, DOUBTED, seen.debounce(fault.kind))
    key = _key(fault, base + 1, press.at)
    settled = any(told.key == key and told.kind == fault.kind and not told.open for told in seen.told)
    if settled and fault.kind not in OF_THE_BOARD:
        return
    lifted = _for_the_reply(seen, fault, turn)
    if lifted is not None:
        noted = replace(fault, info=True, evidence={**fault.evidence, "may_be_in_hand": True})
        since, wait = press.at, max(wait or 0.0, MAN_IN_HAND if turn.draughts else ADJUSTED)
        yield _finding(seen, game, noted, turn, press.at, f"{key} in hand", base, wait=wait, press=press)
        wait = max(wait, lifted + HELD - press.at)
    yield _finding(seen, game, fault, turn, since, key, base, wait=wait, press=press)
    yield from _both_kings(seen, game, fault, turn, since, base)


def _lifted_at(seen: Situation, square: Square, press: Press) -> bool:
    """Whether a piece was lifted as the clock was pressed: one hand cannot do both, so it came after."""
    lift = seen.history.lifts.get(square)
    return lift is not None and lift.at > press.at - PRESS_GRACE


def _left_at(seen: Situation, press: Press, stands: Mapping[Square, Piece]) -> dict[Square, Piece]:
    """What stood on the board when the clock was pressed: the opponent's hand has been there since."""
    left = dict(stands)
    for touch in reversed(seen.history.touched_since(press.at)):
        if touch.at == press.at:
            continue
        if touch.was is None:
            left.pop(touch.square, None)
        else:
            left[touch.square] = touch.was
    return left


def _touched_again(seen: Situation, press: Press, fault: Fault | None) -> list[float]:
    """When squares of a fault have changed since the press."""
    if fault is None:
        return []
    return [t.at for t in seen.history.touched_since(press.at) if t.at > press.at and t.square in fault.squares]


def _lifted_since(seen: Situation, press: Press, turn: Turn) -> dict[Square, Piece]:
    """Pieces that were lifted after the press: the opponent is about to move or to capture."""
    lifts = (seen.history.lifts.get(square) for square in turn.differing if square not in turn.stands)
    return {lift.square: lift.was for lift in lifts if lift is not None and lift.was and lift.at > press.at}


def _in_the_hand(fault: Fault, turn: Turn) -> bool:
    """Whether no move was made and the piece that is missing is his own: he may have it in the hand still."""
    return (
        fault.kind == "piece_removed_without_capture"
        and not fault.evidence["moved"]
        and turn.owner(fault.evidence["piece"]) != turn.other
    )


def _for_the_reply(seen: Situation, fault: Fault, turn: Turn) -> float | None:
    """When the piece that is gone was lifted, if the opponent, whose turn it is, can move or capture it: he may be
    about to."""
    if fault.kind not in ("wrong_men_removed", "piece_removed_without_capture") or len(fault.squares) != 1:
        return None
    lift = seen.history.lifts.get(fault.squares[0])
    if lift is None or seen.record.position.turn != turn.other:
        return None
    replies = replace(turn, before=seen.record.position).legal
    return lift.at if any(lift.square in change for _, change in replies) else None


def _stale(seen: Situation, fault: Fault, turn: Turn) -> bool:
    """Whether a piece too many was never put there: the report that it had left was lost."""
    if fault.kind not in ("extra_piece", "captured_piece_not_removed"):
        return False
    for square in fault.squares:
        placed = [t.at for t in seen.history.touches if t.square == square and t.now is not None]
        left = [p.arrived for p in seen.history.played if p.origin == square]
        if turn.expected.get(square) is None and left and (not placed or placed[-1] < left[-1] - PRESS_GRACE):
            return True
    return False


def _doubted(seen: Situation, fault: Fault, turn: Turn) -> bool:
    """Whether the sensors are doubted rather than the player.

    A piece that has moved and stands at home as well, or on two squares, was not reported when it left one; and where
    a ply was recognised and is no longer believed, the board has not told all that was done there.
    """
    turns = [turn, replace(turn, before=seen.record.position)]
    press = seen.history.last_press()
    if not seen.board.pieces_known and press is not None and seen.board.last_change <= press.at:
        # Nothing tells whose piece it is: but before the press hardly the opponent's.
        turns = [turn]
    if fault.kind == "extra_piece" and any(
        square == next(iter(change), None) or _on_the_way(seen, each.stands.get(square), square, change)
        for each in turns
        for change, square in each.nearly
    ):
        return True
    stand = {(played.ply, played.notation) for played in seen.standing}
    return any(
        {played.origin, played.target} & set(fault.squares)
        for played in seen.history.played
        if played.side == turn.side and (played.ply, played.notation) not in stand
    )


def _on_the_way(seen: Situation, piece: Piece | None, square: Square, change: Change) -> bool:
    """Whether the piece that a ply brought may have been put down on `square` before it arrived."""
    arrivals = [target for target, after in change.items() if after is not None and after == piece]
    index, changed = seen.board.geometry.index, seen.board.changed_at
    return any(changed[index[square]] <= changed[index[target]] for target in arrivals)


def _fair(seen: Situation, fault: Fault, turn: Turn) -> bool:
    """Guards of faults that are about what stands rather than about the move."""
    if _stale(seen, fault, turn):
        return False
    if fault.kind not in OF_THE_BOARD:
        return True
    if seen.clock.running == "none" or _doubted(seen, fault, turn):
        return False
    return fault.kind != "piece_removed_without_capture" or not seen.history.unreliable(fault.squares[0])


# --- plies in the record ----------------------------------------------------------------------------------------


def _recorded(seen: Situation, game: Game) -> Iterator[Finding]:
    """Plies against the rules that stand in the record, and have not been dealt with."""
    entries = seen.record.entries
    for played in seen.history.played:
        if played.legal or played.ply > len(entries):
            continue
        entry = entries[played.ply - 1]
        if entry.move.legal or entry.move.side != played.side or entry.move.notation != played.notation:
            continue
        press = _press_on(seen, played)
        key = f"{played.ply}@{press.at if press else played.arrived:.3f}"
        if any(told.key == key and not told.open for told in seen.told):
            continue
        yield from _entry(seen, game, entry, played, press, key)


def _press_on(seen: Situation, played: Played) -> Press | None:
    """The press that completed a ply, if one did."""
    press = seen.history.pressed_on(played)
    return press if press is not None and press.at <= played.at + PRESS_GRACE else None


def _entry(
    seen: Situation, game: Game, entry: Entry, played: Played, press: Press | None, key: str
) -> Iterator[Finding]:
    base = played.ply - 1
    turn = Turn(seen.record.position_at(base), entry.position.pieces(), chess960=game.kind == "chess960")
    fault = explain(turn)
    if fault is None:
        # What stands is legal after all: the record has yet to see it.
        return
    if fault.kind == "displaced_piece":
        shown, squares = f"{played.origin}-{played.target}", (played.origin, played.target)
        fault = Fault("illegal_move", turn.side, {"move": shown}, squares, {"move": entry.move.notation})
    since, wait = (press.at, None) if press else (played.arrived, 0.0)
    yield _finding(seen, game, fault, turn, since, key, base, wait=wait, press=press)
    yield from _both_kings(seen, game, fault, turn, since, base)


def _both_kings(seen: Situation, game: Game, fault: Fault, turn: Turn, since: float, base: int) -> Iterator[Finding]:
    if turn.draughts or fault.kind not in ("illegal_move", "king_left_in_check") or seen.clock.running == "none":
        return
    both = chess_pieces.both_kings_in_check(turn.stands)
    if both is not None:
        yield _finding(seen, game, both, turn, since, f"{base + 1}@{since:.3f}", base)


# --- what stands, without a press -------------------------------------------------------------------------------


def _standing(seen: Situation, game: Game, stands: dict[Square, Piece], explained: Explanation) -> Iterator[Finding]:
    timed = seen.clock.connected
    running = seen.clock.one_running if timed else game.position.turn
    if timed and running and not seen.clock.fresh(seen.at):
        return
    left = _captured(game, stands, running if timed else None)
    if left and not timed:
        yield from _men_left(seen, game, left)
    stands = {square: piece for square, piece in stands.items() if square not in left}
    turn = Turn(game.position, stands, chess960=game.kind == "chess960")
    if not turn.differing or _taken_back(seen, stands) or _flickers(seen, turn):
        return
    changed = seen.board.last_change
    mine = all(turn.owner(piece) == running for piece in turn.gone.values())
    if running is not None and not turn.come and mine and len(turn.gone) <= MOST_IN_HAND:
        # All that is different is in the hand of the player who is thinking.
        return
    taken = _king_captured(seen, game, stands)
    if taken is not None:
        yield _finding(seen, game, taken, turn, changed, _key(taken, game.record.ply, changed), game.record.ply)
        return
    if running is None:
        # Both clocks are stopped: arbiter or players are at work.
        return
    held = _in_hand(turn, running)
    turn = replace(turn, stands=stands | held)
    fault = explained(turn)
    if fault is None or _stale(seen, fault, turn):
        return
    if fault.kind == "moved_out_of_turn" and _answered(seen, turn, fault, held):
        # A move of his, which was not reported, has been answered.
        return
    if fault.kind not in OF_THE_BOARD:
        wait = _unfinished_wait(fault, turn, timed=timed, running=running)
        if wait is not None:
            key = f"{game.record.ply + 1}@{changed:.3f}"
            yield _finding(seen, game, fault, turn, changed, key, game.record.ply, wait=wait)
            return
        if fault.kind != "two_pieces_moved":
            return
        fault = displaced_piece(turn)
    if (fault.kind == "opponent_piece_moved" and _before_this_turn(seen, turn)) or _before_the_game(seen, turn):
        # It has not been moved in the time of the player whose clock runs, or not in this game.
        fault = displaced_piece(turn)
    wait = _standing_wait(seen, game, fault, turn, timed=timed, running=running)
    if wait is None:
        return
    key = _key(fault, game.record.ply + 1, changed)
    if any(told.open and told.kind == fault.kind and told.key == key and told.side != fault.side for told in seen.told):
        return
    yield _finding(seen, game, fault, turn, changed, key, None, wait=wait)


def _unfinished_wait(fault: Fault, turn: Turn, *, timed: bool, running: Side) -> float | None:
    """How long a turn that nobody pressed on must rest to be completed all the same; None: it is still being made."""
    if fault.kind == "capture_stopped_early":
        return UNTIMED if running == turn.side else None
    if timed:
        return None
    return REMOVED_WAIT if fault.kind == "captured_men_not_removed" else UNTIMED


def _standing_wait(
    seen: Situation, game: Game, fault: Fault, turn: Turn, *, timed: bool, running: Side
) -> float | None:
    """How long it must have stood; None: never. The catalogue's own wait is given as it is configured."""
    own_time = running == turn.side
    settings = seen.debounce(fault.kind)
    match fault.kind:
        case "moved_out_of_turn" | "opponent_piece_moved" if not own_time:
            # Without a press between two moves of one side it is `two_pieces_moved`, judged at the press.
            return None
        case "opponent_piece_moved" if _shows(turn):
            return max(settings, SHOWING)
        case "piece_removed_without_capture":
            return REMOVED_WAIT
        case "extra_piece":
            return None if promotes_there(turn, fault.squares[0]) else EXTRA_WAIT
        case "displaced_piece":
            if _swept(seen, turn):
                return SWEPT_WAIT
            if _outlived(seen, turn):
                return PERSISTS
            if _analysed(seen, turn):
                return None
            return settings if timed else UNTIMED_DISPLACED_WAIT
        case _:
            return settings


def _captured(game: Game, stands: Mapping[Square, Piece], running: Side | None) -> list[Square]:
    """Captured men that the player whose clock runs, or who moved last where none does, is still to take off."""
    entries = game.record.entries
    if not entries or running not in (None, entries[-1].move.side):
        return []
    return [str(square) for square in entries[-1].move.captured or () if str(square) in stands]


def _men_left(seen: Situation, game: Game, left: list[Square]) -> Iterator[Finding]:
    """Without a clock nothing but time says that a capture was completed with its men on the board (A1 4.12)."""
    move, base = game.record.entries[-1].move, game.record.ply - 1
    turn = Turn(seen.record.position_at(base), seen.pieces)
    fault = Fault("captured_men_not_removed", move.side, {"squares": left}, tuple(left), {"captured": move.captured})
    changed = seen.board.last_change
    yield _finding(seen, game, fault, turn, changed, f"{base + 1}@{changed:.3f}", base, wait=REMOVED_WAIT)


def _outlived(seen: Situation, turn: Turn) -> bool:
    """Whether a legal move has been made since the squares changed."""
    index = seen.board.geometry.index
    newest = max(seen.board.changed_at[index[square]] for square in turn.differing)
    return newest > NEVER and any(
        played.legal and played.arrived > newest and played.target not in turn.differing
        for played in seen.history.played
    )


def _answered(seen: Situation, turn: Turn, fault: Fault, held: Mapping[Square, Piece]) -> bool:
    """Whether the side to move has pressed the clock: before the squares of a fault changed, or with a piece in his
    hand that has not come down since."""
    index, changed = seen.board.geometry.index, seen.board.changed_at
    last = seen.history.played[-1].arrived if seen.history.played else NEVER
    press = seen.history.last_press(turn.side, last)
    if press is None or owed(seen, press):
        return False
    lifts = [seen.history.lifts.get(square) for square, piece in held.items() if turn.owner(piece) == turn.side]
    before = min(changed[index[square]] for square in fault.squares)
    return press.at <= before or any(lift is not None and lift.at <= press.at for lift in lifts)


def _shows(turn: Turn) -> bool:
    """Whether a king was carried to the centre: a result may be about to be shown."""
    return any(turn.come.get(square) in ("K", "k") for square in CENTRE)


def _swept(seen: Situation, turn: Turn) -> bool:
    """Whether three of the squares changed together: a sleeve, not a hand that moves a piece."""
    index, changed = seen.board.geometry.index, seen.board.changed_at
    times = sorted(changed[index[square]] for square in turn.differing)
    return any(first > NEVER and third - first <= SWEEP for first, third in zip(times, times[2:], strict=False))


def _analysed(seen: Situation, turn: Turn) -> bool:
    """Whether pieces of both sides have been moved about since the last press, one after another: that is no accident
    but a look back at a game whose clock was left running. A press says that play goes on."""
    index, changed, press = seen.board.geometry.index, seen.board.changed_at, seen.history.last_press()
    since = press.at if press else NEVER
    moved = [piece for square, piece in turn.come.items() if changed[index[square]] > since]
    return len(moved) >= MOVED_ABOUT and len({turn.owner(piece) for piece in moved}) == 2


def _before_this_turn(seen: Situation, turn: Turn) -> bool:
    """Whether all that is different was so when the clock that runs was started."""
    index, since = seen.board.geometry.index, seen.history.runs_since
    newest = max(seen.board.changed_at[index[square]] for square in turn.differing)
    return since is not None and NEVER < newest < since


def _before_the_game(seen: Situation, turn: Turn) -> bool:
    """Whether all that is different was so when the game began, or when the arbiter said what stands."""
    index, began = seen.board.geometry.index, seen.history.game_at
    return began is not None and all(seen.board.changed_at[index[square]] <= began for square in turn.differing)


def _in_hand(turn: Turn, running: Side) -> dict[Square, Piece]:
    """Pieces that the player whose clock runs may be holding: his own, and those that can be captured now."""
    capturable = {
        square
        for _, change in turn.legal
        for square, piece in change.items()
        if square in turn.expected and turn.owner(turn.expected[square]) == turn.other
    }
    placed = list(turn.come.values())
    held = {}
    for square, piece in turn.gone.items():
        mine = turn.owner(piece) == running
        if not (mine or square in capturable):
            continue
        if any(turn.same(piece, seen) for seen in placed):
            continue
        held[square] = piece
    return held if len(held) <= MOST_IN_HAND else {}


def _taken_back(seen: Situation, stands: dict[Square, Piece]) -> bool:
    """Whether one of the last two positions of the record stands."""
    record = seen.record
    return any(
        not Turn(record.position_at(ply), stands).differing for ply in (record.ply - 1, record.ply - 2) if ply >= 0
    )


def _flickers(seen: Situation, turn: Turn) -> bool:
    return not turn.come and all(seen.history.unreliable(square) for square in turn.gone)


def _king_captured(seen: Situation, game: Game, stands: dict[Square, Piece]) -> Fault | None:
    """A king was taken, also where the record has followed the capture."""
    if not isinstance(game.position, ChessPosition):
        return None
    stopped = seen.history.stopped_at
    if seen.clock.running == "none" and (stopped is None or seen.at - stopped > STOPPING_HAND):
        return None
    return chess_pieces.king_captured(Turn(game.position, stands))


# --- the explanation --------------------------------------------------------------------------------------------


def explain(turn: Turn) -> Fault | None:
    """What is wrong with a turn; None if it is a legal move, or a result, or a new start."""
    if not turn.differing or turn.fits(turn.legal) is not None or _no_turn(turn):
        return None
    for explanation in DRAUGHTS if turn.draughts else CHESS:
        fault = explanation(turn)
        if fault is not None:
            return fault
    return displaced_piece(turn)


def _no_turn(turn: Turn) -> bool:
    """Whether a result is shown, or pieces stand ready for a new game."""
    if isinstance(turn.before, Position):
        return start_position("draughts", turn.stands) is not None
    kings = {turn.stands.get(square) for square in CENTRE}
    if {"K", "k"} <= kings:
        return True
    return start_position("chess960" if turn.chess960 else "chess", turn.stands) is not None


def _key(fault: Fault, ply: int, at: float) -> str:
    """What stands is the same cause as long as it stands; what was done is one act."""
    if fault.kind == "displaced_piece":
        return ""
    if fault.kind in OF_THE_BOARD:
        return " ".join(sorted(fault.squares))
    return f"{ply}@{at:.3f}"


def _finding(
    seen: Situation,
    game: Game,
    fault: Fault,
    turn: Turn,
    since: float,
    key: str,
    base: int | None,
    *,
    wait: float | None = None,
    press: Press | None = None,
) -> Finding:
    evidence: dict[str, Any] = {"squares": fault.squares, "before": turn.before.fen(), **fault.evidence}
    evidence["physical"] = seen.board.placement()
    if press is not None:
        evidence["pressed"] = {"at": round(press.at, 3), "white": press.after.white, "black": press.after.black}
    undone = None
    if base is not None:
        accepted = turn.draughts or not seen.supervised
        undone = Undone(base, turn.before.fen(), by_reply=accepted and fault.kind not in OF_THE_BOARD)
    return Finding(
        fault.kind,
        since,
        fault.side,
        key,
        facts=fault.facts,
        evidence=evidence,
        wait=wait,
        severity="info" if fault.info else None,
        undone=undone,
    )


RULES = (Acts,)
