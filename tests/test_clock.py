"""The clock in the players' terms: what one report changes after another, and who sits where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.clock import Clock
from gateway.config import WhiteSide
from gateway.events import ClockTimes, Readings
from gateway.time_control import TimeControl


def times(left: float, right: float, running: Any = None, **more: Any) -> ClockTimes:
    return ClockTimes(left, right, running, **more)


def changes(*reports: ClockTimes, white_side: WhiteSide = "left") -> list[tuple[str, str | None]]:
    """What the last of these reports, a second apart, changes."""
    clock = Clock(white_side)
    found: list[tuple[str, str | None]] = []
    for at, report in enumerate(reports):
        found = [(change.change, change.side) for change in clock.take(report, float(at))]
    return found


@pytest.mark.parametrize(
    ("expected", "reports"),
    [
        ([("connected", None)], [times(180, 180)]),
        ([("connected", None)], [times(180, 180, "left")]),
        ([], [times(180, 180), times(180, 180)]),
        ([("started", "white")], [times(180, 180), times(180, 180, "left")]),
        ([], [times(180, 180, "left"), times(179, 180, "left")]),
        ([("pressed", "white")], [times(178, 180, "left"), times(180, 180, "right")]),
        ([("pressed", "black")], [times(178, 180, "right"), times(178, 182, "left")]),
        ([("stopped", "black")], [times(178, 180, "right"), times(178, 180)]),
        ([("set", None)], [times(178, 170), times(180, 180)]),
        ([("set", None)], [times(178, 170, "left"), times(298, 170, "left")]),
        ([("flag", "white")], [times(1, 170, "left"), times(0, 170, "left", flags=frozenset({"left"}))]),
        (
            [("flag", "white"), ("stopped", "white")],
            [times(1, 170, "left"), times(0, 170, None, flags=frozenset({"left"}))],
        ),
        ([], [times(0, 9, flags=frozenset({"left"})), times(0, 9, flags=frozenset({"left"}))]),
    ],
)
def test_what_a_report_changes(expected: list[tuple[str, str | None]], reports: list[ClockTimes]) -> None:
    """Started: whose clock runs; pressed: who pressed; stopped: whose was running; flag: who fell."""
    assert expected == changes(*reports)


@pytest.mark.parametrize(
    ("expected", "control", "before", "after"),
    [
        ([], "180+2", (151, 165), (152, 167)),
        (["set"], "180", (151, 165), (152, 167)),
        (["set"], "180+2", (151, 165), (271, 165)),
        (["set"], "180+2", (151, 165), (151, 285)),
        ([], "40/5400+30:1800+30", (1, 165), (1800, 165)),
        ([], "40/5400+30:1800+30", (20, 165), (1850, 165)),
    ],
)
def test_what_the_clock_gives_by_itself_was_not_set(
    expected: list[str], control: str, before: tuple[float, float], after: tuple[float, float]
) -> None:
    """Two presses between two reports bring both their increment; a new period brings its time."""
    clock = Clock("left")
    clock.take(times(*before, "left"), 0.0)
    found = clock.take(times(*after, "left"), 1.0, TimeControl.parse(control))

    assert expected == [change.change for change in found]


def test_white_may_sit_at_the_right_half() -> None:
    """The same report in the other players' terms."""
    assert [("pressed", "black")] == changes(times(178, 180, "left"), times(180, 180, "right"), white_side="right")


def test_a_clock_that_is_gone_says_so_once() -> None:
    """Nothing runs without a clock; when it is back it is connected again."""
    clock = Clock("left")
    clock.take(times(180, 180, "left"), 0.0)
    first, second = clock.gone(), clock.gone()

    assert ["disconnected"] == [change.change for change in first]
    assert [] == second
    assert "none" == clock.running
    assert ["connected"] == [change.change for change in clock.take(times(1, 1), 1.0)]


@pytest.mark.parametrize(
    ("expected", "running", "age"),
    [(True, "left", 2.9), (False, "left", 3.0), (True, None, 3.0), (True, None, 5000.0)],
)
def test_readings_that_a_move_may_carry(expected: bool, running: Any, age: float) -> None:
    """Those of the last report, if it is younger than 3 s or nothing runs: no reading is invented."""
    clock = Clock("left")
    clock.take(times(180, 170, running), 10.0)

    assert (Readings(180, 170) if expected else None) == clock.readings(10.0 + age)


def test_no_readings_without_a_clock() -> None:
    """Before the first report, and after the clock has gone."""
    clock = Clock("left")
    before = clock.readings(0.0)
    clock.take(times(180, 170), 0.0)
    clock.gone()

    assert [None, None] == [before, clock.readings(0.5)]


@pytest.mark.parametrize(("expected", "orientation"), [("left", "normal"), ("right", "rotated"), ("left", None)])
def test_whites_half_is_guessed_from_the_board(expected: str, orientation: str | None) -> None:
    """Left on a normal board, right on a rotated one, until somebody says otherwise."""
    clock = Clock("auto")
    clock.follow_orientation(orientation)

    assert expected == clock.white_side


def test_the_first_clock_that_runs_is_whites() -> None:
    """The guess is put right, and so is what was last reported."""
    clock = Clock("auto")
    clock.take(times(180, 178), 0.0)
    clock.take(times(180, 178, "right"), 1.0)

    assert clock.first_to_run()
    assert ("right", "white", Readings(178, 180)) == (clock.white_side, clock.running, clock.readings(1.0))
    assert not clock.first_to_run()


def test_where_black_begins_his_clock_runs_first() -> None:
    """A game that is taken up with Black to move."""
    clock = Clock("auto")
    clock.take(times(180, 178, "right"), 0.0)

    assert not clock.first_to_run("black")
    assert clock.first_to_run("white")


def test_what_was_told_is_not_guessed() -> None:
    """A setting and an arbiter's word outweigh orientation and first clock, until he leaves it to us again."""
    clock = Clock("left")
    clock.take(times(180, 178, "right"), 0.0)
    clock.follow_orientation("rotated")

    assert not clock.first_to_run()
    assert "left" == clock.white_side
    clock.set_white_side("right", "normal")
    assert ("right", "white") == (clock.white_side, clock.running)
    clock.set_white_side("auto", "normal")
    assert "left" == clock.white_side


def test_a_protocol_that_names_players_settles_it() -> None:
    """The generic text protocol says White and Black itself."""
    clock = Clock("auto")
    clock.take(times(180, 178, "left", left_is_white=True), 0.0)
    clock.follow_orientation("rotated")

    assert ("left", True) == (clock.white_side, clock.fixed)


SIDES = st.sampled_from([None, "left", "right", "both"])
REPORTS = st.builds(
    ClockTimes,
    st.integers(0, 9000).map(float),
    st.integers(0, 9000).map(float),
    SIDES,
    st.sampled_from([None, "left", "right"]),
    st.frozensets(st.sampled_from(["left", "right"])),
)


@given(st.lists(REPORTS, min_size=1, max_size=8), st.sampled_from(["auto", "left", "right"]))
def test_a_state_restores_itself(reports: list[ClockTimes], white_side: WhiteSide) -> None:
    """After a restart the next report changes what it would have changed."""
    clock, again = Clock(white_side), Clock(white_side)
    for at, report in enumerate(reports[:-1]):
        clock.take(report, float(at))
    again.restore(json.loads(json.dumps(clock.state())))

    assert clock.take(reports[-1], 99.0) == again.take(reports[-1], 99.0)
    assert clock.state() == again.state()
