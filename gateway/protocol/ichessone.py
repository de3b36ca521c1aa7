"""iChessOne: the whole position on each change.

Models: iChessOne.

Link: BLE, Nordic UART, 34 bytes that may come in two pieces; USB serial 115200 8N1.

Sample: ``3d 70 a8 9b c9 8a 77 77 77 77 00 .. 11 11 11 11 42 35 63 24``  the start position

Layout::

    3d 70 pp*32        position; pp: two squares, a8 b8 .. h8, a7 .. h1, the first in the high nibble
    3d 62 ff cc        charge: ff 01 charging, cc percent
    host               CPIRQ positions on change, RP position, RB charge; no terminator

    square: 0 empty, 1 P, 2 N, 3 B, 4 R, 5 Q, 6 K, 7 p, 8 n, 9 b, a r, b q, c k

Check: none but the nibbles, none of which exceeds c.

Unknown or disputed:

* A table that gives this board the Millennium's ASCII frames contradicts two working programs and is not followed.
* USB-HID under Chessnut's vendor id, tried by one program: nothing is known of it.

Sources: JohanSjoblom/picochess (parser and its tests), Programmierbaer/BearChess. No recording is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gateway.events import Battery, BoardDump, GameKind, Observation, Piece, Square
from gateway.protocol import Address, Decoder, Dialogue, Reject
from gateway.protocol.asking import Asking, Questions
from gateway.protocol.framing import Cut, Measure
from gateway.protocol.options import Option, settle
from gateway.protocol.reading import Reading, RefusedError
from gateway.protocol.squares import CHESS_SQUARES

SIZES: Mapping[bytes, int] = {b"=p": 34, b"=b": 4}
PIECES = "PNBRQKpnbrqk"
"""Codes 1 to 12."""

POSITIONS_ON_CHANGE, ASK_POSITION, ASK_CHARGE = b"CPIRQ", b"RP", b"RB"

OPTIONS = (Option("silence_s", 2.0, "seconds of silence after which the board is asked whether it is there", 0.5),)


class IChessOne(Reading):
    """One board."""

    def _measure(self, channel: str | None) -> Measure:
        return _measure

    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        if len(frame) == SIZES[b"=b"]:
            if frame[3] > 100 or frame[2] > 1:
                raise RefusedError
            return [Battery(frame[3])]
        codes = [code for byte in frame[2:] for code in (byte >> 4, byte & 0x0F)]
        if max(codes) > len(PIECES):
            raise RefusedError
        placed = zip(CHESS_SQUARES, codes, strict=True)
        return [BoardDump({square: PIECES[code - 1] for square, code in placed if code})]


def _measure(buffer: bytearray) -> Cut | None:
    if buffer[0] != ord("=") or (len(buffer) > 1 and bytes(buffer[:2]) not in SIZES):
        start = buffer.find(b"=", 1)
        return Cut(len(buffer) if start < 0 else start, Reject.NOISE)
    if len(buffer) < 2 or len(buffer) < SIZES[bytes(buffer[:2])]:
        return None
    return Cut(SIZES[bytes(buffer[:2])])


# --- building: what a simulated board says ----------------------------------------------------------------------


def build_position(pieces: Mapping[Square, Piece]) -> bytes:
    """All that stands on the board."""
    codes = [PIECES.index(pieces[square]) + 1 if square in pieces else 0 for square in CHESS_SQUARES]
    return b"=p" + bytes(high << 4 | low for high, low in zip(codes[::2], codes[1::2], strict=True))


def build_charge(percent: int, charging: bool = False) -> bytes:
    """Charge."""
    return b"=b" + bytes((charging, percent))


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one board."""
    return IChessOne()


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """Positions come on change; silence and refused frames are answered with a question."""
    opening = (POSITIONS_ON_CHANGE, ASK_POSITION, ASK_CHARGE)
    silence_s = settle(OPTIONS, options)["silence_s"]
    return Asking(Questions(opening, (ASK_POSITION,), ASK_POSITION, ASK_CHARGE, silence_s=silence_s))
