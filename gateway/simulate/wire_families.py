"""Simulated boards of the smaller families as bytes, each with what is known of its quirks. Pure, like `wire`.

A board says what its family says when something changes, and answers what its family answers. Whole-position boards
tell the position again for each change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from gateway.events import BoardDump, ClockTimes, FieldUpdate, GameKind, Observation, Piece, Square
from gateway.protocol import (
    certabo,
    chessnut,
    chessup,
    cpp,
    dgt,
    dgt3000_ble,
    dgt_pegasus,
    house_of_staunton,
    ichessone,
    millennium,
    squareoff,
)
from gateway.protocol.squares import CHESS_SQUARES

Position = Mapping[Square, Piece]
Say = Callable[[Position], bytes]


class Answering:
    """What all these boards are: a position, a way to say it, and what is answered to which command."""

    period: float | None = None
    """Seconds between two scans of a board that tells each of them; None: it tells changes."""

    def __init__(self, pieces: Position, say: Say, answers: Mapping[bytes, Say], listening: bool = False) -> None:
        """`listening`: it speaks without being spoken to."""
        self.listening = listening
        self.pieces = dict(pieces)
        self.silent = False
        """It has stopped without a word: nothing is said or answered any more."""
        self._say = say
        self._answers = answers
        self._buffer = b""

    def sense(self, observation: Observation) -> bytes:
        """See `gateway.simulate.wire.WireBoard`."""
        if isinstance(observation, FieldUpdate):
            self._hold(observation.square, observation.piece)
        elif isinstance(observation, BoardDump):
            self.pieces = dict(observation.pieces)
        else:
            return b""
        return b"" if self.silent else self.change(observation)

    def change(self, observation: FieldUpdate | BoardDump) -> bytes:
        """What is said of it."""
        return self._say(self.pieces)

    def scan(self) -> bytes:
        """What a board that tells each scan says once in a `period`."""
        return b"" if self.silent else self._say(self.pieces)

    def take(self, data: bytes) -> bytes:
        """See `gateway.simulate.wire.WireBoard`. What is no command of this board is let go byte by byte."""
        self._buffer += data
        said = b""
        while self._buffer:
            # a command may begin as another does: the longer one counts
            fitting = max(
                (command for command in self._answers if self._buffer.startswith(command)), key=len, default=b""
            )
            if fitting:
                self._buffer = self._buffer[len(fitting) :]
                self.listening = True
                said += self._answers[fitting](self.pieces)
            elif any(command.startswith(self._buffer) for command in self._answers):
                break
            else:
                self._buffer = self._buffer[1:]
        return b"" if self.silent else said

    def _hold(self, square: Square, piece: Piece | None) -> None:
        if piece is None:
            self.pieces.pop(square, None)
        else:
            self.pieces[square] = piece


def _nothing(_: Position) -> bytes:
    return b""


def chessnut_board(pieces: Position, hid: bool = False, mtu: int | None = None) -> Answering:
    """Over BLE or HID. `mtu`: a link that carries so many bytes of a message and loses the rest."""

    def say(standing: Position) -> bytes:
        whole = chessnut.build_hid_report(standing) if hid else chessnut.build_position(standing)
        return whole[:mtu]

    return Answering(
        pieces,
        say,
        {
            chessnut.START_REALTIME: lambda standing: chessnut.build_acknowledgement() + say(standing),
            chessnut.ASK_CHARGE: lambda _: chessnut.build_charge(88),
        },
    )


def millennium_board(pieces: Position, order: str = "h1", parity: bool = True) -> Answering:
    """`parity` false: bytes without it, as an eONE sends them."""

    def say(standing: Position) -> bytes:
        known = {square: "P" if piece == "?" else piece for square, piece in standing.items()}
        return millennium.build_position(known, order, parity)

    version = millennium.build_frame("v0103" if parity else "v0200", parity)
    return Answering(pieces, say, {millennium.ASK_VERSION: lambda _: version, millennium.ASK_POSITION: say})


def eone_board(pieces: Position) -> Answering:
    """Its letters may be wrong, and here they are: every piece that it cannot tell is a pawn."""
    return millennium_board(pieces, parity=False)


class CertaboBoard(Answering):
    """Tags with mistakes, noise on empty squares, lines broken after 64 characters.

    It streams. A change is said in as many lines as the vote takes, for those who do not ask for each `scan`.
    """

    LINES = 4
    period = 0.33

    def __init__(self, pieces: Position, seed: int = 0, noise: float = 0.02) -> None:
        """`noise`: share of squares that are read wrong in a line."""
        super().__init__(pieces, self._stream, {}, listening=True)
        self._rng = Random(seed)
        self._noise = noise
        self.set: dict[certabo.Tag, Piece] = {}
        """The pieces by tag, with a spare queen of each side: what the calibration would find."""
        self._tags: dict[Square, certabo.Tag] = {}
        for square, piece in pieces.items():
            self._tags[square] = self._tag(piece)
        for spare in "qQ":
            self._tag(spare)

    @property
    def options(self) -> dict[str, str]:
        """For the driver."""
        return {"calibration": certabo.write_calibration(self.set)}

    def _tag(self, piece: Piece) -> certabo.Tag:
        tag = bytes((48, self._rng.randrange(256), 1 + len(self.set), *self._rng.choices(range(1, 256), k=2)))
        self.set[tag] = piece
        return tag

    def change(self, observation: FieldUpdate | BoardDump) -> bytes:
        """See `Answering`. The tag of a piece that came is one of its kind that is nowhere else."""
        for square in [square for square in self._tags if self.set[self._tags[square]] != self.pieces.get(square)]:
            del self._tags[square]
        for square in [square for square in self.pieces if square not in self._tags]:
            kind = [tag for tag, piece in self.set.items() if piece == self.pieces[square]]
            # A piece whose arrival was scanned before its departure is read on both squares.
            self._tags[square] = next((tag for tag in kind if tag not in self._tags.values()), kind[0])
        return self._stream(self.pieces)

    def scan(self) -> bytes:
        """See `Answering`."""
        return b"" if self.silent else self.line()

    def _stream(self, _: Position) -> bytes:
        return b"".join(self.line() for _ in range(self.LINES))

    def line(self) -> bytes:
        """One scan."""
        read = dict(self._tags)
        for square in CHESS_SQUARES:
            if self._rng.random() < self._noise:
                read[square] = bytes(self._rng.choices(range(256), k=5))
        return certabo.build_tags(read, wrapped=True)


def sentio_board(pieces: Position) -> Answering:
    """It streams occupancy."""
    board = Answering(pieces, certabo.build_occupancy, {}, listening=True)
    board.period = 0.1
    return board


class PegasusBoard(Answering):
    """Says nothing of changes before 44; every piece is 01."""

    def __init__(self, pieces: Position) -> None:
        answers: dict[bytes, Say] = {
            dgt_pegasus.RESET: lambda _: self._updates(False),
            dgt_pegasus.UPDATES: lambda _: self._updates(True),
            dgt_pegasus.SERIAL: lambda _: dgt.build_serial("30001"),
            dgt_pegasus.VERSION: lambda _: dgt.build_version(1, 0),
            dgt_pegasus.TRADEMARK: lambda _: dgt.build_trademark("Simulated board"),
            dgt_pegasus.ASK_POSITION: lambda standing: dgt.build_board_dump(dict.fromkeys(standing, "P")),
            dgt_pegasus.ASK_CHARGE: lambda _: dgt.build_battery(88),
        }
        super().__init__(pieces, answers[dgt_pegasus.ASK_POSITION], answers)
        self._told = False

    def _updates(self, on: bool) -> bytes:
        self._told = on
        return b""

    def take(self, data: bytes) -> bytes:
        """See `Answering`."""
        said = super().take(data)
        self.listening = self._told
        return said

    def change(self, observation: FieldUpdate | BoardDump) -> bytes:
        """See `Answering`."""
        if not self._told:
            return b""
        if isinstance(observation, BoardDump):
            return self._say(self.pieces)
        return dgt.build_field_update(observation.square, "P" if observation.piece else None)


class SquareOffBoard(Answering):
    """A Pro: lifts and places, and occupancy when asked."""

    def __init__(self, pieces: Position) -> None:
        def say(standing: Position) -> bytes:
            return squareoff.build_message(30, squareoff.digits(standing))

        super().__init__(pieces, say, {squareoff.ASK_OCCUPANCY: say})

    def change(self, observation: FieldUpdate | BoardDump) -> bytes:
        """See `Answering`. CR LF follows, as on some boards."""
        if isinstance(observation, BoardDump):
            return self._say(self.pieces) + b"\r\n"
        return squareoff.build_message(0, f"{observation.square}{'d' if observation.piece else 'u'}") + b"\r\n"


def neo_board(pieces: Position) -> Answering:
    """Occupancy, each time twice; the host is silent."""
    return Answering(pieces, lambda standing: squareoff.digits(standing).encode("ascii") * 2, {}, listening=True)


def ichessone_board(pieces: Position) -> Answering:
    """Positions on change."""
    return Answering(
        pieces,
        ichessone.build_position,
        {
            ichessone.POSITIONS_ON_CHANGE: _nothing,
            ichessone.ASK_POSITION: ichessone.build_position,
            ichessone.ASK_CHARGE: lambda _: ichessone.build_charge(88),
        },
    )


class ChessUpBoard(Answering):
    """Raw occupancy after 50; a completed move is said again and again until it is acknowledged."""

    TRIES = 5

    def __init__(self, pieces: Position) -> None:
        answers: dict[bytes, Say] = {
            chessup.ASK_STATE: chessup.build_state,
            chessup.RAW_STREAM: chessup.build_raw,
            chessup.MOVE_SEEN: lambda _: self._acknowledged(),
            chessup.PROMOTION_SEEN: _nothing,
            chessup.OPEN_GAME: _nothing,
        }
        super().__init__(pieces, chessup.build_raw, answers)
        self._waiting = b""
        self._tries = 0

    def moved(self, departure: Square, arrival: Square) -> bytes:
        """A move is complete."""
        self._waiting, self._tries = chessup.build_move(departure, arrival), 0
        return self.repeat()

    def repeat(self) -> bytes:
        """What is said again while nobody acknowledges; nothing once somebody has, or after the last try."""
        self._tries += 1
        return self._waiting if self._tries <= self.TRIES else b""

    def _acknowledged(self) -> bytes:
        self._waiting = b""
        return b""


def house_of_staunton_board(pieces: Position) -> Answering:
    """It is asked nothing."""
    return Answering(pieces, house_of_staunton.build_position, {}, listening=True)


def cpp_board(pieces: Position, game: GameKind = "chess") -> Answering:
    """States of a board on which no round was begun."""

    def say(standing: Position) -> bytes:
        return cpp.build_state(standing, game)

    accepted = ["feature get_state", *(f"set_variant {variant}" for variant in cpp.VARIANTS.values())]
    answers: dict[str, Say] = {"get_state": say, "ok": _nothing, **dict.fromkeys(accepted, lambda _: b"ok\n")}
    return Answering(
        pieces, say, {f"{text}{end}".encode(): answer for text, answer in answers.items() for end in ("", "\n")}
    )


class Dgt3000Gateway:
    """A clock behind the open BLE gateway: times when they change, the lever when it is turned."""

    def __init__(self) -> None:
        self.listening = False
        self._times: ClockTimes | None = None

    def sense(self, observation: Observation) -> bytes:
        """See `gateway.simulate.wire.WireBoard`."""
        if not isinstance(observation, ClockTimes):
            return b""
        before, self._times = self._times, observation
        said = b""
        if before is not None and observation.lever not in (None, before.lever):
            said += dgt3000_ble.build_lever("lever_right" if observation.lever == "left" else "lever_left")
        if before is None or (int(before.left), int(before.right)) != (int(observation.left), int(observation.right)):
            said += self._now()
        return said

    def take(self, data: bytes) -> bytes:
        """See `gateway.simulate.wire.WireBoard`. Only the time is ever asked for."""
        self.listening = True
        return self._now() if data == dgt3000_ble.build_command("getTime", "time") else b""

    def _now(self) -> bytes:
        return dgt3000_ble.build_time_update(self._times.left, self._times.right) if self._times else b""


FAMILIES: Mapping[str, Callable[[Position], Answering]] = {
    "dgt_pegasus": PegasusBoard,
    "chessnut": chessnut_board,
    "millennium": millennium_board,
    "millennium_eone": eone_board,
    "certabo": CertaboBoard,
    "sentio": sentio_board,
    "squareoff": SquareOffBoard,
    "squareoff_neo": neo_board,
    "ichessone": ichessone_board,
    "chessup": ChessUpBoard,
    "house_of_staunton": house_of_staunton_board,
    "cpp": cpp_board,
}
"""The far end of each driver's wire."""
