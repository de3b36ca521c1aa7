"""The host's side of a conversation that is no more than questions: some at the start, some now and then.

A protocol gives the questions as data. The opening is repeated until the device answers anything. A device that has
answered is asked again when it falls silent, each probe in its turn, so that the link can tell idle from dead; and
after a refused frame it is asked for the whole position, at most once a second.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from gateway.events import FrameRejected, Observation
from gateway.protocol import Address

REFRESH_GAP_S = 1.0
"""At least this long between two questions after refused frames, so that a noisy line is not flooded."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What a device is asked. Bytes as they go out, one write each."""

    opening: tuple[bytes, ...]
    probes: tuple[bytes, ...]
    """At least one; each that is answered proves that the device is there."""
    refresh: bytes | None = None
    """Asks for the whole position after a refused frame; None where that comes by itself."""
    regular: bytes | None = None
    """Asked once in `regular_s`: the charge, mostly."""
    regular_s: float = 60.0
    silence_s: float = 2.0
    settle_s: float = 0.3
    """From the opening of the port to the first word."""
    gap_s: float = 0.1
    """At least this long between two writes."""
    again_s: float = 2.0
    """From the end of an opening that nobody answered to the next try."""


class Asking:
    """Puts the questions. See `gateway.protocol.Dialogue`."""

    def __init__(self, questions: Questions) -> None:
        self.deadline: float | None = None
        self.questions = questions
        self._queue: deque[bytes] = deque()
        self._probes = deque(questions.probes)
        self._known = False
        self._heard_at = self._asked_at = float("-inf")
        self._refreshed_at = float("-inf")
        self._refresh_due = self._regular_due = float("inf")

    def opened(self, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`. Waits before the first word."""
        self._queue = deque(self.questions.opening)
        self._known = False
        self._heard_at = at
        self._asked_at = at + self.questions.settle_s - self.questions.gap_s
        self._refresh_due = self._regular_due = float("inf")
        self.deadline = self._next()
        return []

    def heard(self, address: Address, observation: Observation, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        if self.deadline is None:
            return []
        if isinstance(observation, FrameRejected):
            if self._known and self.questions.refresh is not None:
                self._refresh_due = min(self._refresh_due, max(at, self._refreshed_at + REFRESH_GAP_S))
        else:
            self._heard_at = at
            if not self._known:
                self._known = True
                self._regular_due = at + self.questions.regular_s
        self.deadline = max(at, self._next())
        return []

    def tick(self, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        if self.deadline is None or at < self.deadline:
            return []
        question = self._due(at)
        self._asked_at = at
        self.deadline = self._next()
        return [question]

    def ask(self, question: bytes) -> None:
        """Put a question as soon as the line is free."""
        if question not in self._queue:
            self._queue.append(question)

    def _due(self, at: float) -> bytes:
        questions = self.questions
        if not self._queue and not self._known:
            self._queue.extend(questions.opening)
        if self._queue:
            return self._queue.popleft()
        if self._refresh_due <= at and questions.refresh is not None:
            self._refresh_due, self._refreshed_at = float("inf"), at
            return questions.refresh
        if self._regular_due <= at and questions.regular is not None:
            self._regular_due = at + questions.regular_s
            return questions.regular
        self._probes.rotate(-1)
        return self._probes[-1]

    def _next(self) -> float:
        questions = self.questions
        free = self._asked_at + questions.gap_s
        if self._queue:
            return free
        if not self._known:
            return self._asked_at + questions.again_s
        silent = max(self._heard_at, self._asked_at) + questions.silence_s
        regular = self._regular_due if questions.regular is not None else float("inf")
        return max(free, min(silent, self._refresh_due, regular))
