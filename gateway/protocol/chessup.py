"""ChessUp: a board that plays by the rules itself, and streams what its squares hold when asked.

Models: ChessUp, ChessUp 2 (Bryght Labs).

Link: BLE, Nordic UART, writes with response; the state exceeds 20 bytes.

Sample: ``a3 35 04 01 04 03``  e2-e4
        ``fd fd ff ff 00 00 00 00 ef ff``  all stand but the piece of e2

Layout::

    a3 35 c r c r      a move, column and row from 0; repeated until acknowledged by host 21
    97 p               promotion to 1 R, 2 N, 3 B, 4 Q; acknowledged by host 23
    fd fd oo*8         occupancy, ranks 8 .. 1, bit 0 = file a; on change after host 50
    67 ss*64 tt xx*8   state: squares a1 b1 .. h8, then turn, castling, en passant, counters; host 67
    b2 tt*16           about the board; b8 s p touched; bb released; b1, 22, 23, 24, 26 answers; 33 f charging

    square of the state: 0 P, 1 R, 2 N, 3 B, 4 Q, 5 K, + 8 black; 40 empty

Check: none, and no length; what a byte cannot hold shows a wrong start.

The letters of the state are the board's own reckoning and not sensed, so only what is taken is told here, and once the
raw stream has come it alone says where things stand: the state follows only when a move is complete.

Choices where sources dispute:

* Moves (a3) come only in a game that the host has opened with b9; a wrong opening has put one board into its firmware
  update. So none is opened unless option ``open_game`` is set, and only once: a second b9 restarts the game.
* The state has 73 bytes; one program says 72.
* What is charging: 33, or 31 by another program. Neither tells a percentage.
* A move out of range is refused, and acknowledged all the same, as the board would repeat it until the link drops.

Sources: fianchettochess/BoardKit (tests with a recorded game), patchamama/chessboard-link, atomice1/bluecheese,
mono424/chessupdriver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gateway.events import BoardDump, FieldUpdate, FrameRejected, GameKind, Identity, Observation, Square
from gateway.protocol import Address, Decoder, Dialogue, Reject, ago, moment
from gateway.protocol.asking import Asking, Questions
from gateway.protocol.framing import Cut, Measure
from gateway.protocol.options import Option, settle
from gateway.protocol.reading import Reading, RefusedError, taken
from gateway.protocol.squares import CHESS_SQUARES

NORDIC_UART = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
NORDIC_WRITE = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
NORDIC_NOTIFY = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"

MOVE, PROMOTION, RAW, STATE, INFO, TOUCHED, RELEASED, CHARGING = 0xA3, 0x97, 0xFD, 0x67, 0xB2, 0xB8, 0xBB, 0x33
SIZES: Mapping[int, int] = {
    MOVE: 6,
    PROMOTION: 2,
    RAW: 10,
    STATE: 73,
    INFO: 17,
    TOUCHED: 3,
    RELEASED: 1,
    CHARGING: 2,
    0xB1: 1,
    0x22: 1,
    0x23: 1,
    0x24: 1,
    0x26: 1,
}
MOVE_MARK = 0x35
EMPTY = 0x40
STATE_CODES = frozenset((EMPTY, *range(6), *range(8, 14)))
STATE_LETTERS = "PRNBQK"
PROMOTED = " RNBQ"
SECOND: Mapping[int, Iterable[int]] = {
    MOVE: (MOVE_MARK,),
    PROMOTION: range(1, 5),
    RAW: (RAW,),
    STATE: STATE_CODES,
    TOUCHED: range(64),
    CHARGING: range(2),
}
"""What the second byte may be; it shows most wrong starts."""

STATE_SQUARES: tuple[Square, ...] = tuple(f"{file}{rank}" for rank in range(1, 9) for file in "abcdefgh")
"""a1 b1 .. h8."""

REPEATED_S = 10.0
"""A move that comes again within this time is a repetition: nobody can make it twice without another between."""

MOVE_SEEN, PROMOTION_SEEN, ASK_STATE, RAW_STREAM = b"\x21", b"\x23", b"\x67", b"\x50"
OPEN_GAME = bytes.fromhex("b90500010000010000000000")
"""A game over the board, both sides human."""

OPTIONS = (
    Option("open_game", False, "open a game on the board once, so that it reports moves; it restarts the board's own"),
    Option("silence_s", 2.0, "seconds of silence after which the board is asked for its state", lowest=0.5),
)


class ChessUp(Reading):
    """One board.

    A move is told as its two squares, a repetition only as the first; a promotion as the piece on the move's second
    square. So the dialogue knows what to acknowledge.
    """

    def __init__(self) -> None:
        super().__init__()
        self._raw: BoardDump | None = None
        self._move = b""
        self._moved_at = float("-inf")

    def _measure(self, channel: str | None) -> Measure:
        return _measure

    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        if frame[0] == RAW:
            bits = ((square, frame[10 - int(square[1])] >> "abcdefgh".index(square[0]) & 1) for square in CHESS_SQUARES)
            self._raw = BoardDump(taken(bits))
            return [self._raw]
        if frame[0] == STATE:
            stated = zip(STATE_SQUARES, frame[1:65], strict=True)
            return [self._raw or BoardDump(taken((square, code != EMPTY) for square, code in stated))]
        if frame[0] == MOVE:
            return self._moved(frame, at)
        if frame[0] == PROMOTION and self._move:
            column, row = self._move[4:]
            return [FieldUpdate(_square(column, row), PROMOTED[frame[1]] if row else PROMOTED[frame[1]].lower())]
        if frame[0] == INFO:
            text = frame[1:].strip(b"\0 ")
            if not text.isascii() or not text:
                raise RefusedError
            return [Identity("name", text.decode("ascii"))]
        return []

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        taken_squares = None if self._raw is None else list(self._raw.pieces)
        return super().state(at) | {"raw": taken_squares, "move": self._move.hex(), "moved": ago(self._moved_at, at)}

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        super().restore(state, at)
        squares = state["raw"]
        self._raw = None if squares is None else BoardDump(taken((square, True) for square in squares))
        self._move, self._moved_at = bytes.fromhex(state["move"]), moment(state["moved"], at)

    def _moved(self, frame: bytes, at: float) -> list[Observation]:
        if max(frame[2:]) > 7:
            raise RefusedError
        repeated = frame == self._move and at - self._moved_at < REPEATED_S
        self._move, self._moved_at = frame, at
        departure, arrival = _square(*frame[2:4]), _square(*frame[4:])
        return [FieldUpdate(departure, None), *([] if repeated else [FieldUpdate(arrival, "?")])]


def _square(column: int, row: int) -> Square:
    return f"{'abcdefgh'[column]}{row + 1}"


def _measure(buffer: bytearray) -> Cut | None:
    size = SIZES.get(buffer[0])
    if size is None or not _plausible(buffer[:size]):
        start = next((at for at in range(1, len(buffer)) if buffer[at] in SIZES), len(buffer))
        return Cut(start, Reject.NOISE)
    return Cut(size) if len(buffer) >= size else None


def _plausible(begun: bytearray) -> bool:
    if begun[0] == STATE:
        return STATE_CODES.issuperset(begun[1:65])
    return len(begun) < 2 or begun[0] not in SECOND or begun[1] in SECOND[begun[0]]


class ChessUpDialogue(Asking):
    """Acknowledges each copy of a move or promotion at once; then asks what else has moved."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        settings = settle(OPTIONS, options)
        opening = (ASK_STATE, RAW_STREAM)
        super().__init__(Questions(opening, (ASK_STATE,), ASK_STATE, silence_s=settings["silence_s"], gap_s=0.2))
        self._open_game: bool = settings["open_game"]

    def opened(self, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`. A game is opened once, not again when the link comes back."""
        said = super().opened(at)
        if self._open_game:
            self._open_game = False
            self._queue.appendleft(OPEN_GAME)
        return said

    def heard(self, address: Address, observation: Observation, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        said = super().heard(address, observation, at)
        if isinstance(observation, FieldUpdate):
            if observation.piece is None:
                self.ask(ASK_STATE)
                self.deadline = max(at, self._next())
                return [*said, MOVE_SEEN]
            if observation.piece != "?":
                return [*said, PROMOTION_SEEN]
        # Of all that is refused whole, only a move has this size.
        if observation == FrameRejected(Reject.VALUE, SIZES[MOVE]):
            return [*said, MOVE_SEEN]
        return said


# --- building: what a simulated board says ----------------------------------------------------------------------


def build_raw(squares: Iterable[Square]) -> bytes:
    """Occupancy."""
    rows = bytearray(8)
    for square in squares:
        rows[8 - int(square[1])] |= 1 << "abcdefgh".index(square[0])
    return bytes((RAW, RAW)) + bytes(rows)


def build_state(pieces: Mapping[Square, str], black_to_move: bool = False) -> bytes:
    """The board's own reckoning; a piece of unknown kind becomes a pawn."""

    def code(square: Square) -> int:
        letter = pieces.get(square)
        if letter is None:
            return EMPTY
        return max(0, STATE_LETTERS.find(letter.upper())) + (8 if letter.islower() else 0)

    return bytes((STATE, *map(code, STATE_SQUARES), black_to_move, 1, 1, 1, 1, 0, 0, 1))


def build_move(departure: Square, arrival: Square) -> bytes:
    """A completed move."""
    places = [index for square in (departure, arrival) for index in ("abcdefgh".index(square[0]), int(square[1]) - 1)]
    return bytes((MOVE, MOVE_MARK, *places))


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one board."""
    return ChessUp()


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """For one board."""
    return ChessUpDialogue(options)
