"""From chunks to observations, for every protocol of one board alike: cut, read, count what is refused.

On BLE each characteristic is a stream of its own: half a message of one must not be finished by another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from gateway.events import FrameRejected, Observation, Piece, Square
from gateway.protocol import Heard, Reject, ago, moment
from gateway.protocol.framing import Framer, Measure


class RefusedError(Exception):
    """The frame is refused. Never leaves the protocol."""

    def __init__(self, reason: Reject = Reject.VALUE) -> None:
        super().__init__(reason)
        self.reason = reason


class Reading(ABC):
    """A decoder of one board. See `gateway.protocol.Decoder`."""

    patience: float | None = 0.5
    """Seconds of silence that break a message; None where only bytes can end it."""

    def __init__(self) -> None:
        self._framers: dict[str | None, Framer] = {}

    @abstractmethod
    def _measure(self, channel: str | None) -> Measure:
        """How this channel's stream is cut."""

    def _patience(self, channel: str | None) -> float | None:
        """The same, where characteristics differ."""
        return self.patience

    @abstractmethod
    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        """What a frame says. Raises `RefusedError`."""

    def feed(self, data: bytes, at: float, channel: str | None = None) -> list[Heard]:
        """See `gateway.protocol.Decoder`."""
        heard: list[Heard] = []
        for found in self._framer(channel).feed(data, at):
            if isinstance(found, FrameRejected):
                heard.append((None, found))
                continue
            try:
                heard += [(None, observation) for observation in self._read(found, at, channel)]
            except RefusedError as refusal:
                heard.append((None, FrameRejected(refusal.reason, len(found))))
        return heard

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        return {"framers": [[channel, framer.state(at)] for channel, framer in self._framers.items()]}

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        for channel, framer in state["framers"]:
            self._framer(channel).restore(framer, at)

    def _framer(self, channel: str | None) -> Framer:
        framer = self._framers.get(channel)
        if framer is None:
            framer = self._framers[channel] = Framer(self._measure(channel), self._patience(channel))
        return framer


class Repeats:
    """Tells a report that is new from one that only repeats the last, which boards send many times a second.

    One repetition a second is let through: it is the sign that the board is there.
    """

    def __init__(self, every_s: float = 1.0) -> None:
        self._every_s = every_s
        self._last = ""
        self._told_at = float("-inf")

    def idle(self, report: object, at: float) -> bool:
        """Whether `report` says nothing new, and nobody needs a sign of life yet."""
        said = str(report)
        if said == self._last and at - self._told_at < self._every_s:
            return True
        self._last, self._told_at = said, at
        return False

    def state(self, at: float) -> list[Any]:
        """What it keeps, as plain JSON values."""
        return [self._last, ago(self._told_at, at)]

    def restore(self, state: Iterable[Any], at: float) -> None:
        """Undo `state`."""
        self._last, told = state
        self._told_at = moment(told, at)


def taken(squares: Iterable[tuple[Square, object]]) -> Mapping[Square, Piece]:
    """A position of a board that senses occupancy: a piece of unknown kind wherever something stands."""
    return {square: "?" for square, standing in squares if standing}
