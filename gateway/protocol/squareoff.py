"""Square Off: boards that sense occupancy. Read only: motors and lights are never spoken to.

Models: Pro (driver ``squareoff``); Neo and Swap (driver ``squareoff_neo``). Not the first generation (Kingdom Sets),
which reports its own moves only.

Link: BLE. Pro: Nordic UART. Neo and Swap: events on 4496994f-.., occupancy on 777ac5a4-.., charge on Nordic UART.

Sample: Pro ``0#e2u*``, ``30#1100001111000011..*``; Neo ``d2u``, ``1100001111000011..``

Layout::

    II#data*           Pro, ASCII; CR, LF and blanks around it are let go
    0#e2u*  0#e4d*     lifted, placed
    30#b*64*           occupancy, file by file: a1 .. a8, b1 .. h8; host: 30#R*
    14#GO*             ready for a new game
    22#3.52*           charge; host: 4#*
    d2u  d4d  OK       Neo: lifted, placed, motor ready; no terminator
    b*64               Neo: occupancy, no terminator, repeated

Check: none but the form.

Choices where sources dispute:

* Charge: volts, millivolts or the raw 4095.00, by firmware. No percentage can be told from it, so none is.
* What opens a conversation: each program has its own. ``14#1*`` restarts the board's game and is not sent, nor is
  ``!#*``, of which nobody knows the meaning; ``30#R*`` alone is answered.
* A Neo is asked nothing at all: what its app writes is not understood, and a path cut in two makes it disconnect. A
  Neo that has gone is known by its link only.

Sources: Klepvink/CircleOn, mono424/squareoffdriver, fianchettochess/BoardKit (Pro); karlic/MikoNeoDriver and the
packet captures beside it (Neo).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gateway.events import BoardDump, FieldUpdate, GameKind, Observation, Square
from gateway.protocol import Address, Decoder, Dialogue, Reject
from gateway.protocol.asking import Asking, Questions
from gateway.protocol.framing import Cut, Measure
from gateway.protocol.options import Option, settle
from gateway.protocol.reading import Reading, RefusedError, taken

NORDIC_UART = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
NORDIC_WRITE = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
NORDIC_NOTIFY = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
NEO_SERVICE = "3d0869ef-e8a4-4088-9459-5454e16820ac"
NEO_EVENTS = "4496994f-2600-4e7e-81d5-e0f7b67ebd48"
NEO_OCCUPANCY = "777ac5a4-6fa8-474b-841d-091bd57d28c4"

LONGEST_MESSAGE = 96
SQUARES: tuple[Square, ...] = tuple(f"{file}{rank}" for file in "abcdefgh" for rank in range(1, 9))
"""As occupancy is told: file by file."""

ASK_OCCUPANCY = b"30#R*"

OPTIONS = (Option("silence_s", 2.0, "seconds of silence after which the board is asked for its occupancy", 0.5),)

_MESSAGE = re.compile(r"(\d{1,3})#([^#*]*)\*")
_EVENT = re.compile(r"([a-h][1-8])([ud])")
_DIGITS = re.compile(r"[01]{64}")

SILENT_IDS = ("1", "4", "14", "22")
"""Known messages that are of no use to a table: address, charge, ready, charge."""


class SquareOff(Reading):
    """One board of any of these models; its characteristics tell the messages apart."""

    def _patience(self, channel: str | None) -> float | None:
        # On a Pro a CR LF may follow a message at once and stays until the next; no silence may break it.
        return 0.5 if channel in (NEO_EVENTS, NEO_OCCUPANCY) else None

    def _measure(self, channel: str | None) -> Measure:
        return {NEO_EVENTS: _measure_event, NEO_OCCUPANCY: _measure_digits}.get(channel or "", _measure_message)

    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        text = frame.decode("latin-1")
        if channel == NEO_EVENTS:
            return [] if text == "OK" else [_event(text)]
        if channel == NEO_OCCUPANCY:
            return [_occupancy(text)]
        message = _MESSAGE.fullmatch(text.strip("\r\n "))
        if message is None:
            raise RefusedError
        if message[1] == "0":
            return [_event(message[2])]
        if message[1] == "30":
            return [_occupancy(message[2])]
        if message[1] not in SILENT_IDS:
            raise RefusedError(Reject.UNKNOWN)
        return []


def _event(text: str) -> FieldUpdate:
    event = _EVENT.fullmatch(text)
    if event is None:
        raise RefusedError
    return FieldUpdate(event[1], None if event[2] == "u" else "?")


def _occupancy(text: str) -> BoardDump:
    if not _DIGITS.fullmatch(text):
        raise RefusedError
    return BoardDump(taken((square, digit == "1") for square, digit in zip(SQUARES, text, strict=True)))


def _measure_message(buffer: bytearray) -> Cut | None:
    end = buffer.find(b"*", 0, LONGEST_MESSAGE)
    if end >= 0:
        return Cut(end + 1)
    return Cut(LONGEST_MESSAGE, Reject.SIZE) if len(buffer) >= LONGEST_MESSAGE else None


def _measure_event(buffer: bytearray) -> Cut | None:
    begun = bytes(buffer[:3])
    if begun[:2] == b"OK":
        return Cut(2)
    whole = re.fullmatch(rb"O|[a-h](?:[1-8](?P<end>[ud])?)?", begun)
    if whole is None:
        return Cut(1, Reject.NOISE)
    return Cut(3) if whole["end"] else None


def _measure_digits(buffer: bytearray) -> Cut | None:
    run = re.match(rb"[01]{0,64}", buffer)
    size = run.end() if run else 0
    if size == 64:
        return Cut(64)
    if size == len(buffer):
        return None
    return Cut(size, Reject.TRUNCATED) if size else Cut(1, Reject.NOISE)


# --- building: what a simulated board says ----------------------------------------------------------------------


def digits(squares: Iterable[Square]) -> str:
    """Occupancy as 64 digits."""
    standing = set(squares)
    return "".join("01"[square in standing] for square in SQUARES)


def build_message(id_: int, data: str) -> bytes:
    """A message of a Pro."""
    return f"{id_}#{data}*".encode("ascii")


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one board."""
    return SquareOff()


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """A Pro is asked for its occupancy, and for nothing else."""
    silence_s = settle(OPTIONS, options)["silence_s"]
    return Asking(Questions((ASK_OCCUPANCY,), (ASK_OCCUPANCY,), ASK_OCCUPANCY, silence_s=silence_s))


class _Neo:
    """Neo and Swap: only listened to."""

    OPTIONS: tuple[Option, ...] = ()

    def decoder(self, games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
        return SquareOff()

    def dialogue(self, games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> None:
        return None


NEO = _Neo()
