"""The clock of a table in the players' terms: whose is which half, what changed from one report to the next.

A clock knows left and right; who sits where is a setting, guessed from the board's orientation and corrected by the
first clock that runs in a game, which is White's (contract, "Orientation"; DGT XL manual).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from gateway.config import WhiteSide
from gateway.events import OTHER, ClockSide, ClockTimes, Readings, Side
from gateway.time_control import TimeControl

Change = Literal["started", "pressed", "stopped", "set", "flag", "connected", "disconnected"]
Running = Literal["white", "black", "both", "none"]

FRESH = 3.0
"""Seconds for which a report says what the clock shows now."""
UNKNOWN = TimeControl.parse("?")
STEP = 1.0
"""A reading changed by this much while nothing ran, or rose by more without a press, was set by hand."""


@dataclass(frozen=True, slots=True)
class Report:
    """One report of the clock in the players' terms."""

    at: float
    white: float
    black: float
    running: Running
    flags: frozenset[Side] = frozenset()
    lever: Side | None = None
    battery_low: bool = False
    counter: int | None = None

    @property
    def readings(self) -> Readings:
        return Readings(self.white, self.black)

    def reading(self, side: Side) -> float:
        return self.white if side == "white" else self.black


@dataclass(frozen=True, slots=True)
class ClockChange:
    """One change of the clock's state."""

    change: Change
    side: Side | None
    report: Report | None


class Clock:
    """What the clock of one table shows."""

    def __init__(self, white_side: WhiteSide) -> None:
        self.configured = white_side
        self.white_side: ClockSide = "right" if white_side == "right" else "left"
        self.fixed = white_side != "auto"
        """The mapping was told, not guessed."""
        self.report: Report | None = None
        """The last report; kept, though stale, when the clock is gone."""
        self.connected = False

    @property
    def running(self) -> Running:
        """Whose clock runs by the last report; `none` without a clock."""
        return self.report.running if self.connected and self.report else "none"

    @property
    def one_running(self) -> Side | None:
        """The player whose clock runs, if exactly one does."""
        return _one(self.running)

    def fresh(self, at: float) -> bool:
        """Whether the last report is young enough to conclude from."""
        return self.connected and self.report is not None and at - self.report.at < FRESH

    def readings(self, at: float) -> Readings | None:
        """What a move may carry: the last readings, if younger than 3 s or if nothing runs (contract, `move`)."""
        if self.report is None or not self.connected:
            return None
        if self.report.running == "none" or at - self.report.at < FRESH:
            return self.report.readings
        return None

    # --- reports ------------------------------------------------------------------------------------------------

    def take(self, times: ClockTimes, at: float, control: TimeControl = UNKNOWN) -> list[ClockChange]:
        """Take one report; return what it changed, in order. `control` tells what the clock gives by itself."""
        if times.left_is_white is not None:
            self.white_side, self.fixed = ("left" if times.left_is_white else "right"), True
        before, report = self.report, self._read(times, at)
        self.report = report
        if not self.connected or before is None:
            self.connected = True
            return [ClockChange("connected", None, report)]
        return list(_changes(before, report, control))

    def gone(self) -> list[ClockChange]:
        """The clock is no longer there."""
        if not self.connected:
            return []
        self.connected = False
        return [ClockChange("disconnected", None, self.report)]

    def _read(self, times: ClockTimes, at: float) -> Report:
        left_white = self.white_side == "left"
        white, black = (times.left, times.right) if left_white else (times.right, times.left)
        running: Running = "none"
        if times.running == "both":
            running = "both"
        elif times.running is not None:
            running = self._player(times.running)
        return Report(
            at,
            white,
            black,
            running,
            frozenset(self._player(side) for side in times.flags),
            self._player(times.lever) if times.lever else None,
            times.battery_low,
            times.counter,
        )

    def _player(self, side: ClockSide) -> Side:
        return "white" if side == self.white_side else "black"

    # --- which half is White's ----------------------------------------------------------------------------------

    def follow_orientation(self, orientation: str | None) -> None:
        """Guess White's half from how the board lies."""
        if not self.fixed:
            self._map("right" if orientation == "rotated" else "left")

    def first_to_run(self, turn: Side = "white") -> bool:
        """The first clock that runs in a game is that of the side to move; True if that exchanged the halves."""
        if self.fixed or self.one_running in (None, turn):
            return False
        self._map("right" if self.white_side == "left" else "left")
        return True

    def set_white_side(self, value: WhiteSide, orientation: str | None) -> None:
        """The arbiter says which half is White's."""
        self.configured = value
        self.fixed = value != "auto"
        if value == "auto":
            self.follow_orientation(orientation)
        else:
            self._map(value)

    def _map(self, side: ClockSide) -> None:
        if side == self.white_side:
            return
        self.white_side = side
        if self.report:
            r = self.report
            running: Running = OTHER[r.running] if r.running == "white" or r.running == "black" else r.running
            flags = frozenset(OTHER[flag] for flag in r.flags)
            lever = OTHER[r.lever] if r.lever else None
            self.report = Report(r.at, r.black, r.white, running, flags, lever, r.battery_low, r.counter)

    # --- across a restart ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        r = self.report
        return {
            "configured": self.configured,
            "white_side": self.white_side,
            "fixed": self.fixed,
            "connected": self.connected,
            "report": r and [r.at, r.white, r.black, r.running, sorted(r.flags), r.lever, r.battery_low, r.counter],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Undo `state`."""
        self.configured, self.white_side = state["configured"], state["white_side"]
        self.fixed, self.connected = state["fixed"], state["connected"]
        if state["report"] is None:
            self.report = None
            return
        at, white, black, running, flags, lever, battery_low, counter = state["report"]
        self.report = Report(at, white, black, running, frozenset(flags), lever, battery_low, counter)


def _changes(before: Report, report: Report, control: TimeControl) -> Iterator[ClockChange]:
    for side in ("white", "black"):
        if side in report.flags and side not in before.flags:
            yield ClockChange("flag", side, report)
    was, now = _one(before.running), _one(report.running)
    if before.running != report.running:
        if was and now:
            yield ClockChange("pressed", was, report)
        elif report.running == "none":
            yield ClockChange("stopped", was, report)
        else:
            yield ClockChange("started", now, report)
    elif _was_set(before, report, control):
        yield ClockChange("set", None, report)


def _one(running: Running) -> Side | None:
    return running if running == "white" or running == "black" else None


def _was_set(before: Report, report: Report, control: TimeControl) -> bool:
    """Whether somebody changed a reading: any change while nothing runs, a rise that the clock did not give itself."""
    rises = (report.white - before.white, report.black - before.black)
    if report.running == "none":
        return any(abs(rise) >= STEP for rise in rises)
    return any(rise > STEP for rise in rises) and not _given(rises, report.running, control)


def _given(rises: tuple[float, float], running: Running, control: TimeControl) -> bool:
    """Whether both players pressed since the report before, each to his increment; or a new period has begun."""
    bonus = max((period.increment for period in control.periods), default=0)
    runs, rests = rises if running == "white" else rises[::-1]
    if 0 < rests <= bonus + STEP and runs <= bonus + STEP:
        return True
    added = [period.seconds for period in control.periods[1:]]
    return any(abs(rise - seconds) <= bonus + FRESH for rise in rises for seconds in added)
