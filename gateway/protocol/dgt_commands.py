"""DGT boards: what a host may say to a board or a bus of boards, to build it and (for simulated boards) to read it.

Single board: one byte, 40 to 55. Bus: command, address in two 7-bit bytes, check = sum of the three & 7f.
Clock, through the board: ``2b nn 03 CC .. 00``, n = bytes after it. LEDs: ``60 nn ..``, n = bytes after it.

Sample: ``42`` send the board; ``83 08 01 0c`` board 1025, send what changed; ``2b 03 03 09 00`` clock, which version

The buffer of a board holds 10 bytes, on a bus one command: ask, wait, ask again. An unknown command gets no answer.
What is marked *never* takes the board off line (4e) or writes into it (51, 53, 54, 85): it can be read, so that a
simulated board notices, and `build_command` refuses it.

Sources: as `dgt`; Pegasus LEDs from fianchettochess/BoardKit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from construct import Byte, Struct

from gateway.errors import UsageError
from gateway.protocol import Reject
from gateway.protocol.framing import Cut


class Command(IntEnum):
    """To a single board; the names are the vendor's without DGT_."""

    SEND_RESET = 0x40
    """To idle mode: no more updates."""
    SEND_CLK = 0x41
    SEND_BRD = 0x42
    SEND_UPDATE = 0x43
    SEND_UPDATE_BRD = 0x44
    RETURN_SERIALNR = 0x45
    RETURN_BUSADRES = 0x46
    SEND_TRADEMARK = 0x47
    SEND_HARDWARE_VERSION = 0x48
    """Pegasus; the name is ours."""
    SEND_EE_MOVES = 0x49
    TO_BUSMODE = 0x4A
    SEND_UPDATE_NICE = 0x4B
    """Field updates, and the clock's times when they change."""
    SEND_BATTERY_STATUS = 0x4C
    SEND_VERSION = 0x4D
    STARTBOOTLOADER = 0x4E
    """Never: takes the board off line."""
    SEND_BRD_50B = 0x50
    SCAN_50B = 0x51
    """Never: writes EEPROM."""
    SEND_BRD_50W = 0x52
    SCAN_50W = 0x53
    """Never: writes EEPROM."""
    SCAN_100 = 0x54
    """Never: writes EEPROM."""
    RETURN_LONG_SERIALNR = 0x55


class BusCommand(IntEnum):
    """To a board on a bus; address 0 is all boards, where that makes sense."""

    SEND_CLK = 0x81
    SEND_BRD = 0x82
    SEND_CHANGES = 0x83
    """What changed since the last such request."""
    REPEAT_CHANGES = 0x84
    """The last packet of changes again."""
    SET_START_GAME = 0x85
    """Never: writes a start tag into the log."""
    SEND_FROM_START = 0x86
    PING = 0x87
    """Address 0: all boards answer, spread over 1.1 s."""
    END_BUSMODE = 0x88
    RESET = 0x89
    IGNORE_NEXT_PING = 0x8A
    SEND_VERSION = 0x8B
    SEND_BRD_50B = 0x8C
    SEND_ALL_D = 0x8D
    """Changes, clock and board in turn."""


class ClockCommand(IntEnum):
    """To the clock through a single board. A gateway that only listens needs none of them."""

    DISPLAY = 0x01
    ICONS = 0x02
    END = 0x03
    BUTTON = 0x08
    VERSION = 0x09
    SETNRUN = 0x0A
    BEEP = 0x0B
    ASCII = 0x0C


FORBIDDEN = frozenset((Command.STARTBOOTLOADER, Command.SCAN_50B, Command.SCAN_50W, Command.SCAN_100))
FORBIDDEN_ON_BUS = frozenset((BusCommand.SET_START_GAME,))

BUS_COMMAND = Struct("command" / Byte, "high" / Byte, "low" / Byte, "check" / Byte).compile()

DGT_CLOCK_MESSAGE = 0x2B
DGT_SET_LEDS = 0x60
DGT_DEVELOPER_KEY = 0x63
"""Pegasus: a key that DGT gives to a developer. The gateway has none and sends none."""
_COUNTED = (DGT_CLOCK_MESSAGE, DGT_SET_LEDS, DGT_DEVELOPER_KEY)


class Said(NamedTuple):
    """A command as a board hears it."""

    command: int
    address: int | None = None
    """None: not a bus command."""
    arguments: bytes = b""
    """Clock and LED commands: what follows the count."""


def build_command(command: Command) -> bytes:
    """One byte. Raises `UsageError` for what must never be sent."""
    if command in FORBIDDEN:
        raise UsageError(f"{command.name} must not be sent to a board")
    return bytes((command,))


def build_bus_command(command: BusCommand, address: int) -> bytes:
    """Four bytes, the check last."""
    if command in FORBIDDEN_ON_BUS:
        raise UsageError(f"{command.name} must not be sent to a bus")
    if not 0 <= address < 1 << 14:
        raise UsageError(f"no bus address {address}: 0 to 16383")
    high, low = address >> 7, address & 0x7F
    check = (command + high + low) & 0x7F
    return BUS_COMMAND.build({"command": command, "high": high, "low": low, "check": check})


def build_clock_command(command: ClockCommand, arguments: bytes = b"") -> bytes:
    """A clock command with its end byte (in use since 2012)."""
    body = bytes((0x03, command)) + arguments + b"\0"
    return bytes((DGT_CLOCK_MESSAGE, len(body))) + body


def build_clock_text(text: str, beep: int = 0) -> bytes:
    """Eight characters on a DGT 3000; beep in sixteenths of a second, 0 to 15."""
    return build_clock_command(ClockCommand.ASCII, text.ljust(8)[:8].encode("ascii") + bytes((beep,)))


def build_clock_times_set(left: Sequence[int], right: Sequence[int], control: int) -> bytes:
    """Hours, minutes, seconds in plain binary. control: 1 left counts down, 2 right does, 4 pause, 8 lever changes."""
    return build_clock_command(ClockCommand.SETNRUN, bytes((*left, *right, control)))


def build_leds(first: int, last: int, pattern: int = 1) -> bytes:
    """Revelation II only: other boards may freeze on it. Pattern 0 off, 1 on; off with fields 40 40 clears all."""
    return bytes((DGT_SET_LEDS, 4, pattern, first, last, 0))


def build_pegasus_leds(fields: Sequence[int], speed: int = 3, repeat: int = 1, brightness: int = 2) -> bytes:
    """Pegasus only; no fields: all off."""
    body = bytes((5, speed, repeat, brightness, *fields, 0)) if fields else bytes((0, 0))
    return bytes((DGT_SET_LEDS, len(body))) + body


_BUS_START = re.compile(rb"[\x80-\xff]")


def measure(buffer: bytearray) -> Cut | None:
    """How a board cuts what a host says."""
    first = buffer[0]
    if first in _COUNTED:
        size = 2 + buffer[1] if len(buffer) > 1 else None
        return Cut(size) if size and len(buffer) >= size else None
    if first < 0x80:
        return Cut(1)
    next_start = _BUS_START.search(buffer, 1, 4)
    if next_start:
        return Cut(next_start.start(), Reject.TRUNCATED)
    return Cut(4, None if sum(buffer[:3]) & 0x7F == buffer[3] else Reject.CHECKSUM) if len(buffer) >= 4 else None


def read_command(frame: bytes) -> Said:
    """What a frame cut by `measure` asks for."""
    if frame[0] in _COUNTED:
        return Said(frame[0], arguments=frame[2:])
    if frame[0] < 0x80:
        return Said(frame[0])
    return Said(frame[0], address=frame[1] << 7 | frame[2])
