"""Faults with a name in draughts: captures ignored, too small, broken off or badly cleared away, and crowns.

Each explanation takes a completed turn (FMJD A1 article 5.4): before the press a man may still be put elsewhere, the
capturing piece rests on its landing squares as it must, and the captured men are lifted one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from gateway.draughts import Ply, Position
from gateway.events import Square
from gateway.rules.turn import Fault, Rest, Turn, draughts_change

PATHS = 5000
"""Capture paths looked at: rare positions have very many."""


def _position(turn: Turn) -> Position:
    assert isinstance(turn.before, Position)
    return turn.before


def _names(squares: Iterable[int]) -> list[Square]:
    return [str(square) for square in sorted(squares)]


def _example(position: Position) -> str:
    return position.notation(position.legal_plies()[0])


def capture_stopped_early(turn: Turn) -> Fault | None:
    """The capturing piece stands on a landing square from which it must go on (A1 4.5, 5.4.9)."""
    position = _position(turn)
    for ply in position.unfinished_captures():
        rest = turn.rest(draughts_change(position, ply))
        if not _only_still_there(rest, ply) or not _leads_on(position, ply):
            continue
        full = next(p for p in position.legal_plies() if p.captured) if position.legal_plies() else ply
        facts = {"square": str(ply.arrival), "expected": position.notation(full)}
        return Fault(
            "capture_stopped_early",
            turn.side,
            facts,
            (str(ply.departure), str(ply.arrival)),
            {"path": list(ply.path), "captured": list(ply.captured)},
        )
    return None


def _only_still_there(rest: Rest, ply: Ply) -> bool:
    """Whether nothing is left to explain but captured men that have not been taken off."""
    return all(
        square.isdigit() and int(square) in ply.captured and expected is None for square, (expected, _) in rest.items()
    )


def _leads_on(position: Position, ply: Ply) -> bool:
    """Whether `ply` is the beginning of a legal capture."""
    most = max(len(p.captured) for p in position.legal_plies())
    taken = frozenset(ply.captured)
    return any(
        len(path.captured) == most
        and path.departure == ply.departure
        and path.path[len(taken)] == ply.arrival
        and frozenset(path.captured[: len(taken)]) == taken
        for path in islice(position.capture_paths(), PATHS)
    )


def captured_men_not_removed(turn: Turn) -> Fault | None:
    """A legal capture was carried out and one or more of the captured men still stand (A1 4.12, 5.4.11, 5.4.13)."""
    position = _position(turn)
    for ply in position.legal_plies():
        if not ply.captured:
            continue
        rest = turn.rest(draughts_change(position, ply))
        if rest and _only_still_there(rest, ply):
            squares = _names(int(square) for square in rest)
            evidence = {"path": list(ply.path), "captured": list(ply.captured)}
            return Fault("captured_men_not_removed", turn.side, {"squares": squares}, tuple(squares), evidence)
    return None


def wrong_men_removed(turn: Turn) -> Fault | None:
    """A piece stands at the end of a legal capture and another is gone that it does not take (A1 5.4.12, 5.4.14)."""
    position = _position(turn)
    for ply in position.legal_plies():
        if not ply.captured:
            continue
        rest = turn.rest(draughts_change(position, ply))
        wrong = [
            s for s, (expected, seen) in rest.items() if expected is not None and seen is None and s != str(ply.arrival)
        ]
        others = {s: r for s, r in rest.items() if s not in wrong}
        if wrong and _only_still_there(others, ply):
            squares = _names(map(int, wrong))
            evidence = {"removed": [int(s) for s in squares], "captured": sorted(ply.captured), "path": list(ply.path)}
            return Fault("wrong_men_removed", turn.side, {"squares": squares}, tuple(squares), evidence)
    return None


def majority_capture_violation(turn: Turn) -> Fault | None:
    """A whole capture, but of fewer pieces than could be taken (A1 4.13), or of more than its path can take."""
    position = _position(turn)
    captures = position.captures()
    most = max((len(ply.captured) for ply in captures), default=0)
    for ply in captures:
        rest = turn.rest(draughts_change(position, ply))
        more = [
            s
            for s, (expected, seen) in rest.items()
            if seen is None and expected and turn.owner(expected) == turn.other
        ]
        if len(rest) == len(more) and (len(ply.captured) < most or more):
            facts = {
                "count": str(len(ply.captured) + len(more)),
                "move": f"{ply.departure}x{ply.arrival}",
                "demanded": str(most),
                "expected": _example(position),
            }
            squares = (str(ply.departure), str(ply.arrival))
            return Fault("majority_capture_violation", turn.side, facts, squares, {"captured": list(ply.captured)})
    return None


def capture_ignored(turn: Turn) -> Fault | None:
    """A quiet move was made although a capture was possible (A1 4.2, 5.4.6)."""
    position = _position(turn)
    if not position.captures():
        return None
    for ply in position.quiet_plies():
        if not turn.rest(draughts_change(position, ply)):
            move = f"{ply.departure}-{ply.arrival}"
            facts = {"move": move, "expected": _example(position)}
            squares = (str(ply.departure), str(ply.arrival))
            available = [position.notation(p) for p in position.legal_plies()]
            return Fault("capture_ignored", turn.side, facts, squares, {"available": available})
    return None
