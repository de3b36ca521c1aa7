"""Simulated boards as bytes: what a board says for each observation, and what it answers when the host asks.

Pure: bytes in, bytes out. A board here is the far end of a protocol; the near end is in `gateway.protocol`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from gateway.events import BoardDump, ClockTimes, FieldUpdate, GameKind, LogEntry, Observation, Piece, Square
from gateway.protocol import dgt, dgt_commands, generic
from gateway.protocol.dgt_commands import Command
from gateway.simulate.wire_families import FAMILIES, cpp_board

SERIAL = ("dgt", "generic", "millennium", "millennium_eone", "certabo", "sentio", "ichessone", "cpp")
"""Drivers whose boards hang on serial ports, and can be simulated on a terminal."""

LOG_SIZE = 3000
"""Changes that the log keeps; a real one holds 7936 bytes."""


class WireBoard(Protocol):
    """The far end of a board's wire."""

    listening: bool
    """The host has asked for updates, or has spoken at all where it need not ask."""

    def sense(self, observation: Observation) -> bytes:
        """Something happened on the board; return what it says of it, unasked."""

    def take(self, data: bytes) -> bytes:
        """The host says something; return the answer."""


class DgtBoard:
    """A DGT board in single-board mode, with a clock on its jack."""

    def __init__(self, game: GameKind, pieces: Mapping[Square, Piece], serial: str = "10001") -> None:
        self.listening = False
        self._geometry = dgt.GEOMETRY[game]
        self._pieces = dict(pieces)
        self._clock: ClockTimes | None = None
        self._mode: int = Command.SEND_RESET
        self._buffer = bytearray()
        self._log: list[LogEntry] = []
        # answers are made when asked for; what is not listed gets none, as from a real board
        self._answers: dict[int, Callable[[], bytes]] = {
            Command.SEND_CLK: self._clock_times,
            Command.SEND_BRD: lambda: dgt.build_board_dump(self._pieces, self._geometry),
            Command.RETURN_SERIALNR: lambda: dgt.build_serial(serial[-5:]),
            Command.RETURN_BUSADRES: lambda: dgt.build_bus_address(int(serial[-5:]) % (1 << 14)),
            Command.SEND_TRADEMARK: lambda: dgt.build_trademark("Simulated board\r\nNobody's trademark"),
            Command.SEND_EE_MOVES: lambda: dgt.build_log(self._log, self._geometry),
            Command.SEND_VERSION: lambda: dgt.build_version(1, 8),
            Command.SEND_BATTERY_STATUS: lambda: dgt.build_battery(87),
            Command.RETURN_LONG_SERIALNR: lambda: dgt.build_long_serial(serial),
        }
        if game == "draughts":
            self._answers[Command.SEND_BRD_50B] = lambda: dgt.build_half_dump(self._pieces)

    def sense(self, observation: Observation) -> bytes:
        """See `WireBoard`."""
        match observation:
            case FieldUpdate(square, piece):
                _hold(self._pieces, square, piece)
                self._log = [*self._log[-LOG_SIZE:], LogEntry(square, piece)]
                if self._mode != Command.SEND_RESET:
                    return dgt.build_field_update(square, piece, self._geometry)
            case ClockTimes():
                self._clock = observation
                if self._mode in (Command.SEND_UPDATE, Command.SEND_UPDATE_NICE):
                    return dgt.build_clock_times(observation)
            case BoardDump(pieces):
                self._pieces = dict(pieces)
        return b""

    def take(self, data: bytes) -> bytes:
        """See `WireBoard`."""
        self._buffer += data
        said = b""
        while self._buffer and (cut := dgt_commands.measure(self._buffer)):
            frame = bytes(self._buffer[: cut.size])
            del self._buffer[: cut.size]
            if cut.reason is None:
                said += self._answer(dgt_commands.read_command(frame))
        return said

    def _answer(self, command: dgt_commands.Said) -> bytes:
        if command.address is not None:
            return b""
        if command.command == dgt_commands.DGT_CLOCK_MESSAGE:
            # the clock accepts everything, and says which command it was
            kind = command.arguments[1] if len(command.arguments) > 1 else 0
            return dgt.build_clock_answer(dgt.ClockAnswer(0x10, kind, 0x20, 0))
        if command.command in (
            Command.SEND_RESET,
            Command.SEND_UPDATE,
            Command.SEND_UPDATE_BRD,
            Command.SEND_UPDATE_NICE,
        ):
            self._mode = command.command
            self.listening = self._mode != Command.SEND_RESET
            return b""
        answer = self._answers.get(command.command)
        return answer() if answer else b""

    def _clock_times(self) -> bytes:
        return dgt.build_clock_times(self._clock) if self._clock else dgt.build_clock_absent()


class GenericBoard:
    """A board that speaks the generic text protocol."""

    def __init__(self, game: GameKind, pieces: Mapping[Square, Piece], senses_pieces: bool, serial: str) -> None:
        self.listening = False
        self._game: GameKind = game
        self._pieces = dict(pieces)
        self._hello = generic.build_hello("simulated", senses_pieces, serial)
        self._buffer = bytearray()

    def sense(self, observation: Observation) -> bytes:
        """See `WireBoard`."""
        match observation:
            case FieldUpdate(square, piece):
                _hold(self._pieces, square, piece)
                return generic.build_place(square, piece) if piece else generic.build_lift(square)
            case ClockTimes():
                return generic.build_clock(observation)
            case BoardDump(pieces):
                self._pieces = dict(pieces)
                return generic.build_position(pieces, self._game)
        return b""

    def take(self, data: bytes) -> bytes:
        """See `WireBoard`."""
        self._buffer += data
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        said = b""
        for line in lines:
            self.listening = True
            if line + b"\n" == generic.build_hello_question():
                said += self._hello
            elif line + b"\n" == generic.build_position_question():
                said += generic.build_position(self._pieces, self._game)
        return said


def wire_board(
    driver: str, game: GameKind, pieces: Mapping[Square, Piece], senses_pieces: bool = True, serial: str = "10001"
) -> WireBoard:
    """The far end of `driver`'s wire.

    Raises:
        ValueError: there is no simulated board for it.
    """
    if driver == "dgt":
        return DgtBoard(game, pieces, serial)
    if driver == "generic":
        return GenericBoard(game, pieces, senses_pieces, serial)
    if driver == "cpp":
        return cpp_board(pieces, game)
    if driver in FAMILIES:
        return FAMILIES[driver](pieces)
    raise ValueError(f"no simulated board speaks {driver!r}: dgt, generic, {', '.join(FAMILIES)}")


def _hold(pieces: dict[Square, Piece], square: Square, piece: Piece | None) -> None:
    if piece is None:
        pieces.pop(square, None)
    else:
        pieces[square] = piece
