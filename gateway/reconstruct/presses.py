"""Presses of the clock that wait for the ply they completed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gateway.events import Readings, Side
from gateway.reconstruct.node import SCAN_GRACE
from gateway.reconstruct.observed import NEVER
from gateway.reconstruct.rivals import Rival, mover


@dataclass(frozen=True, slots=True)
class Press:
    """A press whose ply is not confirmed yet."""

    side: Side
    at: float
    readings: Readings | None
    """With the increment, as the report showed them."""


class Presses:
    """What has been pressed in a game."""

    def __init__(self) -> None:
        self.waiting: list[Press] = []
        self.last: float | None = None
        """When somebody last pressed."""
        self.deaf_until = NEVER
        """Up to when presses may have been missed: the board was away, and perhaps its clock with it."""

    def add(self, press: Press) -> None:
        self.waiting.append(press)
        self.last = press.at

    def since(self, side: Side, at: float) -> float | None:
        """When `side` last pressed at `at` or later, for a ply that is not confirmed; None if it did not."""
        found = [press.at for press in self.waiting if press.side == side and press.at >= at]
        return found[-1] if found else None

    def on(self, rival: Rival) -> Press | None:
        """The press that completed the rival's ply; the board may have told of the ply a scan later."""
        side = mover(rival)
        return next((p for p in self.waiting if p.side == side and p.at >= rival.at - SCAN_GRACE), None)

    def forget(self, before: float) -> None:
        """The record goes on from a position of that moment: what was pressed `before` belongs to no ply of it."""
        self.waiting = [press for press in self.waiting if press.at > before]

    def done(self, press: Press) -> None:
        """The ply of `press` is confirmed: no earlier press waits any more."""
        self.waiting = [other for other in self.waiting if other.at > press.at]

    def state(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        waiting = [[p.side, p.at, p.readings and [p.readings.white, p.readings.black]] for p in self.waiting]
        return {
            "waiting": waiting,
            "last": self.last,
            "deaf_until": None if self.deaf_until == NEVER else self.deaf_until,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Undo `state`."""
        self.waiting = [Press(side, at, told and Readings(*told)) for side, at, told in state["waiting"]]
        self.last = state["last"]
        deaf_until = state.get("deaf_until")  # not in the state of an earlier version
        self.deaf_until = NEVER if deaf_until is None else deaf_until
