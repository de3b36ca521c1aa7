"""How a played-out case is judged: what was raised when, what must not be, and which plies stand."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from gateway import capture, replay
from gateway.events import Alert, Move, MoveRetracted, Numbered, PositionSet
from gateway.registry import DRIVERS

LATE = 1.5
"""Seconds that an alert may come after its time."""
EARLY = 0.3
"""Seconds that it may come before."""


def events_of(lines: Iterable[Mapping[str, Any]]) -> tuple[float, list[Numbered]]:
    """Play a capture, given as its lines; return when it started and all events."""
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    damage: list[str] = []
    reader = capture.Reader(io.BytesIO(text), DRIVERS, lambda number, problem: damage.append(f"{number}: {problem}"))
    events = [numbered for outcome in replay.replayed(reader) for numbered in outcome.events]
    assert not damage
    return datetime.fromisoformat(_started(text)).timestamp(), events


def _started(text: bytes) -> str:
    return str(json.loads(text.splitlines()[0])["started"])


def standing(events: Iterable[Numbered]) -> list[Move]:
    """The plies that stand, those told by command left out."""
    plies: list[Move] = []
    for numbered in events:
        match numbered.event:
            case Move() as move:
                plies.append(move)
            case MoveRetracted(from_ply=first):
                plies = [move for move in plies if move.ply < first]
            case PositionSet():
                pass
    return [move for move in plies if move.source != "command"]


def alert_faults(case: Mapping[str, Any], started: float, events: list[Numbered]) -> list[str]:
    """What is wrong with the alerts of a case, as sentences."""
    ignored = set(case["context"].get("already_raised", ()))
    raised = [
        (numbered.stamp - started, numbered.event)
        for numbered in events
        if isinstance(numbered.event, Alert)
        and numbered.event.state == "raised"
        and numbered.event.irregularity not in ignored
    ]
    faults = []
    for expected in case["expect"]:
        fitting = [
            found
            for found in raised
            if found[1].irregularity == expected["irregularity"]
            and found[1].side == expected["side"]
            and expected["at"] - EARLY <= found[0] <= expected["at"] + LATE
        ]
        if fitting:
            raised.remove(fitting[0])
        else:
            faults.append(f"missing: {expected['irregularity']} of {expected['side']} at {expected['at']}")
    for at, alert in raised:
        if alert.irregularity in case["must_not"]:
            faults.append(f"must not be: {alert.irregularity} at {at:.2f}")
        elif alert.severity != "info":
            faults.append(f"unexpected: {alert.irregularity} of {alert.side} at {at:.2f}")
        elif any(expected["irregularity"] == alert.irregularity for expected in case["expect"]):
            faults.append(f"again, or at the wrong time: {alert.irregularity} of {alert.side} at {at:.2f}")
    return faults


def move_faults(case: Mapping[str, Any], events: list[Numbered]) -> list[str]:
    """How the standing plies differ from those of a case."""
    expected = [_expected(move, case["game"]) for move in case["moves"]]
    found = [_found(move) for move in standing(events)]
    return [] if found == expected else [f"moves are {found}, not {expected}"]


def _expected(move: Mapping[str, Any], game: str) -> tuple[str, bool]:
    notation = str(move["notation"])
    if game.startswith("draughts"):
        notation = notation.replace("x", "-")
    return notation, bool(move["legal"])


def _found(move: Move) -> tuple[str, bool]:
    if move.uci is not None:
        return move.uci, move.legal
    assert move.squares is not None
    return f"{move.squares[0]}-{move.squares[-1]}", move.legal
