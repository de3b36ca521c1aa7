"""All rules, family by family; a new family is one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Flag, auto
from functools import cache

from gateway.rules import (
    Rule,
    acts,
    agreed,
    clock_times,
    clocks,
    crowns,
    draws,
    ending,
    flags,
    interruptions,
    presence,
    presses,
    sequels,
    start,
    time_trouble,
    touches,
)

Maker = Callable[[], Rule]

FAMILIES: tuple[tuple[Maker, ...], ...] = (
    acts.RULES,
    presses.RULES,
    touches.RULES,
    crowns.RULES,
    start.RULES,
    presence.RULES,
    clocks.RULES,
    clock_times.RULES,
    flags.RULES,
    time_trouble.RULES,
    draws.RULES,
    agreed.RULES,
    ending.RULES,
    interruptions.RULES,
)
"""Each family module's `RULES`: what makes the rules of one table, which share nothing with another's."""

RULES: tuple[Maker, ...] = tuple(rule for family in FAMILIES for rule in family)
"""Rules that look at the table."""


class News(Flag):
    """What may have changed since the last step. In a step without any only time has passed."""

    BOARD = auto()
    CLOCK = auto()
    """A report has come, or the clock has come or gone."""
    RECORD = auto()
    """The record, the game's phase, or anything else that an event tells."""
    TOLD = auto()
    """An alert was raised, cleared or dealt with."""


_CLOCK = News.CLOCK | News.RECORD
HEEDS: Mapping[Maker, News] = {
    touches.TouchMove: _CLOCK,
    touches.RookFirst: News.RECORD,
    touches.TwoHands: _CLOCK,
    crowns.LiftedEarly: News.RECORD,
    presses.NotPressed: _CLOCK,
    start.ColoursReversed: News.RECORD,
    start.TimeControlOutside: News.RECORD,
    presence.ClockNotStarted: _CLOCK,
    clocks.PlayWithoutClock: _CLOCK,
    clocks.ClockPositionChanged: _CLOCK,
    clocks.MoveCounterMismatch: _CLOCK,
    clock_times.TimesChanged: _CLOCK,
    clock_times.ClockSettingWrong: _CLOCK,
    clock_times.ClockDefect: _CLOCK,
    flags.FlagFall: _CLOCK | News.TOLD,
    time_trouble.ShortOfTime: _CLOCK,
    draws.Draws: News.RECORD,
    agreed.DrawAgreed: News.RECORD | News.TOLD,
    interruptions.AdjournmentNotAllowed: News.RECORD,
    interruptions.SealedMove: News.RECORD,
    sequels.SecondIllegalMove: News.RECORD | News.TOLD,
}
"""Rules that need not look again unless there is such news, or time has passed; the others look at every step."""


@cache
def unmoved(news: News) -> frozenset[Maker]:
    """Rules that such news does not concern."""
    return frozenset(maker for maker, heeded in HEEDS.items() if not heeded & news)


SEQUELS: tuple[Maker, ...] = sequels.SEQUELS
"""Rules that look at the alerts (`Situation.told`), also at those raised in the same step."""
