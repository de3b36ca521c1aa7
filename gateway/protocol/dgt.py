"""DGT boards: what a single board says, and how to say it.

Models: serial, USB, Bluetooth and Smart Board e-boards, Revelation II, 10x10 draughts board; clocks on a board's jack
(XL, 2010, 3000). Boards on a shared bus speak `dgt_bus`; what the host asks is in `dgt_commands` and `dgt_dialogue`.

Link: 9600 8N1, no handshake; the same bytes over RFCOMM. Wired boards wake up in bus mode.

Sample: ``8e 00 05 34 00``  field 52 (e2) became empty
        ``8d 00 0a 20 05 05 20 05 04 09``  right 0:05:05, left 0:05:04, left runs, left lever side high

Layout of every message, board to host::

    II ss ss pp ...     I  id, bit 7 set; nothing else has bit 7
                        s  size of the whole message, 14 bits in two 7-bit bytes, most significant first
                        p  payload, laid out below

Check: none. A byte with bit 7 starts a message, so a broken one ends where the next begins; a flipped low bit is
seen only by comparing with a fresh dump.

Unknown or disputed:

* Which way bits 3 and 4 of the clock's status point: the vendor's edit of 2015 contradicts 1,755 recorded messages.
  The lever (bit 1) says who runs; a disagreement is counted in `Reader.oddities`.
* An "S bit" beside the piece code, named in a changelog of 2014 and never explained: masked away and counted.
* Draughts boards: no recording is public. Squares by board geometry; index of the 50-field dumps = square - 1; codes of
  the white king and the black man were exchanged in 2011, see `Reader._learn_codes`; fields above 63 in the log.
* Size of the battery message: 12 on the wire everywhere, 7 in the vendor's own constant. Both are read.

Sources: vendor header dgtbrd (1998 to 2017; jromang/picochess:test/dgtbrd-ruud.h, dgtbrd-marius.h), recordings of
arnsholt/dgtdriver, JohanSjoblom/picochess:dgt/board.py, mono424/dgtdriver, Serialbocks/dgt-py:dgtdrv/ee_moves.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from construct import Byte, Bytes, ConstructError, Struct

from gateway.errors import UsageError
from gateway.events import (
    Battery,
    BoardDump,
    BoardLog,
    ClockAbsent,
    ClockSide,
    ClockTimes,
    FieldUpdate,
    FrameRejected,
    GameKind,
    Identity,
    LogEntry,
    Observation,
    Piece,
    Square,
)
from gateway.protocol import Heard, Reject
from gateway.protocol.framing import Cut, Framer, Measure
from gateway.protocol.squares import CHESS_SQUARES, DRAUGHTS_SQUARES, PLAYING_SQUARES

# Ids on the wire: the vendor's message number with bit 7 set.
DGT_MSG_BOARD_DUMP = 0x86
DGT_MSG_BWTIME = 0x8D
DGT_MSG_FIELD_UPDATE = 0x8E
DGT_MSG_EE_MOVES = 0x8F
DGT_MSG_BUSADRES = 0x90
DGT_MSG_SERIALNR = 0x91
DGT_MSG_TRADEMARK = 0x92
DGT_MSG_VERSION = 0x93
DGT_MSG_BOARD_DUMP_50B = 0x94
DGT_MSG_BOARD_DUMP_50W = 0x95
DGT_MSG_HARDWARE_VERSION = 0x96
DGT_MSG_BATTERY_STATUS = 0xA0
DGT_MSG_LONG_SERIALNR = 0xA2
DGT_MSG_PEGASUS_A3 = 0xA3
DGT_MSG_LOCK_STATE = 0xA4
DGT_MSG_DEVKEY_STATE = 0xA5

HEADER = 3
LONGEST = 0x1F03
"""The full log: a ring buffer of 1F00 bytes and the header."""

PATIENCE_S = 0.5
"""Silence that breaks a message: 500 times a byte's own time, and what picochess waits."""


# --- layouts ----------------------------------------------------------------------------------------------------

FIELD_UPDATE = Struct("field" / Byte, "piece" / Byte).compile()
"""piece: low four bits."""

CLOCK_SIDE = Struct("hours" / Byte, "minutes" / Byte, "seconds" / Byte)
"""hours: low four bits, and the bits below; minutes, seconds: BCD."""

HOURS_FLAG_BLOCKED = 0x10
"""Flag fallen, the clock stands at zero."""
HOURS_PER_MOVE = 0x20
"""Increment or delay in use; nothing here needs it."""
HOURS_FLAG_SHOWN = 0x40
"""Flag fallen and shown; the clock may run on in the next period."""

BWTIME = Struct("right" / CLOCK_SIDE, "left" / CLOCK_SIDE, "status" / Byte).compile()

STATUS_RUNNING = 0x01
STATUS_RIGHT_HIGH = 0x02
STATUS_BATTERY_LOW = 0x04
STATUS_LEFT_TURN = 0x08
STATUS_RIGHT_TURN = 0x10
STATUS_NO_CLOCK = 0x20
"""Wins over every other field."""

VERSION = Struct("major" / Byte, "minor" / Byte).compile()

BUSADRES = Struct("high" / Byte, "low" / Byte).compile()
"""14 bits in two 7-bit bytes."""

BATTERY_STATUS = Struct(
    "percent" / Byte,
    "hours_left" / Byte,  # 7f: not available
    "minutes_left" / Byte,
    "hours_on" / Byte,
    "minutes_on" / Byte,
    "days_standby" / Byte,
    "hours_standby" / Byte,
    "minutes_standby" / Byte,
    "status" / Byte,  # bit 0 charging, bit 1 discharging
).compile()

CLOCK_ANSWER = Struct(
    "high_2_3" / Byte,  # bit 4: bit 7 of ack2; bit 5: bit 7 of ack3; low nibble 0a
    "ack0" / Byte,
    "ack1" / Byte,
    "high_0_1" / Byte,  # bit 4: bit 7 of ack0; bit 5: bit 7 of ack1; low nibble 0a
    "ack2" / Byte,
    "ack3" / Byte,
    "unused" / Byte,
).compile()
"""Shares its id with the times; 0a where the hours would be tells them apart."""

ANSWER_MARK = 0x0A

# The log: piece changes and readings have operands, tags stand alone.
EE_PIECE = Struct("what" / Byte, "field" / Byte).compile()
"""what: 40, the piece code, and bit 4 if it came less than about 250 ms after the entry before."""
EE_TIME = Struct("hours" / Byte, "minutes" / Byte, "seconds" / Byte).compile()
"""hours: 60 for the right side, 70 for the left, and the hours."""
EE_QUICK = 0x10

EE_TAGS: Mapping[int, str] = {
    0x6A: "power_up",
    0x6B: "end",
    0x6C: "four_rows",
    0x6D: "empty_board",
    0x6E: "downloaded",
    0x6F: "start_position",
    0x7A: "start_position_rotated",
    0x7B: "start_tag",
    0x7C: "watchdog_reset",
}
"""00, 7d, 7e, 7f and whatever else is filler."""
EE_TAG_BYTES: Mapping[str, int] = {tag: byte for byte, tag in EE_TAGS.items()}


@dataclass(frozen=True)
class Geometry:
    """A kind of board: its squares by field number, its pieces by code."""

    squares: tuple[Square, ...]
    pieces: tuple[Piece | None, ...]
    """By the low four bits of the code."""

    def field(self, square: Square) -> int:
        """The vendor's number of a square."""
        if square not in self.squares:
            raise UsageError(f"no square {square} on this board")
        return self.squares.index(square)

    def code(self, piece: Piece | None) -> int:
        """The vendor's code of a piece."""
        if piece == "?" or piece not in self.pieces:
            raise UsageError(f"no code for a piece {piece} on this board")
        return self.pieces.index(piece)


CHESS_PIECES: tuple[Piece | None, ...] = (None, *"PRNBKQprnbkqXYZ")
DRAUGHTS_PIECES: tuple[Piece | None, ...] = (None, *"w??b??W??B?????")
"""A chess piece that got onto a draughts board is a piece of unknown kind."""

CHESS = Geometry(CHESS_SQUARES, CHESS_PIECES)
DRAUGHTS = Geometry(DRAUGHTS_SQUARES, DRAUGHTS_PIECES)
GEOMETRY: Mapping[GameKind, Geometry] = {"chess": CHESS, "chess960": CHESS, "draughts": DRAUGHTS}

# Codes of the white king and the black man before 2011-10-21.
_EXCHANGED = bytes.maketrans(b"\x04\x07", b"\x07\x04")


# Parsed values are taken by key: attributes of a construct container are looked up in Python, at 1.4 us each.


# --- reading ----------------------------------------------------------------------------------------------------


class BadValueError(Exception):
    """A field holds what it cannot hold. Never leaves the protocol."""


class Reader:
    """What one board's payloads mean. Shared by the single board and the bus, whose envelopes differ."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.oddities: Counter[str] = Counter()
        """Things let pass that a technician may want to know of."""
        self._old_codes = False
        self._zero_seen = False

    def state(self) -> dict[str, Any]:
        """What it keeps from message to message, as plain JSON values."""
        return {"old_codes": self._old_codes, "zero_seen": self._zero_seen}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Undo `state`."""
        self._old_codes, self._zero_seen = bool(state["old_codes"]), bool(state["zero_seen"])

    def board_dump(self, payload: bytes) -> list[Observation]:
        """All fields; only the size tells an 8x8 board from a 10x10 one."""
        return [self._dump(self.geometry.squares, payload)]

    def half_dump(self, payload: bytes) -> list[Observation]:
        """The 50 playing squares of a draughts board."""
        if self.geometry is not DRAUGHTS:
            raise BadValueError
        return [self._dump(PLAYING_SQUARES, payload)]

    def field_update(self, payload: bytes) -> list[Observation]:
        """One field's new piece."""
        update = FIELD_UPDATE.parse(payload)
        return [FieldUpdate(self._square(update["field"]), self._piece(update["piece"]))]

    def clock(self, payload: bytes) -> list[Observation]:
        """Both times; nothing for an answer to a clock command, and for a reading that waits for its second."""
        if is_answer(payload):
            return []
        message = BWTIME.parse(payload)
        status: int = message["status"]
        if status & STATUS_NO_CLOCK:
            self._zero_seen = False
            return [ClockAbsent()]
        if not any(payload):  # Bluetooth boards with firmware 2.10 say this around a clock command
            raise BadValueError
        lever: ClockSide = "right" if status & STATUS_RIGHT_HIGH else "left"
        times = ClockTimes(
            left=_seconds(message["left"]),
            right=_seconds(message["right"]),
            running=lever if status & STATUS_RUNNING else None,
            lever=lever,
            flags=frozenset(side for side in ("left", "right") if _flag(message[side])),
            battery_low=bool(status & STATUS_BATTERY_LOW),
        )
        self._check_turn_bits(status)
        return [times] if self._believable(times) else []

    def log(self, payload: bytes, complete: bool) -> list[Observation]:
        """The board's own log, or a part of it; what is cut off at the end is left out."""
        return [BoardLog(tuple(self._log_entries(payload)), complete)]

    def _dump(self, squares: tuple[Square, ...], payload: bytes) -> BoardDump:
        if len(payload) != len(squares):
            raise BadValueError
        codes = bytes(code & 0x0F for code in payload)
        if self.geometry is DRAUGHTS:
            self._learn_codes(dict(zip(squares, codes, strict=True)))
        pieces = self.geometry.pieces
        if self._old_codes:
            codes = codes.translate(_EXCHANGED)
        placed = zip(squares, map(pieces.__getitem__, codes), strict=True)
        return BoardDump({square: piece for square, piece in placed if piece})

    def _learn_codes(self, codes: Mapping[Square, int]) -> None:
        """At the start position, and only there, the men's codes show if the board is older than October 2011.

        White men are 01 in both schemes, so the twenty other pieces are black men: 04 today, 07 before.
        """
        if any(code for square, code in codes.items() if not square.isdigit() or 20 < int(square) < 31):
            return
        top = {codes[square] for square in PLAYING_SQUARES[:20]}
        bottom = {codes[square] for square in PLAYING_SQUARES[30:]}
        men = top | bottom
        if len(top) == len(bottom) == 1 and men in ({0x01, 0x04}, {0x01, 0x07}):
            self._old_codes = 0x07 in men

    def _square(self, field: int) -> Square:
        squares = self.geometry.squares
        if field >= len(squares):
            raise BadValueError
        return squares[field]

    def _piece(self, code: int) -> Piece | None:
        if code & 0xF0:
            self.oddities["piece_high_bits"] += 1
            code &= 0x0F
        if self._old_codes:
            code = _EXCHANGED[code]
        return self.geometry.pieces[code]

    def _check_turn_bits(self, status: int) -> None:
        turn = status & (STATUS_LEFT_TURN | STATUS_RIGHT_TURN)
        if turn and turn != (STATUS_RIGHT_TURN if status & STATUS_RIGHT_HIGH else STATUS_LEFT_TURN):
            self.oddities["turn_bits"] += 1

    def _believable(self, times: ClockTimes) -> bool:
        """Both sides at zero, running, and no flag: true only if said twice."""
        suspicious = times.running is not None and not (times.left or times.right or times.flags)
        believed = self._zero_seen or not suspicious
        self._zero_seen = suspicious
        return believed

    def _log_entries(self, data: bytes) -> Iterable[LogEntry]:
        at = 0
        while at < len(data):
            first = data[at]
            if first & 0xE0 == 0x40:
                size, entry = 2, self._logged_piece(data[at : at + 2])
            elif first & 0xE0 == 0x60 and first & 0x0F <= 9:
                size, entry = 3, _logged_time(data[at : at + 3])
            else:
                size, entry = 1, LogEntry(tag=EE_TAGS[first]) if first in EE_TAGS else None
            if entry:
                yield entry
            at += size

    def _logged_piece(self, data: bytes) -> LogEntry | None:
        if len(data) < 2 or data[1] >= len(self.geometry.squares):
            return None
        change = EE_PIECE.parse(data)
        return LogEntry(
            square=self._square(change["field"]),
            piece=self._piece(change["what"] & 0x0F),
            quick=bool(change["what"] & EE_QUICK),
        )


def _logged_time(data: bytes) -> LogEntry | None:
    if len(data) < 3:
        return None
    try:
        return LogEntry(clock="left" if data[0] & 0x10 else "right", reading=_seconds(EE_TIME.parse(data)))
    except BadValueError:
        return None


def _seconds(side: Any) -> float:
    hours = side["hours"] & 0x0F
    if hours > 9:
        raise BadValueError
    return float(hours * 3600 + _from_bcd(side["minutes"]) * 60 + _from_bcd(side["seconds"]))


def _from_bcd(byte: int) -> int:
    tens, ones = byte >> 4, byte & 0x0F
    if tens > 5 or ones > 9:
        raise BadValueError
    return tens * 10 + ones


def _flag(side: Any) -> bool:
    return bool(side["hours"] & (HOURS_FLAG_BLOCKED | HOURS_FLAG_SHOWN))


class ClockAnswer(NamedTuple):
    """A clock's answer to a command, or a button. The gateway sends no clock commands and has no use for it."""

    ack0: int
    """10 accepted, 40 refused, 20 unknown."""
    ack1: int
    """The command; bit 7: sent without being asked."""
    ack2: int
    ack3: int


def is_answer(payload: bytes) -> bool:
    """Whether a message 8d answers a clock command, and holds no times."""
    return payload[0] & 0x0F == ANSWER_MARK or payload[3] & 0x0F == ANSWER_MARK


def read_clock_answer(payload: bytes) -> ClockAnswer:
    """Put the four bytes together again that were spread over seven-bit ones."""
    packed = CLOCK_ANSWER.parse(payload)
    return ClockAnswer(
        packed.ack0 | (packed.high_0_1 & 0x10) << 3,
        packed.ack1 | (packed.high_0_1 & 0x20) << 2,
        packed.ack2 | (packed.high_2_3 & 0x10) << 3,
        packed.ack3 | (packed.high_2_3 & 0x20) << 2,
    )


def _text(payload: bytes) -> str:
    return payload.replace(b"\0", b" ").decode("ascii").strip()


def _serial(_: Reader, payload: bytes) -> list[Observation]:
    """Five digits; the form of 1998 adds the storage version behind a space."""
    words = _text(payload).split()
    if not words:
        raise BadValueError
    return [Identity("serial", words[0])]


def _long_serial(_: Reader, payload: bytes) -> list[Observation]:
    text = _text(payload)
    if not text:
        raise BadValueError
    return [Identity("long_serial", text)]


def _trademark(_: Reader, payload: bytes) -> list[Observation]:
    return [Identity("trademark", _text(payload))]


def read_version(payload: bytes) -> str:
    """3.1 and 3.10 are two versions."""
    version = VERSION.parse(payload)
    return f"{version.major}.{version.minor}"


def _version(_: Reader, payload: bytes) -> list[Observation]:
    return [Identity("version", read_version(payload))]


def _hardware_version(_: Reader, payload: bytes) -> list[Observation]:
    return [Identity("hardware_version", read_version(payload))]


def _bus_address(_: Reader, payload: bytes) -> list[Observation]:
    address = BUSADRES.parse(payload)
    return [Identity("bus_address", str(address.high << 7 | address.low))]


def _battery(_: Reader, payload: bytes) -> list[Observation]:
    percent = BATTERY_STATUS.parse(payload.ljust(9, b"\0")).percent
    if percent > 100:
        raise BadValueError
    return [Battery(percent)]


def _log(reader: Reader, payload: bytes) -> list[Observation]:
    return reader.log(payload, complete=True)


def _nothing(_: Reader, __: bytes) -> list[Observation]:
    """Pegasus states: known, and of no use to a table."""
    return []


class Message(NamedTuple):
    """Sizes a message can have, and what it says."""

    sizes: Collection[int]
    read: Callable[[Reader, bytes], list[Observation]]


ANY_SIZE = range(HEADER, LONGEST + 1)

MESSAGES: Mapping[int, Message] = {
    DGT_MSG_BOARD_DUMP: Message((67, 103), Reader.board_dump),
    DGT_MSG_BWTIME: Message((10,), Reader.clock),
    DGT_MSG_FIELD_UPDATE: Message((5,), Reader.field_update),
    DGT_MSG_EE_MOVES: Message(ANY_SIZE, _log),
    DGT_MSG_BUSADRES: Message((5,), _bus_address),
    DGT_MSG_SERIALNR: Message((8, 12), _serial),
    DGT_MSG_TRADEMARK: Message(ANY_SIZE, _trademark),
    DGT_MSG_VERSION: Message((5,), _version),
    DGT_MSG_BOARD_DUMP_50B: Message((53,), Reader.half_dump),
    DGT_MSG_BOARD_DUMP_50W: Message((53,), Reader.half_dump),
    DGT_MSG_HARDWARE_VERSION: Message((5,), _hardware_version),
    DGT_MSG_BATTERY_STATUS: Message(range(4, 13), _battery),
    DGT_MSG_LONG_SERIALNR: Message((13,), _long_serial),
    DGT_MSG_PEGASUS_A3: Message((4,), _nothing),
    DGT_MSG_LOCK_STATE: Message((4,), _nothing),
    DGT_MSG_DEVKEY_STATE: Message((4,), _nothing),
}

_MESSAGE_START = re.compile(rb"[\x80-\xff]")


def measure(sizes: Mapping[int, Collection[int]]) -> Measure:
    """How to cut a stream of messages of these sizes; an unlisted id may have any size."""

    def cut(buffer: bytearray) -> Cut | None:
        next_start = _MESSAGE_START.search(buffer, 1, LONGEST)
        intact = next_start.start() if next_start else min(len(buffer), LONGEST)
        if buffer[0] < 0x80:
            return Cut(intact, Reject.NOISE)
        if intact >= HEADER:
            size = buffer[1] << 7 | buffer[2]
            if size not in sizes.get(buffer[0], ANY_SIZE):
                return Cut(HEADER, Reject.SIZE)
            if intact >= size:
                return Cut(size)
        return Cut(intact, Reject.TRUNCATED) if next_start else None

    return cut


class Dgt:
    """One board on its own port."""

    def __init__(self, geometry: Geometry = CHESS) -> None:
        self.reader = Reader(geometry)
        self._framer = Framer(measure({id_: message.sizes for id_, message in MESSAGES.items()}), PATIENCE_S)

    def feed(self, data: bytes, at: float, channel: str | None = None) -> list[Heard]:
        """See `gateway.protocol.Decoder`."""
        heard: list[Heard] = []
        for found in self._framer.feed(data, at):
            if isinstance(found, FrameRejected):
                heard.append((None, found))
            else:
                heard.extend((None, observation) for observation in self._read(found))
        return heard

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        return {"framer": self._framer.state(at), "reader": self.reader.state()}

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        self._framer.restore(state["framer"], at)
        self.reader.restore(state["reader"])

    def _read(self, frame: bytes) -> list[Observation]:
        message = MESSAGES.get(frame[0])
        if message is None:
            return [FrameRejected(Reject.UNKNOWN, len(frame))]
        try:
            return message.read(self.reader, frame[HEADER:])
        except (BadValueError, ConstructError):
            return [FrameRejected(Reject.VALUE, len(frame))]


# --- building: what a simulated board says ----------------------------------------------------------------------


def build_message(id_: int, payload: bytes) -> bytes:
    """The envelope."""
    size = HEADER + len(payload)
    if size > LONGEST or any(byte & 0x80 for byte in payload):
        raise UsageError(f"no message {id_:02x} can hold {len(payload)} bytes {payload[:8].hex()}..")
    return bytes((id_, size >> 7, size & 0x7F)) + payload


def dump_payload(pieces: Mapping[Square, Piece], geometry: Geometry = CHESS) -> bytes:
    """All fields of a board."""
    codes = bytearray(len(geometry.squares))
    for square, piece in pieces.items():
        codes[geometry.field(square)] = geometry.code(piece)
    return bytes(codes)


def half_dump_payload(pieces: Mapping[Square, Piece]) -> bytes:
    """The 50 playing squares; what stands on light squares is not seen."""
    return bytes(DRAUGHTS.code(pieces.get(square)) for square in PLAYING_SQUARES)


def clock_payload(times: ClockTimes) -> bytes:
    """Times as recorded from real clocks: whole seconds, turn bits as the lever lies, a flag final once stopped."""
    if times.running == "both":
        raise UsageError("a DGT clock cannot say that both sides run")
    lever = times.running or times.lever or "left"
    flag = HOURS_FLAG_SHOWN if times.running else HOURS_FLAG_BLOCKED
    status = STATUS_RIGHT_HIGH | STATUS_RIGHT_TURN if lever == "right" else STATUS_LEFT_TURN
    status |= STATUS_RUNNING if times.running else 0
    status |= STATUS_BATTERY_LOW if times.battery_low else 0

    def side(which: ClockSide, seconds: float) -> dict[str, int]:
        shown = _shown(seconds)
        shown["hours"] |= flag if which in times.flags else 0
        return shown

    return _bytes(BWTIME, {"right": side("right", times.right), "left": side("left", times.left), "status": status})


def log_payload(entries: Iterable[LogEntry], geometry: Geometry = CHESS) -> bytes:
    """Entries of a log, in order."""
    return b"".join(_log_bytes(entry, geometry) for entry in entries)


def _log_bytes(entry: LogEntry, geometry: Geometry) -> bytes:
    if entry.tag is not None:
        return bytes((EE_TAG_BYTES[entry.tag],))
    if entry.square is not None:
        what = 0x40 | geometry.code(entry.piece) | (EE_QUICK if entry.quick else 0)
        return _bytes(EE_PIECE, {"what": what, "field": geometry.field(entry.square)})
    shown = _shown(entry.reading or 0)
    shown["hours"] |= 0x70 if entry.clock == "left" else 0x60
    return _bytes(EE_TIME, shown)


def build_board_dump(pieces: Mapping[Square, Piece], geometry: Geometry = CHESS) -> bytes:
    """All that stands on the board."""
    return build_message(DGT_MSG_BOARD_DUMP, dump_payload(pieces, geometry))


def build_half_dump(pieces: Mapping[Square, Piece], id_: int = DGT_MSG_BOARD_DUMP_50B) -> bytes:
    """All that stands on the 50 playing squares."""
    return build_message(id_, half_dump_payload(pieces))


def build_field_update(square: Square, piece: Piece | None, geometry: Geometry = CHESS) -> bytes:
    """One square's new piece, or None."""
    update = {"field": geometry.field(square), "piece": geometry.code(piece)}
    return build_message(DGT_MSG_FIELD_UPDATE, _bytes(FIELD_UPDATE, update))


def build_clock_times(times: ClockTimes) -> bytes:
    """Both times, cut to whole seconds."""
    return build_message(DGT_MSG_BWTIME, clock_payload(times))


def build_clock_absent() -> bytes:
    """No clock on the jack."""
    return build_message(DGT_MSG_BWTIME, bytes((0, 0, 0, 0, 0, 0, STATUS_NO_CLOCK)))


def build_clock_answer(answer: ClockAnswer) -> bytes:
    """A clock's answer, its bytes spread over seven-bit ones."""
    ack0, ack1, ack2, ack3 = answer
    packed = {
        "high_2_3": ANSWER_MARK | (ack2 & 0x80) >> 3 | (ack3 & 0x80) >> 2,
        "ack0": ack0 & 0x7F,
        "ack1": ack1 & 0x7F,
        "high_0_1": ANSWER_MARK | (ack0 & 0x80) >> 3 | (ack1 & 0x80) >> 2,
        "ack2": ack2 & 0x7F,
        "ack3": ack3 & 0x7F,
        "unused": 0,
    }
    return build_message(DGT_MSG_BWTIME, _bytes(CLOCK_ANSWER, packed))


def build_serial(digits: str) -> bytes:
    """Five digits."""
    return build_message(DGT_MSG_SERIALNR, _bytes(Bytes(5), digits.zfill(5).encode("ascii")))


def build_long_serial(text: str) -> bytes:
    """Ten characters."""
    return build_message(DGT_MSG_LONG_SERIALNR, _bytes(Bytes(10), text.zfill(10).encode("ascii")))


def build_trademark(text: str) -> bytes:
    """Maker, copyright and versions, several lines."""
    return build_message(DGT_MSG_TRADEMARK, text.encode("ascii"))


def build_version(major: int, minor: int) -> bytes:
    """Firmware version."""
    return build_message(DGT_MSG_VERSION, _bytes(VERSION, {"major": major, "minor": minor}))


def build_hardware_version(major: int, minor: int) -> bytes:
    """Hardware version, as a Pegasus says it."""
    return build_message(DGT_MSG_HARDWARE_VERSION, _bytes(VERSION, {"major": major, "minor": minor}))


def build_bus_address(address: int) -> bytes:
    """The address the board would have on a bus."""
    return build_message(DGT_MSG_BUSADRES, _bytes(BUSADRES, {"high": address >> 7, "low": address & 0x7F}))


def build_battery(percent: int, charging: bool = False) -> bytes:
    """Charge; the times are not available, as most boards say."""
    unknown = dict.fromkeys(("hours_on", "minutes_on", "days_standby", "hours_standby", "minutes_standby"), 0)
    status = {"percent": percent, "hours_left": 0x7F, "minutes_left": 0x7F, "status": 1 if charging else 2, **unknown}
    return build_message(DGT_MSG_BATTERY_STATUS, _bytes(BATTERY_STATUS, status))


def build_log(entries: Iterable[LogEntry], geometry: Geometry = CHESS) -> bytes:
    """The answer to a request for the log."""
    return build_message(DGT_MSG_EE_MOVES, log_payload(entries, geometry))


def _bytes(layout: Any, values: Any) -> bytes:
    return cast(bytes, layout.build(values))


def _shown(seconds: float) -> dict[str, int]:
    """A time as the clock's digits: whole seconds, up to 9:59:59."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if not 0 <= hours <= 9:
        raise UsageError(f"a DGT clock cannot show {seconds} s")
    return {"hours": hours, "minutes": _bcd(minute), "seconds": _bcd(second)}


def _bcd(number: int) -> int:
    tens, ones = divmod(number, 10)
    return tens << 4 | ones
