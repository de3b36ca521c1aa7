"""What rules need from before: touches, presses, pieces in the air, the clock's last reports.

All of it is bounded, and most of it begins anew with each game. A piece is *in the air* from its lift until something
stands on its square again; whether it came down elsewhere is for a rule to say. A square *flickers* when its piece
drops out for less than half a second and comes back as it was.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.clock import Report
from gateway.events import CommandDone, GameStarted, LinkChanged, Move, Piece, PositionSet, Side, Square
from gateway.reconstruct.observed import Observed

if TYPE_CHECKING:
    from gateway.rules import Situation

TOUCHES = 400
"""Square changes kept: more than a turn ever has."""
REPORTS = 90
"""Clock reports kept."""
PRESSES = 16
RETURNS = 60
PLIES = 12
DROPOUT = 0.5
"""Seconds below which a piece that is gone and back was in no hand."""
FLICKERS = 3
"""Dropouts of one square that are a fault of the sensor."""
PRESS_GRACE = 0.3
"""Seconds by which a press may be reported before the piece that came down."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One square's change, as White sees the board."""

    at: float
    square: Square
    was: Piece | None
    now: Piece | None


@dataclass(frozen=True, slots=True)
class Return:
    """A piece was lifted and put back on its square, with nothing else there meanwhile."""

    square: Square
    piece: Piece
    lifted: float
    back: float


@dataclass(frozen=True, slots=True)
class Press:
    """`side` pressed the clock: the other one runs now."""

    side: Side
    at: float
    ply: int
    """The record's last ply then."""
    turn: Side
    """Who was to move in the record then."""
    before: Report | None
    """The report before the press."""
    after: Report


@dataclass(frozen=True, slots=True)
class Played:
    """A ply as it was recognised."""

    ply: int
    side: Side
    at: float
    """When it was concluded."""
    arrived: float
    """When its piece came down, or the last of what it took was taken off, as far as that was seen by then."""
    legal: bool
    notation: str
    origin: Square
    target: Square
    after: str
    """The position after it, as FEN."""


class History:
    """What happened at one table, as far back as any rule asks."""

    def __init__(self) -> None:
        self.touches: deque[Touch] = deque(maxlen=TOUCHES)
        self.returns: deque[Return] = deque(maxlen=RETURNS)
        self.lifts: dict[Square, Touch] = {}
        """Squares that have been emptied and are empty still, with the lift."""
        self.presses: deque[Press] = deque(maxlen=PRESSES)
        self.reports: deque[Report] = deque(maxlen=REPORTS)
        self.played: deque[Played] = deque(maxlen=PLIES)
        """The last plies recognised, also those that were taken back since."""
        self.silent: dict[Square, tuple[int, float]] = {}
        """Squares that the game has changed without their saying so, by which ply, and when they spoke last: a report
        was lost."""
        self.lossy = False
        """This board is known to have lost a report: a square was still silent when the next ply came."""
        self.dropouts: dict[Square, int] = {}
        self.stopped_at: float | None = None
        """When both clocks were last stopped."""
        self.runs_since: float | None = None
        """Since when the clock that runs now has been running."""
        self.link_up_at: float | None = None
        """When the board's link last came up."""
        self.game_at: float | None = None
        """When the game began, or was corrected by the arbiter."""

    # --- what comes in ------------------------------------------------------------------------------------------

    def note(self, seen: Situation) -> None:
        """Take what has just happened."""
        for event in seen.happened:
            if isinstance(event, GameStarted):
                self._begin(seen.at)
                self.silent.clear()
            elif isinstance(event, CommandDone) and event.ok and event.command in ("correct", "set_position"):
                # Play goes on from what the arbiter says: no touch, ply or press of before belongs to it.
                self._begin(seen.at)
            elif isinstance(event, LinkChanged) and event.device == "board" and event.state == "up":
                self.link_up_at = seen.at
            elif isinstance(event, PositionSet):
                self.lifts.clear()
        for touch in seen.touched:
            self._touch(touch)
        moves = [event for event in seen.happened if isinstance(event, Move) and event.source != "command"]
        for move, arrived in zip(moves, self._arrivals(moves, seen), strict=True):
            self.played.append(_played(move, seen.at, arrived))
            self._listen(self.played[-1], seen)
        self._clock(seen)

    def _begin(self, at: float) -> None:
        self.game_at = at
        self.presses.clear()
        self.played.clear()
        self.returns.clear()

    def _touch(self, touch: Touch) -> None:
        self.touches.append(touch)
        if touch.now is None:
            self.lifts[touch.square] = touch
            return
        lift = self.lifts.pop(touch.square, None)
        if lift is None or lift.was != touch.now:
            return
        if touch.at - lift.at < DROPOUT:
            self.dropouts[touch.square] = self.dropouts.get(touch.square, 0) + 1
        self.returns.append(Return(touch.square, touch.now, lift.at, touch.at))

    def _arrivals(self, moves: list[Move], seen: Situation) -> list[float]:
        """When the pieces of these plies came down: the last change of their own squares before the next was begun."""
        arrivals: list[float] = []
        latest = seen.at
        for move in reversed(moves):
            if not 0 < move.ply <= seen.record.ply:
                arrivals.append(seen.board.last_change)
                continue
            before, after = seen.record.node_at(move.ply - 1), seen.record.node_at(move.ply)
            changed = 0
            for was, now in zip(before.masks, after.masks, strict=True):
                changed |= was ^ now
            own = set(seen.board.geometry.names(changed))
            touches = [touch for touch in self.touches if touch.square in own]
            touches = [touch for touch in touches if touch.at <= latest] or touches
            arrivals.append(touches[-1].at if touches else seen.board.last_change)
            lifts = [touch.at for touch in touches if touch.now is None and touch.square == _ends(move)[0]]
            latest = lifts[-1] if lifts else arrivals[-1]
        return arrivals[::-1]

    def _listen(self, played: Played, seen: Situation) -> None:
        """Note which squares of a ply have not reported it: where it began, where it ended, and on the way."""
        differing, board = seen.differing, seen.board
        self.silent = {square: said for square, said in self.silent.items() if said[0] < played.ply}
        self.lossy |= bool(self.unheard(board))
        if not differing:
            return
        index, own = board.geometry.index, board.white if played.side == "white" else board.black
        pieces = seen.record.position.pieces()
        piece = pieces.get(played.target)
        began = max((each.arrived for each in self.played if each.ply < played.ply), default=0.0)
        landed = board.changed_at[index[played.target]]
        way = [touch.square for touch in self.touches if began < touch.at <= landed and touch.now == piece]
        if any(pieces.get(square) == piece for square in board.geometry.names(differing & ~board.occupied)):
            # Another such piece is gone from where it stood: that one was put there.
            way = []
        for square in {played.origin, played.target, *way}:
            bit = index[square]
            if differing >> bit & 1 and (own >> bit & 1) != (square == played.target):
                self.silent[square] = played.ply, board.changed_at[bit]

    def _clock(self, seen: Situation) -> None:
        report = seen.clock.report
        if report is not None and report is not seen.report_before:
            self.reports.append(report)
        for change in seen.clock_changes:
            if change.change == "stopped":
                self.stopped_at = seen.at
            if change.change == "pressed" and change.side is not None and change.report is not None and seen.game:
                record = seen.game.record
                press = Press(change.side, seen.at, record.ply, record.turn, seen.report_before, change.report)
                self.presses.append(press)
        if seen.clock.one_running is None:
            self.runs_since = None
        elif self.runs_since is None or any(
            c.change in ("started", "pressed", "connected") for c in seen.clock_changes
        ):
            self.runs_since = seen.at

    # --- what rules ask -----------------------------------------------------------------------------------------

    def last_press(self, side: Side | None = None, since: float = float("-inf")) -> Press | None:
        """The last press, or the last one of `side`, no earlier than `since`."""
        for press in reversed(self.presses):
            if press.at < since:
                return None
            if side is None or press.side == side:
                return press
        return None

    def touched_since(self, at: float) -> list[Touch]:
        """What changed on the board at `at` or later, oldest first."""
        return [touch for touch in self.touches if touch.at >= at]

    def unreliable(self, square: Square) -> bool:
        """Whether the sensor of this square has lost its piece again and again, with no hand near."""
        return self.dropouts.get(square, 0) >= FLICKERS

    def unheard(self, board: Observed) -> list[Square]:
        """Squares whose last report is out of date by the game, and was not followed by another."""
        index, changed = board.geometry.index, board.changed_at
        return [square for square, (_, at) in self.silent.items() if changed[index[square]] == at]

    def pressed_on(self, played: Played) -> Press | None:
        """The first press on a ply, which may have been reported before it; but not the one that was still owed for the
        ply before."""
        earlier = [each.arrived for each in self.played if each.side == played.side and each.ply < played.ply]
        mine = [press for press in self.presses if press.side == played.side]
        before = next((press for press in mine if earlier and press.at >= max(earlier) - PRESS_GRACE), None)
        return next(
            (
                press
                for press in mine
                if press.at >= played.arrived - PRESS_GRACE and not (press is before and press.at < played.arrived)
            ),
            None,
        )

    # --- across a restart ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "touches": [_values(touch) for touch in self.touches],
            "returns": [_values(back) for back in self.returns],
            "lifts": [_values(lift) for lift in self.lifts.values()],
            "presses": [
                [p.side, p.at, p.ply, p.turn, p.before and _plain(p.before), _plain(p.after)] for p in self.presses
            ],
            "reports": [_plain(report) for report in self.reports],
            "played": [_values(ply) for ply in self.played],
            "silent": {square: list(said) for square, said in self.silent.items()},
            "lossy": self.lossy,
            "dropouts": dict(self.dropouts),
            "times": [self.stopped_at, self.runs_since, self.link_up_at, self.game_at],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Undo `state`."""
        self.touches = deque((Touch(*item) for item in state["touches"]), TOUCHES)
        self.returns = deque((Return(*item) for item in state["returns"]), RETURNS)
        self.lifts = {lift.square: lift for lift in (Touch(*item) for item in state["lifts"])}
        self.presses = deque(
            (
                Press(side, at, ply, turn, before and _report(before), _report(after))
                for side, at, ply, turn, before, after in state["presses"]
            ),
            PRESSES,
        )
        self.reports = deque((_report(item) for item in state["reports"]), REPORTS)
        self.played = deque((Played(*item) for item in state["played"]), PLIES)
        self.silent = {square: (ply, at) for square, (ply, at) in state["silent"].items()}
        self.lossy = state["lossy"]
        self.dropouts = dict(state["dropouts"])
        self.stopped_at, self.runs_since, self.link_up_at, self.game_at = state["times"]


def _values(record: Touch | Return | Played) -> list[Any]:
    """The values of a flat record; `dataclasses.astuple` would copy each."""
    return [getattr(record, name) for name in record.__slots__]


def _played(move: Move, at: float, arrived: float) -> Played:
    origin, target = _ends(move)
    return Played(move.ply, move.side, at, arrived, move.legal, move.notation, origin, target, move.fen)


def _ends(move: Move) -> tuple[Square, Square]:
    """Where a ply began and where it ended."""
    if move.uci is not None:
        return move.uci[:2], move.uci[2:4]
    assert move.squares is not None
    return str(move.squares[0]), str(move.squares[-1])


def _plain(r: Report) -> list[Any]:
    return [r.at, r.white, r.black, r.running, sorted(r.flags), r.lever, r.battery_low, r.counter]


def _report(plain: list[Any]) -> Report:
    at, white, black, running, flags, lever, battery_low, counter = plain
    return Report(at, white, black, running, frozenset(flags), lever, battery_low, counter)
