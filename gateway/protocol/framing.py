"""Finding frames in a stream, for every protocol alike. What a frame says is not known here.

A protocol gives a *measure*: it looks at the front of what has arrived and says how long the frame is, how many bytes
are to be thrown away and why, or that more must come. It may look at nothing but those bytes, so the same stream gives
the same frames however it was cut into chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from gateway.events import FrameRejected
from gateway.protocol import Reject, ago, moment


class Cut(NamedTuple):
    """The next `size` bytes, 1 or more: a whole frame, or refused for `reason`."""

    size: int
    reason: Reject | None = None


Measure = Callable[[bytearray], Cut | None]
"""Given what is there (never empty): where to cut, or None while that cannot be told.

One that must remember something from cut to cut keeps it in an attribute `memory`, an int.
"""

Found = bytes | FrameRejected

NOISE_RUN = 64
"""A run of noise is reported when it ends, and at this length, so that a wrong baud rate cannot hide for ever."""


class Framer:
    """Cuts a stream into frames and refused bytes.

    Args:
        measure: how the protocol tells where a frame ends.
        patience: seconds of silence after which an unfinished frame is broken; None where only bytes can end it.
    """

    def __init__(self, measure: Measure, patience: float | None = None) -> None:
        self._measure = measure
        self._patience = patience
        self._buffer = bytearray()
        self._noise = 0
        self._last_at = float("-inf")

    @property
    def pending(self) -> int:
        """Bytes that may yet become a frame."""
        return len(self._buffer)

    def feed(self, data: bytes, at: float) -> Iterator[Found]:
        """Take `data`, received at `at`; yield what is complete, in order."""
        buffer = self._buffer
        if self._patience is not None and at - self._last_at > self._patience:
            yield from self._give_up()
        if data:
            self._last_at = at
            buffer += data
        while buffer and (cut := self._measure(buffer)):
            size, reason = cut
            if reason is Reject.NOISE:
                yield from self._note_noise(size)
            else:
                if self._noise:
                    yield self._end_noise()
                yield FrameRejected(reason, size) if reason else bytes(buffer[:size])
            del buffer[:size]

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        return {
            "buffer": self._buffer.hex(),
            "noise": self._noise,
            "quiet": ago(self._last_at, at),
            "measure": getattr(self._measure, "memory", 0),
        }

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        self._buffer[:] = bytes.fromhex(state["buffer"])
        # Bounded, as it always is: a damaged capture must not be told of without end.
        self._noise = int(state["noise"]) % NOISE_RUN
        self._last_at = moment(state["quiet"], at)
        if hasattr(self._measure, "memory"):
            self._measure.memory = int(state["measure"])

    def _note_noise(self, size: int) -> Iterator[Found]:
        self._noise += size
        while self._noise >= NOISE_RUN:
            self._noise -= NOISE_RUN
            yield FrameRejected(Reject.NOISE, NOISE_RUN)

    def _end_noise(self) -> FrameRejected:
        rejected = FrameRejected(Reject.NOISE, self._noise)
        self._noise = 0
        return rejected

    def _give_up(self) -> Iterator[Found]:
        if self._noise:
            yield self._end_noise()
        if self._buffer:
            yield FrameRejected(Reject.TRUNCATED, len(self._buffer))
            self._buffer.clear()


class Lines:
    """A measure for text: a frame is a line with its LF. What exceeds `longest` bytes is refused up to the next LF."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.memory = 0
        """1 while the rest of a line that is too long is passed over."""

    def __call__(self, buffer: bytearray) -> Cut | None:
        end = buffer.find(b"\n", 0, self._longest) + 1
        if end:
            skipped, self.memory = self.memory, 0
            return Cut(end, Reject.NOISE if skipped else None)
        if len(buffer) < self._longest:
            return None
        reason = Reject.NOISE if self.memory else Reject.SIZE
        self.memory = 1
        return Cut(self._longest, reason)
