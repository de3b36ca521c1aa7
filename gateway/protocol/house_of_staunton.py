"""House of Staunton / Zmartfun ``HOSBoard``: the whole position as hex digits.

Models: the boards that call themselves ``HOSBoard``.

Link: BLE, service ffe0, characteristic ffe1 both ways. USB-HID (vendor 0925) has the same content as bytes, but its
reports have nothing to find their beginning by and no recording shows their size, so it is not offered.

Sample: ``00432551346666666600..00CCCCCCCCA98BB79A,``  the start position

Layout::

    00 dd*32 ,         d  a square each, a1 b1 .. h8, but the two digits of a pair are exchanged
    FF.. ,             to be ignored

    digit: 6 P, 3 R, 4 N, 5 B, 2 Q, 1 K, C p, 9 r, A n, B b, 8 q, 7 k, all else empty

Check: none but the count.

Unknown: everything else; there is no handshake, no charge, and nothing that the board could be asked. A board that has
gone is known by its link only.

Sources: Programmierbaer/BearChess, its driver alone. One note that calls it a Certabo is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gateway.events import BoardDump, GameKind, Observation, Piece, Square
from gateway.protocol import Address, Decoder, Reject
from gateway.protocol.framing import Cut, Measure
from gateway.protocol.options import Option
from gateway.protocol.reading import Reading, RefusedError

SERVICE = "0000ffe0-0000-1000-8000-00805f9b34fb"
CHARACTERISTIC = "0000ffe1-0000-1000-8000-00805f9b34fb"

TEXT_SIZE = 66
LONGEST = 200
PIECES: Mapping[str, Piece] = dict(zip("634521C9AB87", "PRNBQKprnbqk", strict=True))
DIGITS: Mapping[Piece, str] = {piece: digit for digit, piece in PIECES.items()}
SQUARES: tuple[Square, ...] = tuple(
    f"{file}{rank}" for rank in range(1, 9) for pair in ("ab", "cd", "ef", "gh") for file in reversed(pair)
)
"""In the order of the digits."""

OPTIONS: tuple[Option, ...] = ()


class HouseOfStaunton(Reading):
    """One board."""

    def _measure(self, channel: str | None) -> Measure:
        return _measure

    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        text = frame[:-1].decode("latin-1").strip()
        if text.startswith("FF"):
            return []
        if len(text) < TEXT_SIZE:
            raise RefusedError(Reject.TRUNCATED)
        if not re.fullmatch(r"00[0-9A-Fa-f]{64}", text):
            raise RefusedError
        return [BoardDump(read_position(text[2:]))]


def read_position(digits: str) -> dict[Square, Piece]:
    """What stands, from 64 digits."""
    return {square: PIECES[digit] for square, digit in zip(SQUARES, digits.upper(), strict=True) if digit in PIECES}


def _measure(buffer: bytearray) -> Cut | None:
    end = buffer.find(b",", 0, LONGEST)
    if end >= 0:
        return Cut(end + 1)
    return Cut(LONGEST, Reject.SIZE) if len(buffer) >= LONGEST else None


def build_position(pieces: Mapping[Square, Piece]) -> bytes:
    """All that stands on the board."""
    digits = "".join(DIGITS[pieces[square]] if square in pieces else "0" for square in SQUARES)
    return f"00{digits},".encode("ascii")


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one board."""
    return HouseOfStaunton()


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> None:
    """The board is only listened to."""
