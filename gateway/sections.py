"""Reading TOML tables so that every mistake is told at once: key path, what was found, what is allowed.

A table's keys are listed as a mapping from key to `Allowed`; `Section.read` takes those that are there and right,
notes the others and goes on.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Note = Callable[[str], None]
"""Takes one mistake, a sentence beginning with its key path."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What one key may hold."""

    words: str
    """Ends the sentence "allowed ..."."""
    read: Callable[[Any], Any]
    """Value as found to value as kept. Raises ValueError for what is not allowed; its text, if any, replaces words."""


def _refuse_unless(right: bool) -> None:
    if not right:
        raise ValueError


def boolean() -> Allowed:
    """`true` or `false`."""

    def read(value: Any) -> bool:
        _refuse_unless(isinstance(value, bool))
        return bool(value)

    return Allowed("true or false", read)


def number(least: float, most: float, words: str) -> Allowed:
    """A number from `least` to `most`."""

    def read(value: Any) -> float:
        _refuse_unless(isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most)
        return float(value)

    return Allowed(words, read)


def integer(least: float, most: float, words: str | None = None) -> Allowed:
    """A whole number from `least` to `most`."""

    def read(value: Any) -> int:
        _refuse_unless(isinstance(value, int) and not isinstance(value, bool) and least <= value <= most)
        return int(value)

    return Allowed(words or f"a whole number from {least} to {most}", read)


def text(words: str, pattern: str = r"[^\x00-\x1f]+") -> Allowed:
    """A string that matches `pattern` as a whole."""
    matches = re.compile(pattern).fullmatch

    def read(value: Any) -> str:
        _refuse_unless(isinstance(value, str) and matches(value) is not None)
        return str(value)

    return Allowed(words, read)


def one_of(choices: Collection[str]) -> Allowed:
    """One of these strings."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(_choices(choices) + _did_you_mean(value, choices))
        return str(value)

    return Allowed(_choices(choices), read)


def list_of(choices: Collection[str], words: str) -> Allowed:
    """A list of some of these strings."""

    def read(value: Any) -> tuple[str, ...]:
        _refuse_unless(isinstance(value, list))
        for item in value:
            if not isinstance(item, str) or item not in choices:
                raise ValueError(f"{words}, and {shown(item)} is none{_did_you_mean(item, choices)}")
        return tuple(value)

    return Allowed(words, read)


class Section:
    """One table of the file, at its key path."""

    def __init__(self, values: Mapping[str, Any], path: str, note: Note) -> None:
        self.path = path
        self.values = values
        self.note = note

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def at(self, key: str) -> str:
        """Return the path of one of its keys."""
        return f"{self.path}.{key}" if self.path else key

    def mistake(self, key: str, found: str, allowed: str) -> None:
        """Note a mistake."""
        self.note(f"{self.at(key)}: found {found}; allowed {allowed}")

    def read(
        self, keys: Mapping[str, Allowed], tables: Collection[str] = (), tables_are: str | None = None
    ) -> dict[str, Any]:
        """Return the keys that are there and right; note the wrong and the unknown.

        Args:
            keys: what each key may hold.
            tables: keys that hold tables or lists of tables, which the caller reads by itself.
            tables_are: words for these keys where they are too many to be listed.
        """
        right = {}
        for key, value in self.values.items():
            if key in keys:
                try:
                    right[key] = keys[key].read(value)
                except ValueError as problem:
                    self.mistake(key, shown(value), str(problem) or keys[key].words)
            elif key not in tables:
                allowed = _choices([*keys, *([tables_are] if tables_are else tables)])
                # The value is not shown: it may be a secret under a mistyped name.
                self.mistake(key, "an unknown key", allowed + _did_you_mean(key, [*keys, *tables]))
        return right

    def table(self, key: str) -> Section:
        """Return the sub-table at `key`; an empty one if it is missing or no table."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.mistake(key, shown(value), "a table")
            value = {}
        return Section(value, self.at(key), self.note)

    def tables(self, key: str, name: Callable[[int, Mapping[str, Any]], str]) -> list[Section]:
        """Return the list of tables at `key`; `name` says from number (from 1) and values how each is called."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.mistake(key, shown(value), f"one or more [[{key}]]")
            return []
        return [
            Section(item, self.at(f"{key}[{name(number, item)}]"), self.note) for number, item in enumerate(value, 1)
        ]


def shown(value: object) -> str:
    """Return a value as it looks in the file, cut where it is long."""
    said = json.dumps(value, ensure_ascii=False, default=str)
    return said if len(said) <= 60 else said[:57] + "..."


def _choices(choices: Iterable[str]) -> str:
    return ", ".join(choices) or "nothing"


def _did_you_mean(found: object, choices: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(found), list(choices), n=1)
    return f"; did you mean {close[0]}?" if close else ""
