"""What the clock shows: set wrong, changed by hand, put right by the arbiter, or not keeping time.

A reading that neither time, nor an increment, nor a new period explains was changed by hand. While the clock is stopped
that is often the arbiter giving penalty minutes; it is taken so where a fault of the other player stands and the amount
is the one that the Laws give. Articles: FIDE 6.2.4, 6.3, 6.10, 7.1, 7.5.5, A.5.1; FMJD III 3.7, 3.8, 4.4, 4.5, 6.9.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from math import sqrt
from typing import Any, ClassVar

from gateway.clock import Report
from gateway.events import OTHER, Side
from gateway.rules import Finding, Situation, Wake
from gateway.rules.readings import (
    GAP,
    SIDES,
    TOLERANCE,
    Step,
    at_base,
    is_base,
    one,
    period_added,
    step,
)

WITH_TIME_REMEDY = frozenset(
    {
        "illegal_move",
        "second_illegal_move",
        "king_left_in_check",
        "both_kings_in_check",
        "unpromoted_pawn",
        "promotion_piece_wrong",
        "castling_incomplete",
        "captured_piece_not_removed",
        "clock_pressed_without_move",
        "two_pieces_moved",
        "moved_out_of_turn",
        "king_captured",
        "two_hands",
        "quickplay_claim",
    }
)
"""Kinds for which the arbiter gives the opponent time (FIDE 7.5.5, 9.5.3, III.5)."""
ANSWERED_WITHIN = 600.0
"""Seconds after an alert in which a change of the times may answer it."""
EDITING = 3.0
"""Seconds in which a change by hand is made."""
USUAL_INCREMENT = 60
"""The largest increment that anybody sets."""
TOO_LITTLE = -1.75
TOO_MUCH = 1.25
"""Seconds by which four increments may differ on the average and still be the configured ones. A press is taken to lie
half a report back, so that of a clock that reports it at once half a second seems to be missing."""
WINDOW = 120.0
"""Seconds of running time over which a clock is measured."""
DRIFT = 3.0
"""Seconds that it may be wrong by over the window."""
FROZEN = 10.0
"""Seconds for which a running display may stand still."""
MINUTES_ONLY = 120
"""Seconds above which a clock may show minutes only (FMJD III 3.7.6)."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A change by hand, since the readings `white` and `black` stood."""

    white: float
    black: float
    began: float
    at: float
    """When the readings changed last."""
    now_white: float
    now_black: float
    side: Side | None
    """Whose reading changed; None: both."""

    def by(self, side: Side) -> float:
        return self.now_white - self.white if side == "white" else self.now_black - self.black


class TimesChanged:
    """A reading jumps; told apart are the arbiter's time and everything else."""

    kinds: ClassVar[tuple[str, ...]] = ("clock_times_changed", "arbiter_time_adjusted")

    def __init__(self) -> None:
        self._changes: list[Changed] = []
        """Changes nobody accounted for, of this game."""
        self._adjusted: list[tuple[float, Side | None, str]] = []
        """Since when, for whom, and what it is."""
        self._last: Changed | None = None
        """The change being made now."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.phase not in ("play", "suspended") or not seen.clock.connected:
            self._last = None
            if game is None or game.phase not in ("play", "suspended"):
                self._changes, self._adjusted = [], []
            return
        taken = step(seen)
        if taken is not None and not _explained(taken, seen):
            self._take(taken, seen)
        for change in self._changes:
            yield Finding(
                "clock_times_changed",
                change.at,
                change.side,
                key=f"{change.began:.3f}",
                facts={"detail": _told(change)},
                evidence={"before": {"white": change.white, "black": change.black}},
            )
        for at, side, detail in self._adjusted:
            yield Finding("arbiter_time_adjusted", at, side, key=f"{at:.3f}", facts={"detail": detail})

    def _take(self, taken: Step, seen: Situation) -> None:
        change = self._joined(taken, seen)
        report = taken.after
        if self._changes and self._changes[-1] is self._last:
            self._changes.pop()
        self._last = change
        if all(abs(change.by(side)) <= TOLERANCE for side in SIDES):
            self._last = None
        elif (adjusted := _adjusted(change, seen)) is not None:
            self._adjusted.append((seen.at, *adjusted))
            self._last = None
        elif at_base(report, seen.time_control) or _turned(change):
            # The next game's times, or the clock was turned round (`clock_position_changed`).
            self._last = None
        else:
            self._changes.append(change)

    def _joined(self, taken: Step, seen: Situation) -> Changed:
        """The change that this step makes, together with what was changed in the seconds before."""
        before, after, last = taken.before, taken.after, self._last
        began = seen.at
        white, black = before.white, before.black
        if last is not None and seen.at - last.at <= EDITING and one(before) is None:
            white, black, began = last.white, last.black, last.began
        risen = [abs(after.white - white) > TOLERANCE, abs(after.black - black) > TOLERANCE]
        side: Side | None = None if all(risen) else "white" if risen[0] else "black"
        return Changed(white, black, began, seen.at, after.white, after.black, side)

    def state(self) -> list[Any]:
        return [
            [list(astuple(change)) for change in self._changes],
            [list(item) for item in self._adjusted],
            self._last and list(astuple(self._last)),
        ]

    def restore(self, state: list[Any]) -> None:
        changes, adjusted, last = state
        self._changes = [Changed(*change) for change in changes]
        self._adjusted = [(at, side, detail) for at, side, detail in adjusted]
        self._last = last and Changed(*last)
        if self._changes and self._last == self._changes[-1]:
            self._last = self._changes[-1]


def _explained(taken: Step, seen: Situation) -> bool:
    """Whether time, play and the way clocks work explain the step; at a press nobody sets a clock by hand."""
    if taken.pressed is not None or all(abs(taken.surplus(side)) <= TOLERANCE for side in SIDES):
        return True
    if one(taken.before) is not None and taken.seconds > GAP:
        return True
    control = seen.time_control
    if all(0 < taken.change(side) <= _increment(seen, side) + TOLERANCE for side in SIDES):
        # Two presses between two reports.
        return True
    for side in SIDES:
        surplus = taken.surplus(side)
        n = _completed(seen, side)
        if abs(surplus) <= TOLERANCE or _minutes_only(taken, side):
            continue
        if 0 < surplus <= TOLERANCE + _first_bonus(taken, seen, n):
            continue
        if period_added(taken, side, control, n) is not None:
            continue
        return False
    return True


def _increment(seen: Situation, side: Side) -> int:
    """What a press of `side` may credit at most."""
    period = seen.time_control.period_at(_completed(seen, side))
    return max(period.increment, period.delay) if period else USUAL_INCREMENT


def _first_bonus(taken: Step, seen: Situation, n: int) -> int:
    """What a clock may credit when it is started for the first time."""
    first_start = one(taken.before) is None and one(taken.after) is not None and n == 0
    period = seen.time_control.period_at(0)
    if not first_start:
        return 0
    return max(period.increment, period.delay) if period else USUAL_INCREMENT


def _completed(seen: Situation, side: Side) -> int:
    return seen.record.moves_completed(side) if seen.game else 0


def _minutes_only(taken: Step, side: Side) -> bool:
    """Whether the display may show whole minutes and has just gone to the next."""
    before, after = taken.before.reading(side), taken.after.reading(side)
    return before % 60 == 0 and after == before - 60 and after >= MINUTES_ONLY and taken.runs == side


def _turned(change: Changed) -> bool:
    return abs(change.now_white - change.black) <= TOLERANCE and abs(change.now_black - change.white) <= TOLERANCE


def _told(change: Changed) -> str:
    parts = []
    for side in SIDES:
        if abs(change.by(side)) > TOLERANCE:
            parts.append(f"{change.by(side):+.0f} s for {side.capitalize()}")
    return ", ".join(parts)


def _adjusted(change: Changed, seen: Situation) -> tuple[Side | None, str] | None:
    """For whom the arbiter changed the times, and what it is, if that is what it looks like."""
    report = seen.clock.report
    if report is None or report.running != "none" or seen.game is None:
        return None
    for side in SIDES:
        other_kept = abs(change.by(OTHER[side])) <= TOLERANCE
        if other_kept and abs(change.by(side) - _penalty(seen)) <= TOLERANCE and _fault_of(OTHER[side], seen):
            return side, f"{_penalty(seen)} s to {side.capitalize()}"
        if other_kept and change.by(side) > 0 and _put_back(side, change, seen):
            return side, f"{side.capitalize()}'s time put back to the start"
    if _halves(change, seen):
        return None, "the time that had passed was shared equally"
    return None


def _penalty(seen: Situation) -> int:
    """FIDE 7.5.5: two minutes; A.3, B.3: one."""
    return 120 if seen.in_force.endswith("standard") else 60


def _fault_of(side: Side, seen: Situation) -> bool:
    return seen.in_force.startswith("fide") and any(
        told.kind in WITH_TIME_REMEDY
        and told.side == side
        and told.ruling != "dismissed"
        and seen.at - told.at <= ANSWERED_WITHIN
        for told in seen.told
    )


def _put_back(side: Side, change: Changed, seen: Situation) -> bool:
    """A late player gets his time back before his first move (FMJD III 4.4, force majeure)."""
    now = change.now_white if side == "white" else change.now_black
    return _completed(seen, side) == 0 and is_base(now, seen.time_control)


def _halves(change: Changed, seen: Situation) -> bool:
    """What White's clock lost while nobody was there is shared (FMJD III 4.5)."""
    base = seen.time_control.base
    if base is None or not any(told.kind == "both_players_absent" for told in seen.told):
        return False
    used = 2 * base - change.white - change.black
    bonus = seen.time_control.increment_at(0)
    return abs(change.now_white - change.now_black) <= TOLERANCE and any(
        abs(base + extra - change.now_white - (used + 2 * extra) / 2) <= TOLERANCE for extra in (0, bonus)
    )


class ClockSettingWrong:
    """Other times than the time control gives: at the first start, at presses, or at a new period."""

    kinds: ClassVar[tuple[str, ...]] = ("clock_setting_wrong",)

    def __init__(self) -> None:
        self._start: tuple[float, float, float] | None = None
        """Since when the start was wrong, and the readings."""
        self._credits: dict[Side, deque[float]] = {"white": deque(maxlen=4), "black": deque(maxlen=4)}
        """By how much the last increments differed."""
        self._began: dict[Side, tuple[float, float] | None] = {"white": None, "black": None}
        """When each clock began to run, and its reading then."""
        self._increment_since: float | None = None
        self._period: tuple[float, float, int] | None = None
        """Since when, what was added and what should have been."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        control = seen.time_control
        if game is None or game.phase != "play" or not control.periods or not seen.clock.connected:
            if game is None or game.phase != "suspended":
                self.__init__()  # type: ignore[misc]
            return
        taken = step(seen)
        if taken is not None:
            self._first_start(taken, seen)
            self._increments(taken, seen)
            self._periods(taken, seen)
        if self._start is None and self._increment_since is None and self._period is None:
            return
        shown = str(control)
        if self._start is not None and self._in_time(seen):
            since, white, black = self._start
            told = f"at the start it showed {_clock(white)} and {_clock(black)}"
            yield Finding("clock_setting_wrong", since, key="start", facts={"time_control": shown, "detail": told})
        if self._increment_since is not None and self._in_time(seen):
            told = "the increments are other ones"
            evidence = {"differences": {side: list(self._credits[side]) for side in SIDES}}
            yield Finding(
                "clock_setting_wrong",
                self._increment_since,
                key="increment",
                facts={"time_control": shown, "detail": told},
                evidence=evidence,
            )
        if self._period is not None:
            since, added, base = self._period
            told = f"{_clock(added)} was added for the new period instead of {_clock(base)}"
            yield Finding("clock_setting_wrong", since, key="period", facts={"time_control": shown, "detail": told})

    @staticmethod
    def _in_time(seen: Situation) -> bool:
        """Rapid and blitz: not after ten moves of both (FIDE A.5.1.1)."""
        return seen.in_force.endswith("standard") or min(_completed(seen, side) for side in SIDES) < 10

    def _first_start(self, taken: Step, seen: Situation) -> None:
        """(a) The readings when a clock is first started."""
        assert seen.game is not None
        report, game = taken.after, seen.game
        if self._start is not None:
            if one(report) is None and at_base(report, seen.time_control):
                self._start = None
            return
        started = taken.before.running == "none" and one(report) is not None
        untouched = game.record.ply == 0 and not any(_completed(seen, side) for side in SIDES)
        if not started or not untouched or game.resumed_at is not None or seen.history.presses:
            return
        if game.clock_started is not None and game.clock_started < seen.at:
            return
        if at_base(taken.before, seen.time_control) or at_base(report, seen.time_control):
            return
        if seen.in_force.startswith("fmjd") and max(report.white, report.black) <= TOLERANCE:
            # A clock that counts up.
            return
        self._start = seen.at, report.white, report.black

    def _increments(self, taken: Step, seen: Situation) -> None:
        """(b) What the last four presses of one side credited."""
        side = taken.pressed
        if side is not None:
            credit = self._credit(side, taken)
            self._began = {"white": None, "black": None}
            self._began[OTHER[side]] = taken.after.at, taken.after.reading(OTHER[side])
            n = _completed(seen, side) - (seen.game is not None and seen.game.record.turn != side)
            control = seen.time_control
            if credit is not None and not control.delay and period_added(taken, side, control, n) is None:
                self._credits[side].append(round(credit - control.increment_at(n), 3))
                self._judge(seen.at)
        elif one(taken.before) is None and one(taken.after) is not None:
            started = taken.after.running
            self._began = {
                side: (taken.after.at, taken.after.reading(side)) if side == started else None for side in SIDES
            }
        elif taken.runs is None or any(abs(taken.surplus(side)) > TOLERANCE for side in SIDES) or taken.seconds > GAP:
            self._began = {"white": None, "black": None}

    def _credit(self, side: Side, taken: Step) -> float | None:
        """What the press of `side` credited, good to about a second; None if its turn was not seen from the start."""
        began = self._began[side]
        if began is None or taken.seconds > GAP:
            return None
        at, reading = began
        pressed = taken.after.at - min(taken.seconds, 1.0) / 2
        return taken.after.reading(side) - reading + (pressed - at)

    def _judge(self, at: float) -> None:
        wrong = False
        for differences in self._credits.values():
            same_sign = all(difference > 0.5 for difference in differences) or all(
                difference < -0.5 for difference in differences
            )
            mean = sum(differences) / max(1, len(differences))
            wrong |= len(differences) == 4 and same_sign and not TOO_LITTLE <= mean <= TOO_MUCH
        if not wrong:
            self._increment_since = None
        elif self._increment_since is None:
            self._increment_since = at

    def _periods(self, taken: Step, seen: Situation) -> None:
        """(c) What was added at a period's end."""
        control = seen.time_control
        for side in SIDES:
            n = _completed(seen, side)
            pressed = taken.pressed == side and seen.game is not None and seen.game.record.turn != side
            added = period_added(taken, side, control, n - pressed)
            if added is None:
                continue
            used = taken.seconds if taken.runs == side else min(taken.seconds, 1.0)
            bases = {period.seconds for period in control.periods[1:] or control.periods}
            if not any(-TOLERANCE - used <= added - base <= TOLERANCE + control.increment_at(n) for base in bases):
                nearest = min(bases, key=lambda base: abs(base - added))
                self._period = seen.at, added, nearest

    def state(self) -> list[Any]:
        return [
            self._start and list(self._start),
            {side: list(differences) for side, differences in self._credits.items()},
            {side: began and list(began) for side, began in self._began.items()},
            self._increment_since,
            self._period and list(self._period),
        ]

    def restore(self, state: list[Any]) -> None:
        start, differences, began, self._increment_since, period = state
        self._start = start and (start[0], start[1], start[2])
        for side in SIDES:
            self._credits[side] = deque(differences[side], 4)
            self._began[side] = began[side] and (began[side][0], began[side][1])
        self._period = period and (period[0], period[1], period[2])


def _clock(seconds: float) -> str:
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


class ClockDefect:
    """The clock does not keep time, stands still, or its battery is low."""

    kinds: ClassVar[tuple[str, ...]] = ("clock_defect",)

    def __init__(self) -> None:
        self._window: deque[tuple[float, float, int]] = deque()
        """Running time and what it took off the reading, by step; the number tells the turns apart."""
        self._turn = 0
        self._settled = False
        """A report has come within this turn, so that the next one can be measured from it."""
        self._still: tuple[Side, float, float] | None = None
        """Whose display stands still, at what reading, since when."""
        self._seconds_shown = False
        self._drift: float | None = None
        self._since: float | None = None

    def look(self, seen: Situation) -> Iterator[Finding | Wake]:
        if not seen.playing or not seen.clock.connected or any(c.change == "connected" for c in seen.clock_changes):
            self.__init__()  # type: ignore[misc]
        report = seen.clock.report
        if not seen.playing or not seen.clock.connected or report is None:
            return
        self._seconds_shown |= report.white % 60 != 0 or report.black % 60 != 0
        taken = step(seen)
        if taken is not None or self._still is None:
            self._watch(report, seen)
        if taken is not None:
            self._measure(taken, seen)
        if self._still is not None and self._stands(report, seen):
            side, _, since = self._still
            detail = f"the display of {side.capitalize()} stands still"
            yield Finding("clock_defect", since + self._patience(seen), key="frozen", facts={"detail": detail})
        if self._drift is not None and self._since is not None:
            way = "fast" if self._drift > 0 else "slow"
            detail = f"it is {abs(self._drift):.0f} s {way} over two minutes"
            yield Finding("clock_defect", self._since, key="drift", facts={"detail": detail})
        if report.battery_low:
            yield Finding(
                "clock_defect", seen.at, key="battery", facts={"detail": "its battery is low"}, severity="info"
            )

    # --- a display that stands still ----------------------------------------------------------------------------

    def _watch(self, report: Report, seen: Situation) -> None:
        side = one(report)
        if side is None or report.reading(side) <= 0 or report.flags:
            self._still = None
            return
        pressed = any(change.change in ("pressed", "started") for change in seen.clock_changes)
        same = self._still is not None and self._still[:2] == (side, report.reading(side))
        if pressed or not same:
            self._still = side, report.reading(side), report.at

    def _patience(self, seen: Situation) -> float:
        assert self._still is not None
        control = seen.time_control
        patience = FROZEN + (control.delay if control.periods else 20)
        if not self._seconds_shown and self._still[1] > MINUTES_ONLY:
            patience += 60
        return patience

    def _stands(self, report: Report, seen: Situation) -> bool:
        """Whether the newest report still says what the first one did, long after it."""
        assert self._still is not None
        return report.at - self._still[2] >= self._patience(seen) - 0.05

    # --- a clock that runs too fast or too slow -----------------------------------------------------------------

    def _measure(self, taken: Step, seen: Situation) -> None:
        side, settled = taken.runs, self._settled
        self._settled = side is not None
        if side is None:
            self._turn += 1
            return
        if not settled:
            # A board reports a reading when it changes: from a press to the first change is a part of a second.
            return
        if abs(taken.surplus(side)) > TOLERANCE or taken.seconds > GAP or taken.after.reading(side) <= 0:
            # Changed by hand, or reports are missing.
            self._window.clear()
            self._drift = self._since = None
            return
        if taken.change(side) > 0:
            # Two presses between two reports: the other clock ran for a part of it.
            self._turn += 1
            self._settled = False
            return
        self._window.append((taken.seconds, -taken.change(side), self._turn))
        seconds = sum(item[0] for item in self._window)
        while self._window and seconds - self._window[0][0] >= WINDOW - 0.05:
            seconds -= self._window.popleft()[0]
        if seconds < WINDOW - 1 or not self._seconds_shown:
            return
        drift = sum(item[1] for item in self._window) - seconds
        turns = len({item[2] for item in self._window})
        # Readings are cut to seconds: each turn may be wrong by one, either way. A delay stands still once a turn.
        allowed = DRIFT + min(turns, 1.3 * sqrt(turns))
        delay = seen.time_control.delay if seen.time_control.periods else USUAL_INCREMENT
        if -allowed - delay * turns <= drift <= allowed:
            self._drift = self._since = None
        elif self._since is None:
            self._drift, self._since = drift, taken.after.at

    def state(self) -> list[Any]:
        return [
            [list(item) for item in self._window],
            self._turn,
            self._settled,
            self._still and list(self._still),
            self._seconds_shown,
            self._drift,
            self._since,
        ]

    def restore(self, state: list[Any]) -> None:
        window, self._turn, self._settled, still, self._seconds_shown, self._drift, self._since = state
        self._window = deque((a, b, c) for a, b, c in window)
        self._still = still and (still[0], still[1], still[2])


RULES = (TimesChanged, ClockSettingWrong, ClockDefect)
