"""All rules, family by family; a new family is one line here."""

from __future__ import annotations

from collections.abc import Callable

from gateway.rules import Rule, acts, crowns, presses, sequels, touches

Maker = Callable[[], Rule]

FAMILIES: tuple[tuple[Maker, ...], ...] = (
    acts.RULES,
    presses.RULES,
    touches.RULES,
    crowns.RULES,
)
"""Each family module's `RULES`: what makes the rules of one table, which share nothing with another's."""

RULES: tuple[Maker, ...] = tuple(rule for family in FAMILIES for rule in family)
"""Rules that look at the table."""

SEQUELS: tuple[Maker, ...] = sequels.SEQUELS
"""Rules that look at the alerts (`Situation.told`), also at those raised in the same step."""
