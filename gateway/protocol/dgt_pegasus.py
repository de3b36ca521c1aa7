"""DGT Pegasus: a DGT board's messages over BLE, with occupancy in the place of pieces.

Models: Pegasus; Centaur and others with firmware that imitates one.

Link: BLE, Nordic UART, no pairing. A name can be changed by any app, and other devices have the same service.

Sample: ``86 00 43 01 01 .. 00 .. 01 01``  32 fields are taken, the start position or none
        ``8e 00 05 34 00``  e2 became empty

Layout: that of `gateway.protocol.dgt`; a field holds 00 or 01, and whatever is not 00 is taken for occupied.

Choices where sources dispute:

* Only ``44`` asks for updates; the modes with a clock are not used by the one program written for this board.
* The developer key: both public ones are somebody's own. The operator's (option ``developer_key``, from DGT) is sent
  where there is one; whether a board wants it is not documented.
* The order of brightness values and much else of the lights: none is ever switched on here.
* The start position looks the same from both sides, so the way the board lies has to be configured.

Sources: adrian-dybwad/Universal-Chess (sniffed sessions), fianchettochess/BoardKit, EdNekebno/DGTCentaurMods (an
emulator). No raw session is public.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.events import BoardDump, FieldUpdate, GameKind, Observation
from gateway.protocol import Address, Decoder, Dialogue, Heard
from gateway.protocol.asking import Asking, Questions
from gateway.protocol.dgt import Dgt
from gateway.protocol.options import Option, settle

NORDIC_UART = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
NORDIC_WRITE = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
NORDIC_NOTIFY = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"

RESET, SERIAL, VERSION, TRADEMARK = b"\x40", b"\x45", b"\x4d", b"\x47"
ASK_POSITION, UPDATES, ASK_CHARGE = b"\x42", b"\x44", b"\x4c"
DEVELOPER_KEY = 0x63

OPTIONS = (
    Option("developer_key", "", "key from DGT, if the board wants one", pattern="([0-9A-Fa-f]{2})*"),
    Option("silence_s", 2.0, "seconds of silence after which the board is asked for its position", lowest=0.5),
)


class Pegasus:
    """One board."""

    def __init__(self) -> None:
        self._board = Dgt()

    def feed(self, data: bytes, at: float, channel: str | None = None) -> list[Heard]:
        """See `gateway.protocol.Decoder`."""
        return [(address, _unknown(told)) for address, told in self._board.feed(data, at, channel)]

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        return self._board.state(at)

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        self._board.restore(state, at)


def _unknown(told: Observation) -> Observation:
    """The same, of pieces that nobody can tell apart."""
    if isinstance(told, BoardDump):
        return BoardDump(dict.fromkeys(told.pieces, "?"))
    if isinstance(told, FieldUpdate) and told.piece is not None:
        return FieldUpdate(told.square, "?")
    return told


def build_developer_key(digits: str) -> bytes:
    """The key in its frame, from hex digits."""
    key = bytes.fromhex(digits)
    return bytes((DEVELOPER_KEY, len(key) + 1)) + key + b"\0"


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one board."""
    return Pegasus()


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """Who it is, what stands, and every change; then the position whenever there is silence."""
    settings = settle(OPTIONS, options)
    key = (build_developer_key(settings["developer_key"]),) if settings["developer_key"] else ()
    # Changes before the position: what happens between the two questions is told, and is in the answer too.
    opening = (RESET, SERIAL, VERSION, *key, TRADEMARK, UPDATES, ASK_POSITION, ASK_CHARGE)
    silence_s = settings["silence_s"]
    return Asking(Questions(opening, (ASK_POSITION,), ASK_POSITION, ASK_CHARGE, silence_s=silence_s))
