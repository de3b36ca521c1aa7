"""What changed between two JSON values, as a smaller JSON value. Pure.

A table's state grows with its game, and little of it changes with an event: a move more at the end of a list, a few
numbers. Written down as changes it costs a tenth of the disk.

A change is ``[value]`` (it is this now), ``[changes, removed]`` of an object, or ``[kept, middle, rest]`` of a list:
the first `kept` and the last `rest` items stay, `middle` stands between them.
"""

from __future__ import annotations

from typing import Any

Change = list[Any]


def difference(old: Any, new: Any) -> Change:
    """The change that makes `new` of `old`."""
    if isinstance(old, dict) and isinstance(new, dict):
        changed = {key: difference(old.get(key), value) for key, value in new.items() if _changed(old, key, value)}
        return [changed, [key for key in old if key not in new]]
    if isinstance(old, list) and isinstance(new, list):
        shorter = min(len(old), len(new))
        kept = next((index for index in range(shorter) if not _same(old[index], new[index])), shorter)
        left = shorter - kept
        rest = next((back for back in range(left) if not _same(old[-1 - back], new[-1 - back])), left)
        return [kept, new[kept : len(new) - rest], rest]
    return [new]


def changed_by(old: Any, change: Change) -> Any:
    """Undo `difference`: what `old` has become."""
    if len(change) == 1:
        return change[0]
    if len(change) == 2:
        changes, removed = change
        kept = {key: value for key, value in old.items() if key not in removed}
        return kept | {key: changed_by(old.get(key), value) for key, value in changes.items()}
    kept, middle, rest = change
    return old[:kept] + middle + (old[len(old) - rest :] if rest else [])


def _changed(old: dict[str, Any], key: str, value: Any) -> bool:
    return key not in old or not _same(old[key], value)


def _same(one: Any, other: Any) -> bool:
    """As JSON: true is not 1, though Python has it so; 1.0 may stand for 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
