"""Every board and clock that the gateway can read: one entry each. `driver = "dgt"` in the configuration names one.

An entry joins a protocol with facts about the device. Support tables, udev rules and the check of the configuration
are made from here; nothing else in the package names a device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from gateway.drivers import Ble, Hid, Match, SerialSettings, Usb
from gateway.events import Device, GameKind
from gateway.protocol import (
    Address,
    Decoder,
    Dialogue,
    certabo,
    chessnut,
    chessup,
    cpp,
    dgt3000_ble,
    dgt_dialogue,
    dgt_pegasus,
    generic,
    house_of_staunton,
    ichessone,
    millennium,
    squareoff,
)
from gateway.protocol.options import Option, mistakes

_9600_8N1 = SerialSettings()
_38400_8N1 = SerialSettings(38400)
_38400_7O1 = SerialSettings(38400, 7, "O")
_115200_8N1 = SerialSettings(115200)

Games = Mapping[Address, GameKind]
Options = Mapping[str, Any]


class Family(Protocol):
    """What a protocol's module offers to the registry."""

    @property
    def OPTIONS(self) -> tuple[Option, ...]:  # noqa: N802 - a module's constant
        """What the operator can set."""

    def decoder(self, games: Games, options: Options) -> Decoder:
        """A new decoder for a port, given which game is played at which address."""

    def dialogue(self, games: Games, options: Options) -> Dialogue | None:
        """A new dialogue for such a port; None where a device is only listened to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of board or clock."""

    name: str
    title: str
    """For the list of supported devices."""
    family: Family
    games: tuple[GameKind, ...]
    senses: Literal["pieces", "occupancy"]
    clock: bool
    """Whether it tells a clock's times."""
    evidence: Literal["recorded", "documented", "reported"]
    """Decoded against recordings; against a maker's or several programs' description; against a single source."""
    matches: tuple[Match, ...] = ()
    serial: SerialSettings | None = _9600_8N1
    """None: never on a serial port."""
    device: Device = "board"
    bus: bool = False
    """Whether several tables may share its port, each with its address."""
    captures: int = 0
    """How many captures of real devices lie in tests/fixtures/NAME, each replayed by the tests."""
    silence_s: float | None = None
    """Of a device that talks all the time: silence that means it is gone. None: silence is tested by asking."""

    @property
    def options(self) -> tuple[Option, ...]:
        """What the operator can set."""
        return self.family.OPTIONS

    def mistakes(self, options: Options) -> list[str]:
        """All that is wrong with an [options] table, a sentence each."""
        return mistakes(self.options, options)


_CHESS: tuple[GameKind, ...] = ("chess", "chess960")
_ALL: tuple[GameKind, ...] = ("chess", "chess960", "draughts")

_FTDI = Usb(0x0403, 0x6001, generic=True)
_CP210X = Usb(0x10C4, 0xEA60, generic=True)
_CHESSNUT_HID = Hid(0x2D80, usage_page=0xFF00)


def _chessnut_ble(name: str) -> Ble:
    return Ble(name, chessnut.SERVICE, (chessnut.POSITIONS, chessnut.ANSWERS), chessnut.COMMANDS)


def _nordic_uart(name: str) -> Ble:
    """Half of all boards talk through this service; only the name tells whose it is."""
    service, write, notify = (f"6e40000{number}-b5a3-f393-e0a9-e50e24dcca9e" for number in (1, 2, 3))
    return Ble(name, service, (notify,), write)


def _neo(name: str) -> Ble:
    notify = (squareoff.NEO_EVENTS, squareoff.NEO_OCCUPANCY, squareoff.NORDIC_NOTIFY)
    return Ble(name, squareoff.NEO_SERVICE, notify, squareoff.NORDIC_WRITE)


_CHESSNUT: tuple[Match, ...] = (*map(_chessnut_ble, ("Chessnut", "Smart Chess", "CN Move")), _CHESSNUT_HID)
_MILLENNIUM = (_FTDI, Ble("MILLENNIUM CHESS", millennium.SERVICE, (millennium.NOTIFY,), millennium.WRITE))
_CERTABO = (_CP210X, _nordic_uart("Certabo"))
_HOS = (
    Ble("HOSBoard", house_of_staunton.SERVICE, (house_of_staunton.CHARACTERISTIC,), house_of_staunton.CHARACTERISTIC),
)
_CPP = (Ble("OPENCHESSBOARD", cpp.SERVICE, (cpp.NOTIFY,), cpp.WRITE),)
_DGT3000 = (Ble("DGT3000-Gateway", dgt3000_ble.SERVICE, (dgt3000_ble.NOTIFY,), dgt3000_ble.WRITE),)

# fmt: off
_ENTRIES = (
    Entry("dgt", "DGT e-board: serial, USB, Bluetooth, bus", dgt_dialogue, _ALL, "pieces", True, "recorded", (Usb(0x045B),), bus=True),  # noqa: E501
    Entry("dgt_pegasus", "DGT Pegasus", dgt_pegasus, _CHESS, "occupancy", False, "documented", (_nordic_uart("DGT_PEGASUS"),), serial=None),  # noqa: E501
    Entry("chessnut", "Chessnut Air, Air+, Pro, Go, Move", chessnut, _CHESS, "pieces", False, "documented", _CHESSNUT, serial=None),  # noqa: E501
    Entry("millennium", "Millennium ChessLink: Exclusive, King Performance, Tournament 55", millennium, _CHESS, "pieces", False, "documented", _MILLENNIUM, serial=_38400_7O1),  # noqa: E501
    Entry("millennium_eone", "Millennium eONE", millennium.EONE, _CHESS, "occupancy", False, "documented", _MILLENNIUM, serial=_38400_7O1),  # noqa: E501
    Entry("certabo", "Certabo; Tabutronic Cerno, Cerno Spectrum", certabo, _CHESS, "pieces", False, "recorded", _CERTABO, serial=_38400_8N1, silence_s=5.0),  # noqa: E501
    Entry("sentio", "Tabutronic Sentio, Sentio Spectrum, Tactum", certabo.SENTIO, _CHESS, "occupancy", False, "documented", _CERTABO, serial=_38400_8N1, silence_s=5.0),  # noqa: E501
    Entry("squareoff", "Square Off Pro", squareoff, _CHESS, "occupancy", False, "documented", tuple(map(_nordic_uart, ("Squareoff Pro", "Square Off Pro"))), serial=None),  # noqa: E501
    Entry("squareoff_neo", "Square Off Neo, Swap", squareoff.NEO, _CHESS, "occupancy", False, "recorded", tuple(map(_neo, ("Square Off Neo", "Square Off SWAP"))), serial=None),  # noqa: E501
    Entry("ichessone", "iChessOne", ichessone, _CHESS, "pieces", False, "documented", (_nordic_uart("iChessOne"),), serial=_115200_8N1),  # noqa: E501
    Entry("chessup", "ChessUp, ChessUp 2", chessup, _CHESS, "occupancy", False, "documented", (_nordic_uart("ChessUp"),), serial=None),  # noqa: E501
    Entry("house_of_staunton", "House of Staunton, Zmartfun (HOSBoard)", house_of_staunton, _CHESS, "pieces", False, "reported", _HOS, serial=None),  # noqa: E501
    Entry("cpp", "Home-made boards with the Chess Peripheral Protocol", cpp, _ALL, "occupancy", False, "documented", _CPP, serial=_115200_8N1),  # noqa: E501
    Entry("generic", "Any board that speaks the generic text protocol", generic, _ALL, "pieces", True, "documented", serial=_115200_8N1),  # noqa: E501
    Entry("dgt3000_ble", "DGT 3000 behind the open BLE gateway", dgt3000_ble, _ALL, "pieces", True, "reported", _DGT3000, serial=None, device="clock"),  # noqa: E501
)
# fmt: on

DRIVERS: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}

_HEAD = """\
# Printed from the registry by `python -m gateway.registry`; change the registry, not this file.
#
# Gives the gateway's user access to known boards, names their ports /dev/board/DRIVER-PORT, and starts the service
# when one is plugged in. Boards behind general-purpose USB serial chips (FTDI, CP210x, CH340, ...) are left out on
# purpose: such a chip may be anybody's device. For those, put the user into the group dialout and name the port in
# the configuration.
"""


def udev_rules(entries: Iterable[Entry] = tuple(DRIVERS.values())) -> str:
    """The udev file: a rule for each device that its ids tell apart."""
    rules = [rule for entry in entries for match in entry.matches if (rule := _udev_rule(entry.name, match))]
    return _HEAD + "".join(f"\n{rule}\n" for rule in rules)


def _udev_rule(name: str, match: Match) -> str | None:
    """None for what udev does not see (Bluetooth) or cannot tell apart."""
    if isinstance(match, Usb) and not match.generic:
        return _rule("tty", match, f'SYMLINK+="board/{name}-%k"')
    if isinstance(match, Hid):
        return _rule("hidraw", match, 'MODE="0660"')
    return None


def _rule(subsystem: str, match: Usb | Hid, naming: str) -> str:
    product = "" if match.pid is None else f', ATTRS{{idProduct}}=="{match.pid:04x}"'
    return (
        f'SUBSYSTEM=="{subsystem}", ATTRS{{idVendor}}=="{match.vid:04x}"{product}, GROUP="dialout", {naming}, '
        'TAG+="systemd", ENV{SYSTEMD_WANTS}+="board-gateway.service"'
    )


if __name__ == "__main__":
    print(udev_rules(), end="")
