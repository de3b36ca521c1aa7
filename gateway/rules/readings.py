"""What a clock's report says after the one before it: what time and play explain of the change, and what is left over.

Readings may be cut to whole seconds and reports come a few times a second, so one comparison is good to about a second.
A clock shows no period: that one was added is inferred from a rise too large for an increment, at a press or at zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateway.clock import Report
from gateway.events import OTHER, Side
from gateway.rules import Situation
from gateway.time_control import TimeControl

TOLERANCE = 2.0
"""Seconds by which two readings may differ and still be the same (catalogue, `clock_times_changed`)."""
GAP = 5.0
"""Seconds between two reports of a running clock in which presses may have been missed."""
SIDES: tuple[Side, Side] = ("white", "black")


@dataclass(frozen=True, slots=True)
class Step:
    """Two reports of the same clock, one after the other."""

    before: Report
    after: Report

    @property
    def seconds(self) -> float:
        return self.after.at - self.before.at

    @property
    def pressed(self) -> Side | None:
        """Who pressed between the two."""
        side = one(self.before)
        return side if side is not None and one(self.after) == OTHER[side] else None

    @property
    def runs(self) -> Side | None:
        """Whose clock ran all the time between the two."""
        return one(self.before) if self.before.running == self.after.running else None

    def change(self, side: Side) -> float:
        """By how much the reading rose."""
        return self.after.reading(side) - self.before.reading(side)

    def surplus(self, side: Side) -> float:
        """What time does not explain of the change: above 0 the reading rose, below 0 it fell too fast."""
        change = self.change(side)
        ran = {side, "both"} & {self.before.running, self.after.running}
        lowest = -self.seconds if ran else 0.0
        return change if change > 0 else min(0.0, change - lowest)

    @property
    def exchanged(self) -> bool:
        """Whether both readings changed places: the clock was turned."""
        white, black = self.before.white, self.before.black
        return abs(self.after.white - black) <= TOLERANCE and abs(self.after.black - white) <= TOLERANCE


def one(report: Report) -> Side | None:
    """Whose clock runs, if exactly one does."""
    return report.running if report.running == "white" or report.running == "black" else None


def step(seen: Situation) -> Step | None:
    """The step that a new report made; None without one, or if the clock was connected anew."""
    before, after = seen.report_before, seen.clock.report
    if before is None or after is None or after.at == before.at:
        return None
    if any(change.change == "connected" for change in seen.clock_changes):
        return None
    return Step(before, after)


def completed(seen: Situation, side: Side) -> int:
    """N(side): the moves that `side` has completed in the record; the move being made does not count."""
    if seen.game is None:
        return 0
    last = seen.record.last
    pending = last is not None and last.move.side == side and not last.confirmed
    return seen.record.moves_completed(side) - pending


def at_base(report: Report, control: TimeControl) -> bool:
    """Whether both readings are those of a game that has not begun."""
    return all(is_base(report.reading(side), control) for side in SIDES)


def is_base(reading: float, control: TimeControl) -> bool:
    """Whether a reading is what a clock shows before the start: the base, with or without the first increment."""
    if control.base is None:
        return False
    first = control.periods[0]
    return any(abs(reading - control.base - bonus) <= TOLERANCE for bonus in {0, first.increment, first.delay})


def period_added(taken: Step, side: Side, control: TimeControl, n: int) -> float | None:
    """What was added to the clock of `side` as a new period, without the increment; None if nothing was.

    Args:
        n: moves that `side` had completed before this one.
    """
    later = control.periods[1:] or control.periods
    if not control.periods or control.periods[0].moves is None:
        return None
    rise = taken.change(side)
    increment = control.increment_at(n)
    if rise < max(min(period.seconds for period in later) / 2, increment + 10):
        return None
    if taken.pressed == side:
        return rise - increment
    emptied = taken.runs == side and taken.before.reading(side) <= taken.seconds + 1.5
    return rise if emptied else None


def next_base(control: TimeControl, passed: int) -> int:
    """What the period gives that follows after `passed` controls."""
    return control.periods[min(passed, len(control.periods) - 1)].seconds
