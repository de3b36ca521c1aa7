"""The irregularities as data: what each is called, how grave it is, which articles it rests on, how it is told.

`catalogue.toml` beside this file is the text; here it becomes frozen values. Nothing here judges a position: that is
what `rules/` is for, one rule per kind.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from gateway.events import OTHER, GameKind, Side

Severity = Literal["info", "notice", "alert"]
Fact = str | int | float | list[str] | tuple[str, ...]
"""What fills a placeholder; a float is a clock reading in seconds, a list is squares or plies."""


NOT_IN_FORCE: Mapping[str, tuple[str, ...]] = {
    "fide-standard": ("FMJD", "FIDE 2023 A.", "FIDE 2023 B."),
    "fide-rapid": ("FMJD", "FIDE 2023 B."),
}
"""How articles begin that do not hold: Appendix A is for rapid chess, and B, which refers to it, for blitz."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of irregularity, or of event that the rules attach something to."""

    id: str
    title: str
    message: str
    """The sentence for the arbiter, without the table; `sentence` fills it."""
    games: tuple[str, ...]
    phases: tuple[str, ...]
    articles: tuple[str, ...]
    condition: str
    severity: Severity
    debounce_s: float
    """Seconds for which the condition must hold without a break; 0: at once."""
    occupancy_only: Literal["full", "partial", "none"]
    """What of it a board that cannot tell the pieces apart still sees."""
    remedy: str
    guards: tuple[str, ...]
    regulations: tuple[str, ...] = ()
    """Where it applies; empty: everywhere."""
    enabled: bool = True
    severity_by: Mapping[str, Severity] = field(default_factory=dict)
    debounce_by: Mapping[str, float] = field(default_factory=dict)

    def applies(self, game: GameKind, regulations: str) -> bool:
        """Tell whether this game under these regulations knows the kind at all."""
        played = "chess" if game == "chess960" else game
        return played in self.games and (not self.regulations or regulations in self.regulations)

    def severity_under(self, regulations: str) -> Severity:
        """Return the severity that the catalogue suggests under these regulations."""
        return self.severity_by.get(regulations, self.severity)

    def debounce_under(self, regulations: str) -> float:
        """Return the debounce in seconds that the catalogue suggests under these regulations."""
        return self.debounce_by.get(regulations, self.debounce_s)

    def articles_under(self, regulations: str) -> tuple[str, ...]:
        """Return the articles in force: those of the federation, and of the appendices those for this rate of play."""
        foreign = NOT_IN_FORCE.get(regulations, ("FMJD",) if regulations.startswith("fide") else ("FIDE",))
        return tuple(article for article in self.articles if not article.startswith(foreign))

    @property
    def placeholders(self) -> frozenset[str]:
        """What `sentence` needs to be told; `other` follows from `side`."""
        return frozenset(name for _, name, _, _ in string.Formatter().parse(self.message) if name)

    def sentence(self, table: str, side: Side | None = None, **facts: Fact) -> str:
        """Return the message for this table.

        Players (`side`, and `running`, `turn` among the facts) are given as ``"white"``, ``"black"``.

        Raises:
            KeyError: the message speaks of something that was not told.
        """
        if side is not None:
            facts = {"side": side, "other": OTHER[side], **facts}
        return f"Table {table}: " + self.message.format_map({name: _spoken(fact) for name, fact in facts.items()})


def _spoken(fact: Fact) -> str:
    if fact in ("white", "black"):
        return str(fact).capitalize()
    if isinstance(fact, float):
        return reading(fact)
    if isinstance(fact, list | tuple):
        return ", ".join(map(str, fact))
    return str(fact)


def reading(seconds: float) -> str:
    """Return a clock reading as people say it: ``1:02:03``, ``0:45``."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def _kind(entry: Mapping[str, object]) -> Kind:
    """Turn one [[kind]] into a value; a wrong key is our own mistake, and Python names it."""
    frozen = {
        key: tuple(value) if isinstance(value, list) else MappingProxyType(value) if isinstance(value, dict) else value
        for key, value in entry.items()
    }
    return Kind(**frozen)  # type: ignore[arg-type]


def _load() -> Mapping[str, Kind]:
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return MappingProxyType({entry["id"]: _kind(entry) for entry in tomllib.loads(text)["kind"]})


CATALOGUE: Mapping[str, Kind] = _load()
"""All kinds by their id, in the catalogue's order."""
