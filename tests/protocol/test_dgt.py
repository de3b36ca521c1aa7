"""DGT: what was built reads as what was meant; the shared vectors and real recordings, where they are at hand."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shorthand import placement, short

from gateway.errors import UsageError
from gateway.events import (
    Battery,
    BoardDump,
    BoardLog,
    ClockAbsent,
    ClockTimes,
    FieldUpdate,
    FrameRejected,
    Identity,
    LogEntry,
)
from gateway.protocol import Reject
from gateway.protocol import dgt_commands as commands
from gateway.protocol.dgt import (
    CHESS,
    DRAUGHTS,
    EE_TAG_BYTES,
    ClockAnswer,
    Dgt,
    build_battery,
    build_board_dump,
    build_bus_address,
    build_clock_absent,
    build_clock_answer,
    build_clock_times,
    build_field_update,
    build_half_dump,
    build_hardware_version,
    build_log,
    build_long_serial,
    build_message,
    build_serial,
    build_trademark,
    build_version,
    read_clock_answer,
)
from gateway.protocol.dgt_bus import (
    DgtBus,
    build_bus_changes,
    build_bus_clock,
    build_bus_dump,
    build_bus_from_start,
    build_bus_half_dump,
    build_bus_message,
    build_bus_ping,
    build_bus_start_game_written,
    build_bus_version,
)
from gateway.protocol.framing import Framer

SHARED = Path(__file__).parents[3] / "shared"
VECTORS = SHARED / "protocols/vectors/dgt.json"
RECORDINGS = SHARED / "data/recordings"

GEOMETRIES = st.sampled_from((CHESS, DRAUGHTS))


def told(frame: bytes, geometry: Any = CHESS) -> list[Any]:
    """What a fresh decoder makes of a frame."""
    return [observation for _, observation in Dgt(geometry).feed(frame, 0.0)]


def bus_told(frame: bytes, geometry: Any = CHESS) -> list[Any]:
    """The same, on a bus with board 1025."""
    return [observation for address, observation in DgtBus({1025: geometry}).feed(frame, 0.0) if address == 1025]


def known_pieces(geometry: Any) -> list[str]:
    """The pieces that a board can name."""
    return [piece for piece in geometry.pieces if piece and piece != "?"]


@st.composite
def boards(draw: Any) -> tuple[Any, dict[str, str]]:
    """A geometry and anything standing on it."""
    geometry = draw(GEOMETRIES)
    standing = draw(st.dictionaries(st.sampled_from(geometry.squares), st.sampled_from(known_pieces(geometry))))
    return geometry, {square: standing[square] for square in geometry.squares if square in standing}


SECONDS = st.integers(0, 35999).map(float)
SIDES = st.sampled_from(("left", "right"))


@st.composite
def clock_times(draw: Any) -> ClockTimes:
    """Whatever a clock can show and be believed at once."""
    running = draw(st.none() | SIDES)
    left, right = draw(SECONDS), draw(SECONDS)
    flags = draw(st.frozensets(SIDES))
    if not (left or right or flags):
        left = 1.0
    return ClockTimes(left, right, running, running or draw(SIDES), flags, draw(st.booleans()))


@st.composite
def logs(draw: Any) -> tuple[Any, tuple[LogEntry, ...]]:
    """A geometry and a log of its board."""
    geometry = draw(GEOMETRIES)
    change = st.builds(
        LogEntry,
        square=st.sampled_from(geometry.squares),
        piece=st.none() | st.sampled_from(known_pieces(geometry)),
        quick=st.booleans(),
    )
    reading = st.builds(LogEntry, clock=SIDES, reading=SECONDS)
    tag = st.builds(LogEntry, tag=st.sampled_from(sorted(EE_TAG_BYTES)))
    return geometry, tuple(draw(st.lists(change | reading | tag, max_size=40)))


class TestBuildThenRead:
    """What was built reads as what was meant."""

    @given(boards())
    def test_board(self, board: Any) -> None:
        """A dump, on its own port and on a bus."""
        geometry, pieces = board

        assert [BoardDump(pieces)] == told(build_board_dump(pieces, geometry), geometry)
        assert [BoardDump(pieces)] == bus_told(build_bus_dump(1025, pieces, geometry), geometry)

    @given(boards())
    def test_half_board(self, board: Any) -> None:
        """The 50-field forms leave out the light squares."""
        geometry, pieces = board
        playing = {square: piece for square, piece in pieces.items() if square.isdigit()}
        if geometry is DRAUGHTS:
            assert [BoardDump(playing)] == told(build_half_dump(pieces), DRAUGHTS)
            assert [BoardDump(playing)] == bus_told(build_bus_half_dump(1025, pieces), DRAUGHTS)

    @given(GEOMETRIES, st.data())
    def test_field_update(self, geometry: Any, data: Any) -> None:
        """One square."""
        square = data.draw(st.sampled_from(geometry.squares))
        piece = data.draw(st.none() | st.sampled_from(known_pieces(geometry)))

        assert [FieldUpdate(square, piece)] == told(build_field_update(square, piece, geometry), geometry)

    @given(clock_times())
    def test_clock(self, times: ClockTimes) -> None:
        """Times, lever, flags, battery."""
        assert [times] == told(build_clock_times(times))
        assert [times] == bus_told(build_bus_clock(1025, times))

    @given(logs())
    def test_log(self, log: Any) -> None:
        """The log, and the parts of it that a bus asks for."""
        geometry, entries = log

        assert [BoardLog(entries, True)] == told(build_log(entries, geometry), geometry)
        assert [BoardLog(entries, True)] == bus_told(build_bus_from_start(1025, entries, geometry), geometry)
        assert [BoardLog(entries, False)] == bus_told(build_bus_changes(1025, entries, geometry), geometry)

    @given(st.tuples(*[st.integers(0, 255)] * 4))
    def test_clock_answer(self, answer: Any) -> None:
        """Four whole bytes through seven-bit ones; to a table an answer says nothing."""
        frame = build_clock_answer(ClockAnswer(*answer))

        assert answer == read_clock_answer(frame[3:])
        assert [] == told(frame)

    def test_small_ones(self) -> None:
        """Who it is, and how it is."""
        assert [ClockAbsent()] == told(build_clock_absent())
        assert [Identity("serial", "00137")] == told(build_serial("137"))
        assert [Identity("long_serial", "3000147740")] == told(build_long_serial("3000147740"))
        assert [Identity("version", "3.10")] == told(build_version(3, 10))
        assert [Identity("hardware_version", "1.2")] == told(build_hardware_version(1, 2))
        assert [Identity("trademark", "a\nb")] == told(build_trademark("a\nb"))
        assert [Identity("bus_address", "1025")] == told(build_bus_address(1025))
        assert [Battery(58)] == told(build_battery(58))
        assert [Identity("bus_address", "1025")] == bus_told(build_bus_ping(1025))
        assert [Identity("version", "1.7")] == bus_told(build_bus_version(1025, 1, 7))
        assert [Identity("version", "1.2 or older")] == bus_told(build_bus_message(0x89, 1025))
        assert [BoardLog((LogEntry(tag="start_tag"),), False)] == bus_told(build_bus_start_game_written(1025))

    @given(st.sampled_from(commands.BusCommand), st.integers(0, 0x3FFF))
    def test_bus_command(self, command: commands.BusCommand, address: int) -> None:
        """A simulated board hears what the host said."""
        if command not in commands.FORBIDDEN_ON_BUS:
            heard = list(Framer(commands.measure).feed(commands.build_bus_command(command, address), 0.0))

            assert [commands.Said(command, address)] == [commands.read_command(frame) for frame in heard]


class TestNeverBuilt:
    """We misbehave: an exception, and it is a bug."""

    @pytest.mark.parametrize("command", commands.FORBIDDEN)
    def test_forbidden(self, command: commands.Command) -> None:
        """What takes a board off line or writes into it."""
        with pytest.raises(UsageError):
            commands.build_command(command)

    def test_nonsense(self) -> None:
        """What no board can say."""
        with pytest.raises(UsageError):
            build_field_update("e9", "P")
        with pytest.raises(UsageError):
            build_field_update("e4", "w")
        with pytest.raises(UsageError):
            build_clock_times(ClockTimes(36000, 0, None))
        with pytest.raises(UsageError):
            build_clock_times(ClockTimes(1, 1, "both"))
        with pytest.raises(UsageError):
            build_message(0x92, bytes(8000))
        with pytest.raises(UsageError):
            build_bus_ping(0x4000)
        with pytest.raises(UsageError):
            commands.build_bus_command(commands.BusCommand.SET_START_GAME, 1)


class TestOddities:
    """Let pass, and counted."""

    def test_turn_bits(self) -> None:
        """The lever says who runs, whatever bits 3 and 4 say."""
        decoder = Dgt()
        heard = decoder.feed(bytes.fromhex("8d000a2003022003010b"), 0.0)

        assert "right" == heard[0][1].running
        assert 1 == decoder.reader.oddities["turn_bits"]

    def test_piece_bits(self) -> None:
        """The unexplained bits beside the piece."""
        decoder = Dgt()
        decoder.feed(bytes.fromhex("8e00053411"), 0.0)

        assert 1 == decoder.reader.oddities["piece_high_bits"]


class TestSilence:
    """An unfinished frame does not wait for ever."""

    def test_broken_by_silence(self) -> None:
        """Half a second ends it."""
        decoder = Dgt()
        decoder.feed(bytes.fromhex("8e0005"), 0.0)

        assert [(None, FrameRejected(Reject.TRUNCATED, 3)), (None, FrameRejected(Reject.NOISE, 2))] == [
            *decoder.feed(bytes.fromhex("3400"), 0.6),
            *decoder.feed(b"", 2.0),
        ]

    def test_slow_log(self) -> None:
        """The whole log takes 8 s and is not broken by that."""
        decoder = Dgt()
        frame = build_message(0x8F, b"\x7f" * 0x1EFF + b"\x6b")
        heard = [told for i, byte in enumerate(frame) for told in decoder.feed(bytes((byte,)), i / 960)]

        assert 0x1F03 == len(frame)
        assert [(None, BoardLog((LogEntry(tag="end"),), True))] == heard


# --- the shared vectors -----------------------------------------------------------------------------------------

needs_vectors = pytest.mark.skipif(not VECTORS.exists(), reason=f"no shared vectors at {VECTORS}")


def vectors() -> list[Any]:
    """All of them, or none."""
    return json.loads(VECTORS.read_text()) if VECTORS.exists() else []


def expected(meaning: dict[str, Any]) -> Iterator[str]:
    """A vector's meaning in our shorthand; nothing for what a table is not told."""
    match meaning["type"].removeprefix("bus_"):
        case "board_dump":
            letters = {"draw": "X", "white_win": "Y", "black_win": "Z"}
            yield "board " + _with_magic(
                meaning["placement"], {square: letters[what] for square, what in meaning.get("magic", {}).items()}
            )
        case "board_dump_100" | "board_dump_50b" | "board_dump_50w":
            yield "board " + placement(_draughts(meaning))
        case "field_update":
            yield f"{meaning['square']} {CHESS.pieces[meaning['code']] or '-'}"
        case "clock_time" | "clock":
            yield from _clock(meaning.get("clock", meaning))
        case "serial" | "long_serial" | "trademark":
            yield f"{meaning['type']} {meaning['text'].split()[0] if meaning['type'] == 'serial' else meaning['text']}"
        case "version" | "hardware_version":
            yield f"{meaning['type'].removeprefix('bus_')} {meaning['major']}.{meaning['minor']}"
        case "address" | "ping":
            yield f"bus_address {meaning['address']}"
        case "battery":
            yield f"battery {meaning['percent']}"
        case "ee_moves" | "from_start":
            yield " ".join(["log", *_log(meaning["events"])])
        case "update":
            yield " ".join(["changes", *_log(meaning["events"])]) if meaning["checksum_ok"] else "!checksum 10"
        case "start_game_written":
            yield "changes start_tag"
        case "clock_ack" | "lock_state" | "devkey_state":
            return
        case other:
            raise AssertionError(other)


def _with_magic(text: str, magic: dict[str, str]) -> str:
    spread = "".join("." * int(c) if c.isdigit() else c for c in text.replace("/", ""))
    pieces = {square: piece for square, piece in zip(CHESS.squares, spread, strict=True) if piece != "."}
    return placement(pieces | magic) if pieces else ""


def _draughts(meaning: dict[str, Any]) -> dict[str, str]:
    names = {"white_men": "w", "black_men": "b", "white_kings": "W", "black_kings": "B"}
    standing = {str(number): letter for name, letter in names.items() for number in meaning[name]}
    standing |= {DRAUGHTS.squares[field]: "w" for field in meaning.get("off_colour_occupied", [])}
    return {square: standing[square] for square in DRAUGHTS.squares if square in standing}


def _clock(meaning: dict[str, Any]) -> Iterator[str]:
    left, right = meaning["left"], meaning["right"]
    if meaning["no_clock"]:
        yield "no clock"
    elif not meaning["usable"]:
        yield "!value 10"
    else:
        sides = {"left": left, "right": right}
        times = {side: float(half["h"] * 3600 + half["m"] * 60 + half["s"]) for side, half in sides.items()}
        flags = frozenset(side for side, half in sides.items() if half["flag_blocked"] or half["flag_shown"])
        lever = "right" if meaning["lever_right_high"] else "left"
        believed = any(times.values()) or flags or meaning["running_side"] is None
        if believed:
            yield short(ClockTimes(**times, running=meaning["running_side"], lever=lever, flags=flags,
                                   battery_low=meaning["battery_low"]))  # fmt: skip


def _log(events: list[Any]) -> Iterator[str]:
    names = {"powerup": "power_up", "beginpos": "start_position", "beginpos_rotated": "start_position_rotated",
             "fourrows": "four_rows", "emptyboard": "empty_board", "downloaded": "downloaded", "eof": "end",
             "start_tag": "start_tag", "watchdog": "watchdog_reset"}  # fmt: skip
    for event in events:
        match event:
            case ["field", square, piece, quick]:
                letter = {".": "-", "draw": "X"}.get(piece, piece)
                yield f"{square}:{letter}{'+' if quick else ''}"
            case ["clock", side, hours, minutes, seconds]:
                yield f"{side}:{hours * 3600 + minutes * 60 + seconds}"
            case str():
                yield from [names[event]] if event in names else []


def geometry_of(vector: dict[str, Any]) -> Any:
    """Draughts vectors are told by their names."""
    return DRAUGHTS if "draughts" in vector["name"] or "_50" in vector["name"] else CHESS


@needs_vectors
@pytest.mark.parametrize("vector", [v for v in vectors() if v["direction"] == "board"], ids=lambda v: v["name"])
def test_shared_vector(vector: dict[str, Any]) -> None:
    """Every message of the shared file reads as the file says, and what it discards is refused."""
    meaning = vector["meaning"]
    data = bytes.fromhex(vector["hex"])
    geometry = geometry_of(vector)
    decoder = DgtBus({1025: geometry}) if vector.get("mode") == "bus" else Dgt(geometry)
    heard = [observation for _, observation in decoder.feed(data, 0.0)]
    if vector["name"] == "field_update_draughts_field_99":
        assert [FieldUpdate("j1", "w")] == heard
        return
    frames = meaning.get("frames", [meaning])
    refused = [observation for observation in heard if isinstance(observation, FrameRejected)]
    if "discarded" in meaning:
        assert meaning["discarded"] == sum(rejected.size for rejected in refused)
        assert meaning["pending"] == decoder._framer.pending
        heard = [observation for observation in heard if observation not in refused]

    assert [text.strip() for frame in frames for text in expected(frame)] == [
        short(observation) for observation in heard
    ]


@needs_vectors
@pytest.mark.parametrize("vector", [v for v in vectors() if v["direction"] == "host"], ids=lambda v: v["name"])
def test_shared_host_vector(vector: dict[str, Any]) -> None:
    """Every command of the shared file is cut whole, and is what the builder makes where one may be built."""
    meaning = vector["meaning"]
    data = bytes.fromhex(vector["hex"])

    assert [data] == list(Framer(commands.measure).feed(data, 0.0))
    said = commands.read_command(data)
    built = build_host(meaning, said)
    assert built is None or data == built


def build_host(meaning: dict[str, Any], said: commands.Said) -> bytes | None:
    """The same command from our builders; None for what the gateway never says."""
    match meaning["type"]:
        case "command" if said.command not in commands.FORBIDDEN:
            return commands.build_command(commands.Command(said.command))
        case "bus_command":
            return commands.build_bus_command(commands.BusCommand(said.command), meaning["address"])
        case "clock_command" if meaning["command"] == "ascii":
            return commands.build_clock_text(meaning["text"], meaning["beep"])
        case "clock_command" if meaning["command"] == "setnrun":
            bits = ("left_down", "right_down", "pause", "toggle_on_lever")
            control = sum(1 << bit for bit, name in enumerate(bits) if meaning[name])
            return commands.build_clock_times_set(meaning["left"], meaning["right"], control)
        case "clock_command":
            return commands.build_clock_command(commands.ClockCommand(said.arguments[1]), said.arguments[2:-1])
        case "revelation_leds":
            return commands.build_leds(meaning["start"], meaning["end"], meaning["pattern"])
        case "pegasus_leds_off":
            return commands.build_pegasus_leds([])
        case "pegasus_leds":
            fields = [CHESS.field(square) for square in meaning["squares"]]
            return commands.build_pegasus_leds(fields, meaning["speed"], meaning["repeat"], meaning["brightness"])
    return None


# --- recordings -------------------------------------------------------------------------------------------------


def recorded() -> list[Path]:
    """Recordings of DGT boards, where the shared folder is at hand."""
    return sorted([*RECORDINGS.glob("dgt_*.b64lines"), *RECORDINGS.glob("dgt_*.hexlines")])


def recorded_bytes(path: Path) -> bytes:
    """All messages of a recording in one piece."""
    read = base64.b64decode if path.suffix == ".b64lines" else bytes.fromhex
    lines = (line.strip() for line in path.read_text().splitlines())
    return b"".join(read(line) for line in lines if line and not line.startswith("#"))


@pytest.mark.skipif(not recorded(), reason=f"no recordings at {RECORDINGS}")
@pytest.mark.parametrize("path", recorded(), ids=lambda path: path.name)
def test_recording(path: Path) -> None:
    """What real boards sent is understood to the last byte, and says as much as the recording's own decoding."""
    decoder = Dgt()
    heard = [observation for _, observation in decoder.feed(recorded_bytes(path), 0.0)]
    decoded = path.with_name(path.name.replace(".b64lines", ".decoded.jsonl"))
    messages = len(decoded.read_text().splitlines()) if decoded.suffix == ".jsonl" else len(heard)

    assert heard
    assert [] == [observation for observation in heard if isinstance(observation, FrameRejected)]
    assert messages == len(heard)
    assert {} == decoder.reader.oddities
