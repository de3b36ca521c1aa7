"""All rules, family by family; a new family is one line here."""

from __future__ import annotations

from collections.abc import Callable

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

SEQUELS: tuple[Maker, ...] = sequels.SEQUELS
"""Rules that look at the alerts (`Situation.told`), also at those raised in the same step."""
