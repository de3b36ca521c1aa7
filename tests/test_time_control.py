"""Time controls, by the examples of the regulations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.time_control import Period, TimeControl

NAMED = [
    ("50/7200:25/3600", 180),
    ("50/7200:3600", 180),
    ("50/7200:1800", 150),
    ("40/5400:3600", 150),
    ("4800+60", 140),
    ("7200+60", 180),
    ("50/7200:1800+30", 155),
    ("900", 15),
    ("1200+5", 25),
    ("900+10", 25),
    ("300", 5),
    ("300+3", 8),
    ("600+5", 15),
    ("30/5400:20/3600", 210),
    ("5400d5", 90),
    ("180+2", 5),
    ("40/5400+30:1800+30", 150),
    ("40/6000+30:20/3000+30:900+30", 180),
    ("5400+30", 120),
    ("40/7200:3600", 180),
    ("1800", 30),
    ("1800+30", 60),
]


@pytest.mark.parametrize(("text", "minutes"), NAMED)
def test_controls_named_by_the_texts(text: str, minutes: float) -> None:
    """Every control of the regulations is read, written back as it was, and classed by its 60 moves."""
    control = TimeControl.parse(text)

    assert str(control) == text
    assert control.total60() == minutes


@pytest.mark.parametrize(
    ("text", "fitting"),
    [
        ("900+10", {"fide-rapid", "fmjd-rapid"}),
        ("600+5", {"fide-rapid", "fmjd-blitz", "fmjd-rapid"}),
        ("180+2", {"fide-blitz", "fmjd-blitz"}),
        ("600", {"fide-blitz", "fmjd-blitz"}),
        ("4800+60", {"fide-standard", "fmjd-standard"}),
        ("1800", {"fide-rapid", "fmjd-rapid"}),
        ("1800+30", {"fide-standard", "fmjd-standard"}),
        ("120", {"fide-blitz"}),
    ],
)
def test_fits(text: str, fitting: set[str]) -> None:
    """A control fits the classes whose limits it meets; limits that belong to two classes fit both."""
    regulations = {f"{body}-{speed}" for body in ("fide", "fmjd") for speed in ("blitz", "rapid", "standard")}

    assert {r for r in regulations if TimeControl.parse(text).fits(r)} == fitting


def test_unknown_and_none() -> None:
    """`?` and `-` have no periods, and nothing can be said of them."""
    for text in "?-":
        control = TimeControl.parse(text)

        assert str(control) == text
        assert control.known is (text == "-")
        assert control.base is None
        assert control.period_at(10) is None
        assert control.total60() is None
        assert control.fits("fide-blitz") is None
        assert control.next_control(0) is None
        assert not control.last_period(0)


def test_moves_count_within_their_period() -> None:
    """`40/...:20/...` has its second control at move 60."""
    control = TimeControl.parse("40/6000+30:20/3000+15:900d5")
    first, second, third = Period(6000, 40, 30), Period(3000, 20, 15), Period(900, None, 0, 5)

    assert [control.period_at(n) for n in (0, 39, 40, 59, 60, 200)] == [first, first, second, second, third, third]
    assert [control.next_control(n) for n in (0, 39, 40, 59, 60)] == [40, 40, 60, 60, None]
    assert [control.demanded(n) for n in (0, 39, 40, 59, 60, 99)] == [0, 0, 40, 40, 60, 60]
    assert [control.last_period(n) for n in (39, 59, 60)] == [False, False, True]
    assert [control.increment_at(n) for n in (39, 40, 60)] == [30, 15, 0]


def test_last_period_with_moves_is_repeated() -> None:
    """`50/7200:25/3600` has controls at 50, 75, 100 and so on."""
    control = TimeControl.parse("50/7200:25/3600")

    assert [control.next_control(n) for n in (0, 49, 50, 74, 75, 99, 100)] == [50, 50, 75, 75, 100, 100, 125]
    assert [control.demanded(n) for n in (49, 50, 75, 110)] == [0, 50, 75, 100]
    assert [control.controls_passed(n) for n in (49, 50, 75, 110)] == [0, 1, 2, 3]
    assert control.period_at(110) == Period(3600, 25)
    assert not control.last_period(110)


def test_base_delay_and_bonus() -> None:
    """Base and delay are those of the first period."""
    assert TimeControl.parse("5400d5").delay == 5
    assert TimeControl.parse("40/5400:1800+30").base == 5400
    assert TimeControl.parse("40/5400:1800+30").has_bonus
    assert not TimeControl.parse("900").has_bonus


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "''"),
        ("*180", "hourglass"),
        ("40/5400+30:", "''"),
        ("5400:1800", "'5400'"),
        ("0/5400", "0 moves"),
        ("90+30s", "'90+30s'"),
        ("40/5400 + 30", "'40/5400 + 30'"),
        ("5400+30d5", "'5400+30d5'"),
        ("-5", "'-5'"),
        ("40/-", "'40/-'"),
        ("٣٠٠", "period"),
    ],
)
def test_refused(text: str, part: str) -> None:
    """A control that cannot be read is refused with the part that is wrong."""
    with pytest.raises(ValueError, match="time control") as refused:
        TimeControl.parse(text)

    assert part in str(refused.value)


periods = st.builds(
    Period,
    st.integers(0, 10_000),
    st.integers(1, 60),
    increment=st.integers(0, 60),
) | st.builds(Period, st.integers(0, 10_000), st.integers(1, 60), delay=st.integers(0, 60))


@given(st.lists(periods, min_size=1, max_size=4), st.integers(0, 300))
def test_round_trip_and_controls(drawn: list[Period], n: int) -> None:
    """Writing then reading is identity, and `n` always lies between the control passed and the next."""
    control = TimeControl(tuple(drawn))
    ahead = control.next_control(n)

    assert TimeControl.parse(str(control)) == control
    assert ahead is not None
    assert control.demanded(n) <= n < ahead
