"""What every wire protocol of a board offers: a `Decoder` and, where the device must be asked, a `Dialogue`.

Neither opens, waits or reads a clock: bytes and time come in as arguments, observations and bytes go out.
One file per protocol; no protocol file imports another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Protocol

from gateway.events import Observation

Address = int | None
"""Which board on a shared bus; None on a port of one board."""

Heard = tuple[Address, Observation]


class Reject(StrEnum):
    """Why bytes were refused; counted per link under these names."""

    NOISE = "noise"
    """Bytes outside any frame."""
    TRUNCATED = "truncated"
    """A frame that broke off: the next one began, or the rest never came."""
    SIZE = "size"
    """A length that this message cannot have."""
    CHECKSUM = "checksum"
    VALUE = "value"
    """Well-framed, but a field holds what it cannot hold: a square that does not exist, 75 minutes."""
    UNKNOWN = "unknown"
    """Well-framed, and no message that is known."""


class Decoder(Protocol):
    """Bytes in, observations out."""

    def feed(self, data: bytes, at: float, channel: str | None = None) -> list[Heard]:
        """Take what arrived at `at`, however it was cut; return what it says, oldest first. Never raises on bytes.

        `channel` is the characteristic's UUID on BLE links, else None.
        """

    def state(self, at: float) -> dict[str, Any]:
        """What it keeps from chunk to chunk, as plain JSON values; of times only how long ago they were."""

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """Undo `state`, on a decoder just made with the same settings.

        Raises:
            LookupError, TypeError, ValueError, AttributeError: it is damaged.
        """


class Dialogue(Protocol):
    """The host's side of the conversation: what to ask the device, and when. Left out in a replay."""

    deadline: float | None
    """When `tick` wants to be called next; None: only after something was heard."""

    def opened(self, at: float) -> list[bytes]:
        """The port was opened; return what to send first."""

    def heard(self, address: Address, observation: Observation, at: float) -> list[bytes]:
        """Something was decoded; return what to send now."""

    def tick(self, at: float) -> list[bytes]:
        """The deadline has come; return what to send now."""


def ago(moment: float, at: float) -> float | None:
    """How long before `at` that was; None for what has never been."""
    return None if moment == float("-inf") else round(at - moment, 6)


def moment(ago: float | None, at: float) -> float:
    """Undo `ago`."""
    return float("-inf") if ago is None else at - float(ago)


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    """Cut `data` into pieces of at most `size` bytes."""
    for start in range(0, len(data), size):
        yield data[start : start + size]
