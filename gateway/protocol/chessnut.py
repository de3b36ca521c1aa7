"""Chessnut boards: the whole position, several times a second.

Models: Air, Air+, Pro, Go over BLE and USB-HID; Move over BLE (its motors are never used). Not the Evo, which is a
computer of its own and speaks otherwise.

Link: BLE, positions on 1b7e8262-.., answers and charge on 1b7e8273-..; HID, vendor 2d80, usage page ff00. A link that
carries only 20 bytes at a time cuts positions short for good; then nothing can be read.

Sample: ``01 24 58 23 31 85 44 44 44 44 00 .. 77 77 77 77 a6 c9 9b 6a 10 27 00 00``  the start position

Layout::

    OO LL dd ..        O  opcode, L  length of the rest, d  data
    01 24 pp*32 tt*4   position over BLE; pp: two squares, h8 g8 .. a8, h7 .. a1, the first in the low nibble
    01 22 pp*32 tt*2   the same, as one program has it
    01 3d pp*32 uu*31  position over HID, a report of 65 bytes; its length byte says 63
    2a 02 cc ff        charge: low 7 bits of cc in percent, bit 7 of cc or ff = 1 charging
    41 03 0c ff cc     charge of a Move
    23 01 ss           acknowledgement of anything; ss 01: not ready
    28 nn text         firmware version

    square: 0 empty, 1 q, 2 k, 3 b, 4 p, 5 n, 6 R, 7 P, 8 r, 9 B, a N, b Q, c K

Check: none but the nibbles, none of which exceeds c, and one king a side. A position of which only a part came is
dropped when the next begins: they come 200 ms apart, and the pieces of one follow each other at once. Where it was
joined with the next all the same, there are mostly two kings.

Unknown or disputed:

* The four bytes after the position: a clock of the board's own, by two sources. Not used.
* Which byte of the charge says that it is charging: either does here. A charge of 0 is said by mistake and ignored.
* The end of a HID report, and its size where the system leaves the padding out: 63 to 65 bytes are read.
* Whether HID answers a question for the charge: the descriptor has output reports 21 and 0a only. A silent board is
  therefore asked in two ways.
* 21 01 00 is an answer in one list of constants; everybody else sends it.

Sources: chessnutech/Chessnut_eBoards, chess_move_api and EasyLinkSDK; G. O'Neill's note in rmarabini/chessnutair;
JohanSjoblom/picochess, staubsauger/ChessnutPy. No recording is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gateway.events import Battery, BoardDump, GameKind, Identity, Observation, Piece, Square
from gateway.protocol import Address, Decoder, Dialogue, Reject
from gateway.protocol.asking import Asking, Questions
from gateway.protocol.framing import Cut, Measure
from gateway.protocol.options import Option, settle
from gateway.protocol.reading import Reading, RefusedError, Repeats

SERVICE = "1b7e8261-2877-41c3-b46e-cf057c562023"
POSITIONS = "1b7e8262-2877-41c3-b46e-cf057c562023"
COMMANDS = "1b7e8272-2877-41c3-b46e-cf057c562023"
ANSWERS = "1b7e8273-2877-41c3-b46e-cf057c562023"

POSITION, ACKNOWLEDGED, VERSION, CHARGE, GAMES, MOVE, BUTTON = 0x01, 0x23, 0x28, 0x2A, 0x32, 0x41, 0x0F
BLE_POSITION, SHORT_POSITION, HID_POSITION = 0x24, 0x22, 0x3D

LENGTHS: Mapping[int, Iterable[int]] = {
    POSITION: (BLE_POSITION, SHORT_POSITION, HID_POSITION),
    ACKNOWLEDGED: (1,),
    VERSION: range(1, 65),
    CHARGE: (2,),
    GAMES: (1,),
    MOVE: range(2, 0x8A),
    BUTTON: range(1, 4),
}
"""Second byte of each message that a board sends."""

HID_SIZE, HID_TAIL, HID_MISSING = 34, 31, 2
"""Of a HID position: the part that is read, what follows, and how much of that may be missing."""

START_REALTIME = bytes.fromhex("210100")
ASK_CHARGE = bytes.fromhex("290100")

SQUARES: tuple[Square, ...] = tuple(f"{file}{rank}" for rank in range(8, 0, -1) for file in "hgfedcba")
PIECES = "qkbpnRPrBNQK"
"""Codes 1 to 12."""

OPTIONS = (Option("silence_s", 2.0, "seconds of silence after which the board is asked whether it is there", 0.5),)


class Chessnut(Reading):
    """One board."""

    patience = 0.1

    def __init__(self) -> None:
        super().__init__()
        self._repeats = Repeats()

    def _measure(self, channel: str | None) -> Measure:
        return _Reports()

    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        if frame[0] == POSITION and len(frame) >= HID_SIZE:
            squares = frame[2:HID_SIZE]
            return [] if self._repeats.idle(squares, at) else [BoardDump(_pieces(squares))]
        if frame[0] == CHARGE and len(frame) == 4:
            return _charge(frame[2] & 0x7F)
        if frame[:3] == b"\x41\x03\x0c":
            return _charge(frame[4])
        if frame[0] == VERSION and len(frame) > 2:
            text = frame[2:].strip(b"\0 ")
            if not text.isascii():
                raise RefusedError
            return [Identity("version", text.decode("ascii"))]
        return []

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        return super().state(at) | {"repeats": self._repeats.state(at)}

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        super().restore(state, at)
        self._repeats.restore(state["repeats"], at)


class _Reports:
    """Messages by their length; behind a HID position whatever fills the report, without saying anything."""

    def __init__(self) -> None:
        self.memory = 0
        """Filling bytes that may still follow."""

    def __call__(self, buffer: bytearray) -> Cut | None:
        if self.memory:
            return self._cut_tail(buffer)
        if not _begins(buffer):
            start = next((at for at in range(1, len(buffer)) if buffer[at] in LENGTHS), len(buffer))
            return Cut(start, Reject.NOISE)
        if len(buffer) < 2:
            return None
        size = buffer[1] + 2
        if (buffer[0], buffer[1]) == (POSITION, HID_POSITION):
            size = HID_SIZE
        if len(buffer) < size:
            return None
        self.memory = HID_TAIL if size == HID_SIZE else 0
        return Cut(size)

    def _cut_tail(self, buffer: bytearray) -> Cut | None:
        """One byte at a time: the last ones may be missing, and the next message shows it."""
        if self.memory <= HID_MISSING:
            if len(buffer) < 2 and buffer[0] == POSITION:
                return None
            if buffer[0] == POSITION and buffer[1] == HID_POSITION:
                self.memory = 0
                return self(buffer)
        # A frame of one byte says nothing, whatever the byte.
        self.memory -= 1
        return Cut(1)


def _begins(buffer: bytearray) -> bool:
    lengths = LENGTHS.get(buffer[0])
    return lengths is not None and (len(buffer) < 2 or buffer[1] in lengths)


def _pieces(squares: bytes) -> dict[Square, Piece]:
    codes = [code for byte in squares for code in (byte & 0x0F, byte >> 4)]
    if max(codes) > len(PIECES):
        raise RefusedError
    if any(codes.count(PIECES.index(king) + 1) > 1 for king in "Kk"):
        raise RefusedError
    return {square: PIECES[code - 1] for square, code in zip(SQUARES, codes, strict=True) if code}


def _charge(percent: int) -> list[Observation]:
    if percent > 100:
        raise RefusedError
    return [Battery(percent)] if percent else []


# --- building: what a simulated board says ----------------------------------------------------------------------


def position_bytes(pieces: Mapping[Square, Piece]) -> bytes:
    """64 squares in 32 bytes."""
    codes = [PIECES.index(pieces[square]) + 1 if square in pieces else 0 for square in SQUARES]
    return bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2], strict=True))


def build_position(pieces: Mapping[Square, Piece], uptime: int = 0) -> bytes:
    """All that stands on the board, as over BLE."""
    return bytes((POSITION, BLE_POSITION)) + position_bytes(pieces) + uptime.to_bytes(4, "little")


def build_hid_report(pieces: Mapping[Square, Piece]) -> bytes:
    """All that stands on the board, as over USB."""
    return bytes((POSITION, HID_POSITION)) + position_bytes(pieces) + bytes(HID_TAIL)


def build_charge(percent: int, charging: bool = False) -> bytes:
    """Charge."""
    return bytes((CHARGE, 2, percent, charging))


def build_acknowledgement(ready: bool = True) -> bytes:
    """Answer to anything."""
    return bytes((ACKNOWLEDGED, 1, not ready))


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one board."""
    return Chessnut()


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """Positions are asked for once, then they come; the maker wants 200 ms between two writes."""
    silence_s = settle(OPTIONS, options)["silence_s"]
    opening = (START_REALTIME, ASK_CHARGE)
    return Asking(Questions(opening, opening[::-1], regular=ASK_CHARGE, silence_s=silence_s, gap_s=0.25))
