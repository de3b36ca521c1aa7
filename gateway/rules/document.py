"""docs/irregularities.md, from the catalogue: what is seen, what is not, what the arbiter is told, by which article."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gateway.catalogue import CATALOGUE, Kind

HEAD = """# Irregularities

Written from `gateway/catalogue.toml` by `gateway/rules/document.py`; not to be edited. The gateway advises, the arbiter
decides, and in draughts many of the choices are the opponent's. All of this goes to the arbiters' topics only.

P is the position on the board, L the position of the record, T the side to move in L, R the side whose clock runs.
A finding must hold for the *wait* without a break; `info` is noted, `notice` the arbiter should know, `alert` he should
come. Every wait, severity and switch can be set under `[rules]`.
"""

OCCUPANCY = {
    "full": "sees it too",
    "partial": "sees a part of it: which squares, not which pieces",
    "none": "cannot see it, and never says it",
}


def irregularities() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(line for kind in CATALOGUE.values() for line in _section(kind))])


def _section(kind: Kind) -> Iterator[str]:
    off = "" if kind.enabled else " Off unless enabled."
    where = ", ".join(kind.games) + (f", under {', '.join(kind.regulations)}" if kind.regulations else "")
    yield f"## `{kind.id}`: {kind.title}\n"
    yield f"{kind.severity.capitalize()}{_by(kind.severity_by)}, wait {kind.debounce_s:g} s{_by(kind.debounce_by)}."
    yield f"Of {where}; phases {', '.join(kind.phases)}.{off}\n"
    yield f"* **Articles**: {', '.join(kind.articles) or 'none'}"
    yield f"* **Seen**: {kind.condition}"
    yield f"* **A board that cannot tell the pieces apart** {OCCUPANCY[kind.occupancy_only]}."
    yield f"* **The arbiter is told**: {kind.message}"
    yield f"* **He may**: {kind.remedy}"
    yield "* **Never because of**:"
    yield from (f"    * {guard}" for guard in kind.guards)
    yield ""


def _by(values: Mapping[str, object]) -> str:
    named = ", ".join(f"{regulations} {value}" for regulations, value in values.items())
    return f" ({named})" if named else ""
