"""What a driver lets the operator set under [table.board.options]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Option:
    """One setting. The type of its default is the type it must have."""

    name: str
    default: Value
    text: str
    """A sentence for the operator, with the unit."""
    lowest: float | None = None
    pattern: str | None = None
    """Regular expression that a text must match as a whole."""

    def mistake(self, value: Any) -> str | None:
        """What is wrong with `value`, or None."""
        kind = type(self.default)
        fits = type(value) is kind or (kind is float and type(value) is int)
        if not fits:
            return f"{self.name}: {value!r} found, {kind.__name__} wanted"
        if self.lowest is not None and value < self.lowest:
            return f"{self.name}: {value!r} found, at least {self.lowest:g} wanted"
        if self.pattern is not None and not re.fullmatch(self.pattern, value):
            return f"{self.name}: {value!r} found, {self.pattern} wanted"
        return None


def mistakes(options: Iterable[Option], given: Mapping[str, Any]) -> list[str]:
    """All that is wrong with the settings given, a sentence each."""
    known = {option.name: option for option in options}
    allowed = ", ".join(sorted(known)) or "none"
    unknown = [f"{name}: unknown, allowed are {allowed}" for name in given if name not in known]
    wrong = [known[name].mistake(value) for name, value in given.items() if name in known]
    return unknown + [mistake for mistake in wrong if mistake]


def settle(options: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings given, and the default of every other."""
    return {option.name: given.get(option.name, option.default) for option in options}
