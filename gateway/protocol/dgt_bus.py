"""DGT boards on a shared bus: many boards on one wire, each answering under its address.

Models: wired e-boards in bus mode, which is how they wake up.

Link: 9600 8N1, half duplex, one question at a time; answers within 80 ms, the log excepted.

Sample: ``85 00 0a 08 01 40 34 51 24 01``  board 1025: e2 became empty, soon after a white pawn came to e4

Layout, board to host::

    II ss ss aa aa dd ... cc    I  id, bit 7 set; nothing else has bit 7
                                s  size, 14 bits, counting everything including the check
                                a  address, 14 bits: the five-digit serial number as a number
                                d  data, laid out as in `dgt`
                                c  check: sum of all bytes before it & 7f

Check: see c. A bad one means: ask again; after "send changes" ask for the repetition, or the changes are lost.

Unknown: the size of a 50-field dump (56 by the rule, never seen), and of a 10x10 dump (106 by the rule). Ids are those
of other messages in single-board mode (86) and of the host's own commands, so mode and direction must be known.

Sources: as `dgt`; EdNekebno/DGTCentaurMods for what an emulated board answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from construct import ConstructError

from gateway.errors import UsageError
from gateway.events import (
    BoardLog,
    ClockTimes,
    FrameRejected,
    Identity,
    LogEntry,
    Observation,
    Piece,
    Square,
)
from gateway.protocol import Heard, Reject
from gateway.protocol.dgt import (
    CHESS,
    LONGEST,
    PATIENCE_S,
    BadValueError,
    Geometry,
    Message,
    Reader,
    clock_payload,
    dump_payload,
    half_dump_payload,
    log_payload,
    measure,
    read_version,
)
from gateway.protocol.framing import Framer

DGT_MSG_BUS_BRD_DUMP = 0x83
DGT_MSG_BUS_BWTIME = 0x84
DGT_MSG_BUS_UPDATE = 0x85
DGT_MSG_BUS_FROM_START = 0x86
DGT_MSG_BUS_PING = 0x87
DGT_MSG_BUS_START_GAME_WRITTEN = 0x88
DGT_MSG_BUS_VERSION = 0x89
DGT_MSG_BUS_BRD_DUMP_50B = 0x8A

ENVELOPE = 6
DATA = slice(5, -1)


def _changes(reader: Reader, data: bytes) -> list[Observation]:
    return reader.log(data, complete=False)


def _from_start(reader: Reader, data: bytes) -> list[Observation]:
    return reader.log(data, complete=True)


def _version(_: Reader, data: bytes) -> list[Observation]:
    """Firmware up to 1.2 answers without saying which."""
    return [Identity("version", read_version(data) if data else "1.2 or older")]


def _start_game_written(_: Reader, __: bytes) -> list[Observation]:
    return [BoardLog((LogEntry(tag="start_tag"),), complete=False)]


def _ping(_: Reader, __: bytes) -> list[Observation]:
    """Who answers stands in the envelope."""
    return []


ANY_SIZE = range(ENVELOPE, ENVELOPE + LONGEST)

MESSAGES: Mapping[int, Message] = {
    DGT_MSG_BUS_BRD_DUMP: Message((70, 106), Reader.board_dump),
    DGT_MSG_BUS_BWTIME: Message((13,), Reader.clock),
    DGT_MSG_BUS_UPDATE: Message(ANY_SIZE, _changes),
    DGT_MSG_BUS_FROM_START: Message(ANY_SIZE, _from_start),
    DGT_MSG_BUS_PING: Message((6,), _ping),
    DGT_MSG_BUS_START_GAME_WRITTEN: Message((6,), _start_game_written),
    DGT_MSG_BUS_VERSION: Message((6, 8), _version),
    DGT_MSG_BUS_BRD_DUMP_50B: Message((56,), Reader.half_dump),
}


class DgtBus:
    """Many boards on one port. A board that nobody configured is heard only when it says who it is."""

    def __init__(self, geometries: Mapping[int, Geometry]) -> None:
        self.readers = {address: Reader(geometry) for address, geometry in geometries.items()}
        self._framer = Framer(measure({id_: message.sizes for id_, message in MESSAGES.items()}), PATIENCE_S)

    def feed(self, data: bytes, at: float, channel: str | None = None) -> list[Heard]:
        """See `gateway.protocol.Decoder`. What is refused has no address: it may be the address that is wrong."""
        heard: list[Heard] = []
        for found in self._framer.feed(data, at):
            if isinstance(found, FrameRejected):
                heard.append((None, found))
            else:
                heard.extend(self._read(found))
        return heard

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        readers = [[address, reader.state()] for address, reader in self.readers.items()]
        return {"framer": self._framer.state(at), "readers": readers}

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`. A capture of one table knows only its own board."""
        self._framer.restore(state["framer"], at)
        for address, reader in state["readers"]:
            if address in self.readers:
                self.readers[address].restore(reader)

    def _read(self, frame: bytes) -> list[Heard]:
        message = MESSAGES.get(frame[0])
        if message is None:
            return [(None, FrameRejected(Reject.UNKNOWN, len(frame)))]
        if sum(frame[:-1]) & 0x7F != frame[-1]:
            return [(None, FrameRejected(Reject.CHECKSUM, len(frame)))]
        address = frame[3] << 7 | frame[4]
        if frame[0] == DGT_MSG_BUS_PING:
            return [(address, Identity("bus_address", str(address)))]
        reader = self.readers.get(address)
        if reader is None:
            return []
        try:
            return [(address, observation) for observation in message.read(reader, frame[DATA])]
        except (BadValueError, ConstructError):
            return [(address, FrameRejected(Reject.VALUE, len(frame)))]


# --- building: what a simulated board on a bus says -------------------------------------------------------------


def build_bus_message(id_: int, address: int, data: bytes = b"") -> bytes:
    """The envelope."""
    size = ENVELOPE + len(data)
    if not 0 <= address < 1 << 14 or size not in ANY_SIZE or any(byte & 0x80 for byte in data):
        raise UsageError(f"no bus message {id_:02x} from {address} can hold {len(data)} bytes {data[:8].hex()}..")
    frame = bytes((id_, size >> 7, size & 0x7F, address >> 7, address & 0x7F)) + data
    return frame + bytes((sum(frame) & 0x7F,))


def build_bus_dump(address: int, pieces: Mapping[Square, Piece], geometry: Geometry = CHESS) -> bytes:
    """All that stands on the board."""
    return build_bus_message(DGT_MSG_BUS_BRD_DUMP, address, dump_payload(pieces, geometry))


def build_bus_half_dump(address: int, pieces: Mapping[Square, Piece]) -> bytes:
    """All that stands on the 50 playing squares."""
    return build_bus_message(DGT_MSG_BUS_BRD_DUMP_50B, address, half_dump_payload(pieces))


def build_bus_clock(address: int, times: ClockTimes) -> bytes:
    """Both times, cut to whole seconds."""
    return build_bus_message(DGT_MSG_BUS_BWTIME, address, clock_payload(times))


def build_bus_changes(address: int, entries: Iterable[LogEntry], geometry: Geometry = CHESS) -> bytes:
    """What changed since it was last asked."""
    return build_bus_message(DGT_MSG_BUS_UPDATE, address, log_payload(entries, geometry))


def build_bus_from_start(address: int, entries: Iterable[LogEntry], geometry: Geometry = CHESS) -> bytes:
    """What changed since the start position."""
    return build_bus_message(DGT_MSG_BUS_FROM_START, address, log_payload(entries, geometry))


def build_bus_ping(address: int) -> bytes:
    """Here I am."""
    return build_bus_message(DGT_MSG_BUS_PING, address)


def build_bus_start_game_written(address: int) -> bytes:
    """The start tag is in the log."""
    return build_bus_message(DGT_MSG_BUS_START_GAME_WRITTEN, address)


def build_bus_version(address: int, major: int, minor: int) -> bytes:
    """Firmware version."""
    return build_bus_message(DGT_MSG_BUS_VERSION, address, bytes((major, minor)))
