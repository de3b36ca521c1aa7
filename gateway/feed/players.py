"""What is known of players beside their names: a table in CSV, as pairing programs export it.

The first line names the columns: `name`, and any of `title`, `rating`, `fide_id`, `team`; other columns are left alone.
Names are compared with those that the arbiters have assigned, without regard to case and spaces.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass

from gateway.errors import ConfigError

COLUMNS = ("title", "rating", "fide_id", "team")
NUMBERS = ("rating", "fide_id")


@dataclass(frozen=True, slots=True)
class Player:
    """One line; empty where nothing is said."""

    title: str = ""
    rating: str = ""
    fide_id: str = ""
    team: str = ""


def key(name: str) -> str:
    """A name as it is compared."""
    return " ".join(name.replace(",", ", ").split()).casefold()


def read(text: str, file: str) -> Mapping[str, Player]:
    """Every player by `key`. Raises `ConfigError`, which names every line that is wrong."""
    head = text.partition("\n")[0]
    rows = csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=head.count), skipinitialspace=True)
    columns = [name.strip().lower() for name in rows.fieldnames or ()]
    if "name" not in columns:
        raise ConfigError([f"{file}: line 1: found no column `name`; allowed name, {', '.join(COLUMNS)}"])
    rows.fieldnames = columns
    mistakes: list[str] = []
    found: dict[str, Player] = {}
    for row in rows:
        said = {column: (row.get(column) or "").strip() for column in ("name", *COLUMNS)}
        where = f"{file}: line {rows.line_num}"
        name = key(said.pop("name"))
        mistakes += [
            f"{where}: {column}: found {said[column]!r}; allowed a number"
            for column in NUMBERS
            if not re.fullmatch(r"\d*", said[column])
        ]
        if not name:
            mistakes.append(f"{where}: name: found none; allowed the player's name")
        elif name in found:
            mistakes.append(f"{where}: name: found {name!r} a second time; allowed each player once")
        found[name] = Player(**said)
    if mistakes:
        raise ConfigError(mistakes)
    return found
