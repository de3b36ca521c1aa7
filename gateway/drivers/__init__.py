"""The links that boards hang on: what recognises a device, how its port is set, and what every port can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Usb:
    """A device on a USB serial port."""

    vid: int
    pid: int | None = None
    """None: any product of this maker."""
    generic: bool = False
    """A chip that thousands of other devices have too: it proves nothing, and no rule may grab it."""


@dataclass(frozen=True, slots=True)
class Hid:
    """A device that sends HID reports."""

    vid: int
    pid: int | None = None
    usage_page: int | None = None
    """Which of several interfaces is the right one."""


@dataclass(frozen=True, slots=True)
class Ble:
    """A device on Bluetooth Low Energy."""

    name: str
    """What its advertised name begins with."""
    service: str
    notify: tuple[str, ...]
    """Characteristics to listen to; UUIDs in lower case."""
    write: str
    with_response: bool = True


Match = Usb | Hid | Ble


RADIO = ("ble:", "ble-name:")
"""What the name of a port on the radio begins with."""


def uses_radio(configured: str | None, serial: str | None, matches: Iterable[Match]) -> bool:
    """Whether a device may be on Bluetooth: it is named so, or it is only known by its serial number."""
    if configured is None:
        return serial is not None and any(isinstance(match, Ble) for match in matches)
    return configured.startswith(RADIO)


@dataclass(frozen=True, slots=True)
class SerialSettings:
    """How a serial port is opened."""

    baudrate: int = 9600
    bytesize: Literal[7, 8] = 8
    parity: Literal["N", "O", "E"] = "N"
    stopbits: Literal[1, 2] = 1
    dtr: bool | None = None
    """None: as the library does."""
    rts: bool | None = None


Hear = Callable[[bytes, float, str | None], None]
"""Takes what arrived: the chunk, when (`loop.time()`), and the characteristic on BLE links."""
Lost = Callable[[str], None]
"""Takes why the port can no longer be used; called at most once after each `open`, never after `close`."""


class Port(Protocol):
    """An open way to a device, made with what it calls: a `Hear` and a `Lost`."""

    async def open(self) -> None:
        """Open it. Raises `LinkError` where that cannot be done now."""

    async def close(self) -> None:
        """Close it, and be able to open it again."""

    def write(self, data: bytes, channel: str | None = None) -> None:
        """Send without waiting. `channel` is a characteristic on BLE links, None for the usual one."""
