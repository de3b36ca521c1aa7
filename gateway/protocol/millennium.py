"""Millennium ChessLink: the whole position, on a line of seven bits with odd parity.

Models: ChessLink module on ChessGenius Exclusive, The King Performance and Supreme Tournament 55; eONE, whose letters
are the firmware's guess and drift, so that only its occupancy is read (driver ``millennium_eone``).

Link: USB serial 38400 7O1 (FTDI); BLE, Microchip transparent UART, where the parity bit travels in the byte.

Sample: ``v0103 74`` without parity: ``76 b0 31 b0 b3 37 34``  firmware 0103
        ``s rnbqkbnr pppppppp ........ .. PPPPPPPP RNBQKBNR 73``  the start position

Layout::

    L pp .. cc         L  letter, p  payload, c  two hex digits: XOR of all characters before, seven bits each
    v hhhh cc          version                                        host: V 56
    s KQRNBPkqrnbp.*64 cc   position, sent on each scan (24 a second) or on change    host: S 53
    x cc, l cc, w aadd cc, r aadd cc   acknowledgements of LEDs and settings

Check: the XOR. Frames are cut by the letter's length only: board letters look like hex digits.

Choices where sources dispute:

* Order of the squares: the specification says a8 b8 .. h1, four programs read h1 g1 .. a8. Both are right, as the
  cable leaves on one side or the other. The first exact start position decides (option ``order``), and only another
  exact start position changes it, so it holds through a game. Until then h1 is first.
* Wrong parity: eONE and emulators send it. It is counted, not refused, unless ``strict_parity`` is set; a serial port
  has checked and removed it already.
* Model by version: two programs contradict each other and the one captured reply (0103). The version is told, and
  nothing follows from it.
* ``I`` (identity): three sources, three answers. Not asked.
* Settings are in permanent memory and are not written: twenty-four equal frames a second cost next to nothing here.
  A board that was told never to report is asked each ``silence_s``.
* 9600 8N1 in one table contradicts every other source.

Sources: domschl/python-mchess (magic-board.md and the captured version), mono424/chesslinkdriver, alstrup/chesslink,
JohanSjoblom/picochess, adrian-dybwad/Universal-Chess, Programmierbaer/BearChess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import xor
from typing import Any

from gateway.events import BoardDump, GameKind, Identity, Observation, Piece, Square
from gateway.protocol import Address, Decoder, Dialogue, Reject
from gateway.protocol.asking import Asking, Questions
from gateway.protocol.framing import Cut, Measure
from gateway.protocol.options import Option, settle
from gateway.protocol.reading import Reading, Repeats, taken
from gateway.protocol.squares import CHESS_SQUARES

SERVICE = "49535343-fe7d-4ae5-8fa9-9fafd205e455"
NOTIFY = "49535343-1e4d-4bd9-ba61-23c647249616"
WRITE = "49535343-8841-43f4-a8d4-ecbe34729bb3"

LENGTHS: Mapping[int, int] = {ord("v"): 7, ord("s"): 67, ord("x"): 3, ord("l"): 3, ord("w"): 7, ord("r"): 7}
"""Whole frames that a board sends."""
BOARD_LETTERS = frozenset(b"KQRNBPkqrnbp.")
HEX_DIGITS = frozenset(b"0123456789ABCDEF")

A8_FIRST = "rnbqkbnrpppppppp" + "." * 32 + "PPPPPPPPRNBQKBNR"
ORDERS: Mapping[str, tuple[Square, ...]] = {"a8": CHESS_SQUARES, "h1": CHESS_SQUARES[::-1]}

OPTIONS = (
    Option("order", "auto", "square that is reported first; auto: settled by the start position", pattern="auto|a8|h1"),
    Option("strict_parity", False, "refuse frames with wrong parity instead of counting them; BLE only"),
    Option("silence_s", 2.0, "seconds of silence after which the board is asked for its position", lowest=0.5),
)


class Millennium(Reading):
    """One board."""

    def __init__(self, options: Mapping[str, Any], senses_pieces: bool = True) -> None:
        super().__init__()
        settings = settle(OPTIONS, options)
        self.oddities: Counter[str] = Counter()
        """Things let pass that a technician may want to know of."""
        self._auto = settings["order"] not in ORDERS
        self._squares = ORDERS.get(settings["order"], ORDERS["h1"])
        self._strict: bool = settings["strict_parity"]
        self._senses_pieces = senses_pieces
        self._repeats = Repeats()

    def _measure(self, channel: str | None) -> Measure:
        return self._cut

    def _cut(self, buffer: bytearray) -> Cut | None:
        size = LENGTHS.get(buffer[0] & 0x7F)
        if size is None or not _plausible(buffer[:size]):
            start = next((at for at in range(1, len(buffer)) if buffer[at] & 0x7F in LENGTHS), len(buffer))
            return Cut(start, Reject.NOISE)
        if len(buffer) < size:
            return None
        characters = _seven_bits(buffer[:size])
        if int(characters[-2:], 16) != reduce(xor, characters[:-2]):
            return Cut(1, Reject.CHECKSUM)
        if self._strict and not all(map(_odd, buffer[:size])):
            return Cut(size, Reject.CHECKSUM)
        return Cut(size)

    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        if any(byte & 0x80 for byte in frame) and not all(map(_odd, frame)):
            self.oddities["parity"] += 1
        text = _seven_bits(frame).decode("ascii")
        if text[0] == "v":
            return [Identity("version", text[1:5])]
        if text[0] == "s" and not self._repeats.idle(text, at):
            return [BoardDump(self._position(text[1:65]))]
        return []

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        order = next(name for name, squares in ORDERS.items() if squares == self._squares)
        return super().state(at) | {"order": order, "repeats": self._repeats.state(at)}

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        super().restore(state, at)
        self._squares = ORDERS[state["order"]]
        self._repeats.restore(state["repeats"], at)

    def _position(self, letters: str) -> Mapping[Square, Piece]:
        if self._auto and letters in (A8_FIRST, A8_FIRST[::-1]):
            self._squares = ORDERS["a8" if letters == A8_FIRST else "h1"]
        placed = zip(self._squares, letters, strict=True)
        if not self._senses_pieces:
            return taken((square, letter != ".") for square, letter in placed)
        return {square: letter for square, letter in placed if letter != "."}


def _plausible(begun: bytearray) -> bool:
    """Whether what has come of a frame may be one: a letter, its payload, hex digits."""
    characters = _seven_bits(begun)
    size = LENGTHS[characters[0]]
    payload = BOARD_LETTERS if characters[0] == ord("s") else HEX_DIGITS
    return payload.issuperset(characters[1 : size - 2]) and HEX_DIGITS.issuperset(characters[size - 2 :])


def _seven_bits(data: bytes | bytearray) -> bytes:
    return bytes(byte & 0x7F for byte in data)


def _odd(byte: int) -> bool:
    return byte.bit_count() % 2 == 1


# --- building ---------------------------------------------------------------------------------------------------


def build_frame(text: str, parity: bool = True) -> bytes:
    """A letter with its payload, either way: checksum and, unless told otherwise, odd parity are added.

    A serial port of seven bits leaves our parity bit out and makes its own, so what is sent is the same on every link.
    """
    characters = text.encode("ascii")
    whole = characters + f"{reduce(xor, characters):02X}".encode("ascii")
    return bytes(byte if _odd(byte) or not parity else byte | 0x80 for byte in whole)


def build_position(pieces: Mapping[Square, Piece], order: str = "h1", parity: bool = True) -> bytes:
    """All that stands on the board."""
    return build_frame("s" + "".join(pieces.get(square, ".") for square in ORDERS[order]), parity)


ASK_VERSION, ASK_POSITION = build_frame("V"), build_frame("S")


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one board that knows its pieces."""
    return Millennium(options)


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """The version until it comes, then the position whenever there is silence."""
    silence_s = settle(OPTIONS, options)["silence_s"]
    return Asking(Questions((ASK_VERSION, ASK_POSITION), (ASK_POSITION,), ASK_POSITION, silence_s=silence_s))


class _Eone:
    """The eONE: the same line, but only occupancy is sensed."""

    OPTIONS = OPTIONS

    def decoder(self, games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
        return Millennium(options, senses_pieces=False)

    def dialogue(self, games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
        return dialogue(games, options)


EONE = _Eone()
