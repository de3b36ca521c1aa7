"""A chess clock, and what a board that polls it two or three times a second makes of it.

The clock counts exactly and shows whole seconds, rounded down. The board sends a message when a poll finds another
face than the last: a lever flip is known to the next poll, a running clock to about a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.events import OTHER, ClockSide, ClockTimes, Side
from gateway.simulate.hand import Act, ClockSwitch, Press

FACE_SIDE: dict[ClockSide, ClockSide] = {"left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class ClockModel:
    """How this clock and its cable behave."""

    base: float
    increment: float
    credited_at_start: bool = False
    """The first increment is on the clock before the first move (some settings), instead of only after it."""
    white: ClockSide = "left"
    poll: float = 0.4
    """Seconds from one poll to the next."""
    delayed: float = 0.01
    """From the poll to the message."""


class ChessClock:
    """The clock itself, advanced from act to act."""

    def __init__(self, model: ClockModel) -> None:
        self.model = model
        self.times: dict[Side, float] = {}
        self.lever: Side = "white"
        """Whose clock the lever lets run."""
        self.running = False
        self.fallen: set[Side] = set()
        self.at = 0.0
        self.reset()

    def reset(self) -> None:
        """Set to the beginning of a game."""
        full = self.model.base + (self.model.increment if self.model.credited_at_start else 0.0)
        self.times = {"white": full, "black": full}
        self.fallen = set()
        self.running = False

    def advance(self, at: float) -> None:
        """Let time pass until `at`. A side that reaches zero is blocked, as recorded from real clocks."""
        if self.running:
            left = self.times[self.lever] - (at - self.at)
            if left <= 0:
                left, self.running = 0.0, False
                self.fallen.add(self.lever)
            self.times[self.lever] = left
        self.at = at

    def act(self, act: Press | ClockSwitch) -> None:
        """A hand acts on it at `act.at`."""
        self.advance(act.at)
        if isinstance(act, ClockSwitch):
            if act.action == "reset":
                self.reset()
            else:
                self.running = act.action == "start"
            if act.action == "start":
                self.lever = act.side
        elif act.side == self.lever:
            if self.running:
                self.times[act.side] += self.model.increment
            self.lever = OTHER[act.side]

    def face(self) -> ClockTimes:
        """What a poll reads now."""
        white = self.model.white
        black = FACE_SIDE[white]
        side_of: dict[Side, ClockSide] = {"white": white, "black": black}
        shown = {side_of[side]: float(math.floor(left + 1e-9)) for side, left in self.times.items()}
        lever = side_of[self.lever]
        return ClockTimes(
            left=shown["left"],
            right=shown["right"],
            running=lever if self.running else None,
            lever=lever,
            flags=frozenset(side_of[side] for side in self.fallen),
        )


def polled(acts: Iterable[Act], model: ClockModel, end: float, phase: float) -> Iterator[tuple[float, ClockTimes]]:
    """The messages that the clock causes until `end`; polls begin at `phase`."""
    clock = ChessClock(model)
    waiting = [act for act in acts if not hasattr(act, "square")]
    index = 0
    last: ClockTimes | None = None
    at = phase
    while at < end:
        while index < len(waiting) and waiting[index].at <= at:
            act = waiting[index]
            assert isinstance(act, Press | ClockSwitch)
            clock.act(act)
            index += 1
        clock.advance(at)
        face = clock.face()
        if face != last:
            yield at + model.delayed, face
            last = face
        at += model.poll
