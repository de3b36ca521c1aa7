"""The families beyond DGT: shared vectors, whole games through their wires, recordings, and what they are known to do.

Vectors, recordings and the facts in them lie beside this repository, and are skipped where that is not so. The facts
that matter are in `frames/` in our own form.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.pgn
import pytest
import serial
from judge import standing
from shorthand import placement, short

from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.events import (
    BoardDump,
    ClockTimes,
    FieldUpdate,
    FrameRejected,
    LinkState,
    Numbered,
    Observation,
    Senses,
)
from gateway.link import Link
from gateway.protocol import (
    Reject,
    certabo,
    chessnut,
    chessup,
    chunks,
    cpp,
    dgt3000_ble,
    dgt_pegasus,
    house_of_staunton,
    ichessone,
    millennium,
    squareoff,
)
from gateway.protocol.asking import Asking, Questions
from gateway.registry import DRIVERS
from gateway.simulate.device import CLASSIC, Board, BoardModel, Timed
from gateway.simulate.games import opera
from gateway.simulate.habits import RAPID, Habits
from gateway.simulate.pty import Terminal, serve
from gateway.simulate.session import Evening
from gateway.simulate.wire import WireBoard, wire_board
from gateway.simulate.wire_families import (
    FAMILIES,
    CertaboBoard,
    ChessUpBoard,
    Dgt3000Gateway,
    chessnut_board,
    millennium_board,
)
from gateway.station import Station

SHARED = Path(__file__).parents[3] / "shared"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"

# --- shared vectors ---------------------------------------------------------------------------------------------


def vectors(*families: str) -> list[Any]:
    """Test parameters: each vector of these files, or one that says why there are none."""
    found = []
    for family in families:
        path = SHARED / "protocols/vectors" / f"{family}.json"
        if not path.exists():
            return [pytest.param({}, marks=pytest.mark.skip(reason="../shared/protocols is not here"), id="none")]
        found += [pytest.param(vector, id=f"{family}-{vector['name']}") for vector in json.loads(path.read_text())]
    return found


def read(decoder: Any, vector: Mapping[str, Any], channel: str | None = None) -> list[Observation]:
    """What a vector says, cut into pieces of twenty bytes."""
    return [told for chunk in chunks(bytes.fromhex(vector["hex"]), 20) for _, told in decoder.feed(chunk, 0.0, channel)]


def placements(told: Iterable[Observation]) -> list[str]:
    """The positions among what was told."""
    return [placement(one.pieces) or "8/8/8/8/8/8/8/8" for one in told if isinstance(one, BoardDump)]


def refused(told: Iterable[Observation]) -> list[str]:
    """Why something was refused."""
    return [one.reason for one in told if isinstance(one, FrameRejected)]


def ever_asked(driver: str, options: Mapping[str, Any] | None = None) -> set[bytes]:
    """All that a driver writes in an hour in which it hears something now and then, falls silent, comes back."""
    dialogue = DRIVERS[driver].family.dialogue({None: "chess"}, options or {})
    if dialogue is None:
        return set()
    asked: set[bytes] = set()
    for began in (0.0, 2000.0):
        asked.update(dialogue.opened(began))
        for minute in range(1, 30):
            while dialogue.deadline is not None and dialogue.deadline < began + minute * 60:
                asked.update(dialogue.tick(dialogue.deadline))
            at = began + minute * 60
            for heard in (FieldUpdate("e2", None), FieldUpdate("e4", "?"), FieldUpdate("e8", "Q"), BoardDump({})):
                asked.update(dialogue.heard(None, heard, at))
            asked.update(dialogue.heard(None, FrameRejected(Reject.VALUE, 6), at))
    return asked


@pytest.mark.parametrize("vector", vectors("chessnut"))
def test_chessnut_vectors(vector: dict[str, Any]) -> None:
    """Positions, charge, acknowledgements; lights, motors and sounds are never sent."""
    meaning = vector["meaning"]
    if vector["direction"] == "host":
        sent = meaning["type"] in ("battery_request",) or meaning == {"type": "init", "mode": "realtime"}

        assert sent == (bytes.fromhex(vector["hex"]) in ever_asked("chessnut"))
        return
    told = read(chessnut.Chessnut(), vector)
    match meaning["type"]:
        case "position" | "hid_report":
            assert [meaning["placement"]] == placements(told)
            junk = meaning.get("junk_prefix_bytes", 0)
            assert junk == sum(one.size for one in told if isinstance(one, FrameRejected))
        case "battery" | "battery_move":
            assert [f"battery {meaning['percent']}"] == [short(one) for one in told]
        case "invalid":
            assert [Reject.VALUE] == refused(told)
        case "truncated":
            assert [] == placements(told)
        case _:
            assert [] == told


@pytest.mark.parametrize("vector", vectors("millennium"))
def test_millennium_vectors(vector: dict[str, Any]) -> None:
    """Positions in either order, acknowledgements, checksums, parity."""
    meaning, data = vector["meaning"], bytes.fromhex(vector["hex"])
    if vector["direction"] == "host":
        text = bytes(byte & 0x7F for byte in data).decode()
        assert data == millennium.build_frame(text[:-2])
        assert (text[0] in "VS") == (data in ever_asked("millennium"))
        return
    order = {"a8_first": "a8", "h1_first": "h1"}.get(meaning.get("square_order", ""), "auto")
    told = read(millennium.Millennium({"order": order}), vector)
    strict = read(millennium.Millennium({"order": order, "strict_parity": True}), vector)
    if "placement" in meaning:
        assert [meaning["placement"]] == placements(told)
        assert placements(told) == placements(strict)
    elif meaning.get("reply") == "v" and meaning["checksum_ok"]:
        assert [f"version {meaning['version_hex']}"] == [short(one) for one in told]
        assert (meaning.get("parity_ok", True)) == (told == strict)
    elif meaning.get("checksum_ok") is False:
        assert Reject.CHECKSUM in refused(told)
    elif meaning.get("parity_ok") is False:
        assert [START] == placements(told)
        assert [Reject.CHECKSUM] == refused(strict)
    elif meaning.get("frames") == ["s", "x"]:
        assert [START] == placements(told)
    else:
        assert [] == told


@pytest.mark.parametrize("vector", vectors("certabo"))
def test_certabo_vectors(vector: dict[str, Any]) -> None:
    """Lines of numbers, whole, wrapped, broken off; lights are never sent."""
    meaning, data = vector["meaning"], bytes.fromhex(vector["hex"])
    if vector["direction"] == "host":
        assert DRIVERS["certabo"].family.dialogue({None: "chess"}, {}) is None
        return
    told = read(certabo.Certabo(), vector)
    match meaning["type"]:
        case "rfid_position" | "rfid_position_then_ack":
            tags = certabo.tags_of(certabo.read_numbers(data[data.index(b":") :].removesuffix(b"L\r\n")))
            assert meaning["tag_h1"] == " ".join(map(str, tags[-1]))
            assert meaning.get("tag_a8") in (None, " ".join(map(str, tags[0])))
            assert [certabo.NOT_CALIBRATED] == [one for one in told if not isinstance(one, FrameRejected)]
            junk = meaning.get("junk_prefix_bytes", 0)
            assert junk == sum(one.size for one in told if isinstance(one, FrameRejected))
        case "occupancy":
            rows = meaning["ranks_8_to_1"]
            bits = [row >> (7 - file) & 1 for row in rows for file in range(8)]
            [dump] = [one for one in told if isinstance(one, BoardDump)]
            assert sum(bits) == len(dump.pieces)
            assert all(square not in dump.pieces for square in meaning.get("empty_on_first_rank", ()))
            assert Senses(pieces=False) in told
        case "invalid":
            assert refused(told)
            assert [] == placements(told)
        case _:
            assert [] == [one for one in told if not isinstance(one, FrameRejected)]


def certabo_vector(name: str) -> bytes:
    """The bytes of one vector."""
    path = SHARED / "protocols/vectors/certabo.json"
    if not path.exists():
        pytest.skip("../shared/protocols is not here")
    return next(bytes.fromhex(vector["hex"]) for vector in json.loads(path.read_text()) if vector["name"] == name)


def test_certabo_fragments() -> None:
    """A line that ends within its last number waits for the rest, which has an acknowledgement behind it."""
    decoder = certabo.Certabo()
    first = decoder.feed(certabo_vector("rfid_fragment_1_of_2"), 0.0)
    rest = decoder.feed(certabo_vector("rfid_fragment_2_of_2"), 0.1)

    assert [] == first
    assert [certabo.NOT_CALIBRATED] == [told for _, told in rest]


def test_certabo_votes_over_recorded_noise() -> None:
    """A recorded board: its set learned from its start position, five misread tags outvoted by their neighbours."""
    start, removed, noisy = (
        certabo_vector(f"rfid_board2_{name}") for name in ("start", "h7_removed", "h7_removed_noisy_tags")
    )
    decoder = certabo.Certabo()
    stream = start * certabo.SAMPLES + removed + noisy + removed + removed
    told = [
        one
        for number, line in enumerate(stream.splitlines(keepends=True))
        for _, one in decoder.feed(line, number * 2.0)
    ]
    calibrated = certabo.Certabo({"calibration": certabo.write_calibration(decoder._set)})
    again = [one for number in range(3) for _, one in calibrated.feed(removed, number * 2.0)]

    assert {START, START.replace("pppppppp", "ppppppp1")} == set(placements(told))
    assert [START.replace("pppppppp", "ppppppp1")] == placements(again)


@pytest.mark.parametrize("vector", vectors("squareoff"))
def test_square_off_vectors(vector: dict[str, Any]) -> None:
    """Events and occupancy; nothing of what moves or lights anything is ever sent. First generation: not read."""
    meaning = vector["meaning"]
    if vector["direction"] == "host":
        asked = ever_asked("squareoff") | ever_asked("squareoff_neo")
        assert (vector["name"] == "pro_host_occupancy_request") == (bytes.fromhex(vector["hex"]) in asked)
        return
    channels = {"777ac5a4": squareoff.NEO_OCCUPANCY, "4496994f": squareoff.NEO_EVENTS}
    channel = channels.get(meaning.get("characteristic", ""))
    if vector["name"] == "neo_bad_digit":
        channel = squareoff.NEO_OCCUPANCY
    told = read(squareoff.SquareOff(), vector, channel)
    if meaning["family"] == "gks":
        assert [Reject.VALUE] == refused(told)
    elif meaning.get("invalid"):
        assert refused(told)
        assert [] == placements(told)
    elif "occupancy_file_major" in meaning:
        [dump] = told
        assert isinstance(dump, BoardDump)
        assert meaning["occupied"] == len(dump.pieces)
        digits = meaning["occupancy_file_major"]
        assert {square for square, digit in zip(squareoff.SQUARES, digits, strict=True) if digit == "1"} == set(
            dump.pieces
        )
    elif "edge" in meaning:
        assert [FieldUpdate(meaning["square"], "?" if meaning["edge"] == "down" else None)] == told
    elif "messages" in meaning:
        assert [FieldUpdate("e2", None), FieldUpdate("e4", "?")] == told
    else:
        assert [] == told


@pytest.mark.parametrize("vector", vectors("ichessone"))
def test_ichessone_vectors(vector: dict[str, Any]) -> None:
    """Positions and charge."""
    meaning, data = vector["meaning"], bytes.fromhex(vector["hex"])
    if vector["direction"] == "host":
        assert (meaning["type"] != "led") == (data in ever_asked("ichessone"))
        return
    told = read(ichessone.IChessOne(), vector)
    match meaning["type"]:
        case "position":
            assert [meaning["placement"]] * meaning.get("frames", 1) == placements(told)
        case "battery":
            assert [f"battery {meaning['percent']}"] == [short(one) for one in told]
        case "invalid":
            assert [Reject.VALUE] == refused(told)
        case _:
            assert [] == placements(told)


@pytest.mark.parametrize("vector", vectors("chessup"))
def test_chessup_vectors(vector: dict[str, Any]) -> None:
    """Moves, states, occupancy; what is sent is the state, the stream, acknowledgements, and a game where wanted."""
    meaning, data = vector["meaning"], bytes.fromhex(vector["hex"])
    if vector["direction"] == "host":
        harmless = ("move_ack", "promotion_ack", "get_state", "enable_raw")
        assert (meaning["type"] in harmless) == (data in ever_asked("chessup"))
        assert (meaning["type"] in (*harmless, "game_settings")) == (data in ever_asked("chessup", {"open_game": True}))
        return
    told = read(chessup.ChessUp(), vector)
    match meaning["type"]:
        case "move":
            assert [FieldUpdate(meaning["from"], None), FieldUpdate(meaning["to"], "?")] == told
        case "duplicate_moves":
            assert 1 == sum(one == FieldUpdate("e4", "?") for one in told)
            assert meaning["frames"] == sum(one == FieldUpdate("e2", None) for one in told)
        case "stream":
            assert FieldUpdate("g1", "q") == told[-1]
        case "occupancy":
            [dump] = told
            assert isinstance(dump, BoardDump)
            assert meaning["occupied"] == len(dump.pieces)
            assert not set(meaning["empty_expected"]) & set(dump.pieces)
        case "state":
            [dump] = told
            assert isinstance(dump, BoardDump)
            assert set(chess.Board(meaning["placement"] + " w - - 0 1").piece_map()) == {
                chess.parse_square(square) for square in dump.pieces
            }
        case "invalid":
            assert [Reject.VALUE] == refused(told)
        case _:
            assert [] == told


NOT_BUILT = {
    "chessnut_clock": "tells only which side was pressed, no time, which the contract has no words for",
    "citrine": "a chess computer that reports its moves, and senses no lifts",
    "phantom": "its 10x10 grid has to be checked on a device",
}


@pytest.mark.parametrize("vector", vectors("others"))
def test_other_vectors(vector: dict[str, Any]) -> None:
    """House of Staunton, CPP, the DGT 3000's gateway; the others have no driver, and why."""
    meaning, data = vector["meaning"], bytes.fromhex(vector["hex"])
    board = meaning["board"]
    if board in NOT_BUILT:
        assert not any(name.startswith(board) for name in DRIVERS)
        return
    if vector["direction"] == "host":
        asked = {
            command.strip() for driver in ("house_of_staunton", "cpp", "dgt3000_ble") for command in ever_asked(driver)
        }
        known = {dgt3000_ble.build_command("getTime", meaning.get("id", "")), b"ok"}
        assert (data in known) or (data not in asked)
        return
    if board == "hos" and meaning.get("transport") == "usb_hid":
        assert meaning["placement"] == placement(house_of_staunton.read_position(data.hex()[2:]))
        return
    decoders: dict[str, Any] = {
        "hos": house_of_staunton.HouseOfStaunton(),
        "cpp": cpp.Cpp(),
        "dgt3000_gateway": dgt3000_ble.Dgt3000Ble(),
    }
    # A CPP command is a notification; it is not cut.
    told = (
        [one for _, one in decoders["cpp"].feed(data, 0.0, cpp.NOTIFY)]
        if board == "cpp"
        else read(decoders[board], vector)
    )
    if "placement" in meaning:
        assert [meaning["placement"]] == placements(told)
    elif "left_s" in meaning:
        assert [ClockTimes(meaning["left_s"], meaning["right_s"], None)] == told
    elif meaning.get("button") == "lever_right":
        decoder = decoders["dgt3000_gateway"]
        [(_, times)] = decoder.feed(dgt3000_ble.build_time_update(1, 1), 0.0)
        assert replace(times, lever="left") == times
    elif "uci" in meaning:
        assert [FieldUpdate("e2", None), FieldUpdate("e4", "?")] == told
    elif "unknown_pieces" in meaning:
        [dump] = told
        assert isinstance(dump, BoardDump)
        assert meaning["unknown_pieces"] == len(dump.pieces)
    elif board == "hos" and meaning.get("type") == "truncated":
        assert [Reject.TRUNCATED] == refused(told)
    else:
        assert [] == told


@pytest.mark.parametrize("vector", vectors("dgt"))
def test_pegasus_vectors(vector: dict[str, Any]) -> None:
    """The few messages that a Pegasus has of its own; lights are never sent."""
    if not vector["name"].startswith("pegasus") and vector["name"] not in (
        "version_pegasus_1_0",
        "hardware_version_1_0",
    ):
        return
    data = bytes.fromhex(vector["hex"])
    if vector["direction"] == "host":
        key = data.hex()[4:-2]
        wanted = vector["meaning"]["type"] == "pegasus_developer_key"
        assert wanted == (data in ever_asked("dgt_pegasus", {"developer_key": key}))
        return
    told = read(dgt_pegasus.Pegasus(), vector)
    if vector["name"] == "pegasus_board_dump_start":
        assert ["????????/????????/8/8/8/8/????????/????????"] == placements(told)
    assert [] == refused(told)


# --- whole games ------------------------------------------------------------------------------------------------

OPTIONS: dict[str, Callable[[WireBoard], dict[str, Any]]] = {"certabo": lambda board: board.options}
MODELS = {
    "chessnut": BoardModel(reports="positions", period=0.2),
    "millennium": BoardModel(reports="positions", period=0.041),
    "millennium_eone": BoardModel(senses="occupancy", reports="positions", period=0.041),
    "certabo": BoardModel(reports="positions", period=0.33),
    "sentio": BoardModel(senses="occupancy", reports="positions", period=0.04),
    "squareoff_neo": BoardModel(senses="occupancy", reports="positions", period=0.04),
    "chessup": BoardModel(senses="occupancy", reports="positions", period=0.04),
    "house_of_staunton": BoardModel(reports="positions", period=0.25),
    "cpp": BoardModel(senses="occupancy", reports="positions", period=0.05),
    "ichessone": BoardModel(reports="positions", period=0.2),
}
CHANNELS = {"squareoff_neo": squareoff.NEO_OCCUPANCY, "cpp": None}


class Sitting:
    """A simulated board, its wire cut into twenty bytes at a time, a link and a station; all on made time."""

    def __init__(self, driver: str, board: Any, options: Mapping[str, Any] | None = None) -> None:
        self.board = board
        self.scan_at = board.period or float("inf")
        self.link = Link(DRIVERS[driver], {None: ("1", "chess")}, options=options)
        table = TableConfig("1", "chess", BoardConfig(driver, orientation="normal"), ClockConfig("none"))
        self.station = Station(table, "g")
        self.channel = CHANNELS.get(driver)
        self.told: list[Observation] = []
        self.events: list[Numbered] = []

    def run(self, observations: Iterable[Timed], end: float, begin: float = 0.0) -> None:
        """Play all of it, from the opening of the port at `begin`."""
        self.link.opened(begin)
        for at, observation in observations:
            if isinstance(observation, BoardDump | FieldUpdate):
                self.until(at)
                self.hear(self.board.sense(observation), at)
        self.until(end)

    def until(self, at: float) -> None:
        """Let every deadline of the link come, and every scan of a board that tells them."""
        while (due := min(self.link.deadline or at + 1, self.scan_at)) <= at:
            if due == self.scan_at:
                self.scan_at += self.board.period or 0.0
                self.hear(self.board.scan(), due)
                continue
            self.tell(self.link.tick(due), due)
            self.answer(due)
        self.events += [event for outcome in self.station.advance(at) for event in outcome.events]

    def hear(self, data: bytes, at: float) -> None:
        """The board says something."""
        for chunk in chunks(data, 20):
            self.tell(self.link.receive(chunk, at, self.channel), at)
        self.answer(at)

    def answer(self, at: float) -> None:
        """The board answers what it was asked."""
        for question, _ in self.link.outgoing():
            if said := self.board.take(question):
                self.hear(said, at)

    def tell(self, told: Iterable[tuple[str, Observation]], at: float) -> None:
        """The table takes what it is told."""
        for _, observation in told:
            self.told.append(observation)
            self.events += [event for outcome in self.station.observe(observation, at) for event in outcome.events]


def performed(model: BoardModel, seed: int = 3) -> tuple[list[Timed], list[str], float]:
    """A game at rapid pace: what the board senses, the plies, and the end."""
    performance = Evening([opera()], RAPID, Habits(), Random(seed)).perform(10.0)
    trace = Board(model, performance, "chess", Random(seed)).trace(None)
    return trace.observations, [ply.name for ply in performance.games[0].plies], trace.end


def first_position(observations: Iterable[Timed]) -> Mapping[str, str]:
    """What stands before anything is touched."""
    return next(said.pieces for _, said in observations if isinstance(said, BoardDump))


@pytest.mark.parametrize("driver", FAMILIES)
def test_a_game_comes_back(driver: str) -> None:
    """A game at rapid pace, through bytes, link and table: all plies, and nothing refused."""
    senses = DRIVERS[driver].senses
    observations, _, end = performed(MODELS.get(driver, replace(CLASSIC, senses=senses, period=0.04)))
    board = wire_board(driver, "chess", first_position(observations))
    sitting = Sitting(driver, board, OPTIONS.get(driver, lambda _: {})(board))
    sitting.run(observations, end)

    assert [ply.name for ply in opera().plies] == [move.uci for move in standing(sitting.events)]
    assert [] == refused(sitting.told)
    assert [True] == [state.up for state in sitting.told if isinstance(state, LinkState)]


def test_a_game_comes_back_over_hid() -> None:
    """The same from the reports of a Chessnut on USB."""
    observations, _, end = performed(MODELS["chessnut"])
    sitting = Sitting("chessnut", chessnut_board(first_position(observations), hid=True))
    sitting.run(observations, end)

    assert [ply.name for ply in opera().plies] == [move.uci for move in standing(sitting.events)]
    assert [] == refused(sitting.told)


def test_options_with_a_form() -> None:
    """A text that cannot be is a mistake of the configuration."""
    assert ["order: 'b8' found, auto|a8|h1 wanted"] == DRIVERS["millennium"].mistakes({"order": "b8"})
    assert [] == DRIVERS["millennium_eone"].mistakes({"order": "h1"})
    assert 1 == len(DRIVERS["dgt_pegasus"].mistakes({"developer_key": "xyz"}))
    assert [] == DRIVERS["dgt_pegasus"].mistakes({"developer_key": "0102"})


@pytest.mark.parametrize("driver", FAMILIES)
def test_a_drop_in_mid_game(driver: str) -> None:
    """The link is lost while somebody thinks, and comes back four seconds later: all plies."""
    observations, _, end = performed(MODELS.get(driver, replace(CLASSIC, senses=DRIVERS[driver].senses, period=0.04)))
    board = wire_board(driver, "chess", first_position(observations))
    sitting = Sitting(driver, board, OPTIONS.get(driver, lambda _: {})(board))
    times = [at for at, _ in observations]
    off = next(at + 1.0 for at, after in pairwise(times) if at > end / 3 and after - at > 6.0)
    sitting.run([timed for timed in observations if timed[0] < off], off)
    sitting.tell(sitting.link.closed(off, "unplugged"), off)
    sitting.scan_at = max(sitting.scan_at, off + 4.0) if board.period else float("inf")
    sitting.run([timed for timed in observations if timed[0] >= off], end, off + 4.0)

    assert [ply.name for ply in opera().plies] == [move.uci for move in standing(sitting.events)]
    assert [True, False, True] == [state.up for state in sitting.told if isinstance(state, LinkState)]


SERIAL = [driver for driver in FAMILIES if DRIVERS[driver].serial is not None]


@pytest.mark.parametrize("driver", SERIAL)
def test_a_game_comes_back_through_a_terminal(driver: str) -> None:
    """The same through a real pseudo-terminal, opened as the registry says, four hundred times as fast."""
    entry = DRIVERS[driver]
    terminal = Terminal(opera(), 5, RAPID, Habits(), driver, entry.senses == "occupancy", speed=400.0)
    board = terminal._board
    options = board.options if isinstance(board, CertaboBoard) else {"newline": True} if driver == "cpp" else {}
    decoder = entry.family.decoder({None: "chess"}, options)
    dialogue = entry.family.dialogue({None: "chess"}, options)
    thread = threading.Thread(target=serve, args=([terminal],))
    told: list[Observation] = []
    asked = list(opening(dialogue))
    thread.start()
    try:
        settings = entry.serial
        assert settings is not None
        with serial.Serial(
            terminal.path, settings.baudrate, settings.bytesize, settings.parity, settings.stopbits, timeout=0.05
        ) as port:
            port.write(b"".join(asked) or b"\n")
            if isinstance(board, CertaboBoard) or not asked:
                terminal._began = 0.0
            while not terminal.done or port.in_waiting:
                told += [one for _, one in decoder.feed(port.read(999), 0.0)]
            thread.join(10.0)
    finally:
        terminal.close()
    last = opera().plies[-1].after
    pieces: dict[str, str] = {}
    for one in told:
        if isinstance(one, BoardDump):
            pieces = dict(one.pieces)

    assert not thread.is_alive()
    assert (last if entry.senses == "pieces" else dict.fromkeys(last, "?")) == pieces
    assert [] == refused(told)


def opening(dialogue: Any) -> Iterator[bytes]:
    """What is asked before anything was heard."""
    if dialogue is None:
        return
    yield from dialogue.opened(0.0)
    while dialogue.deadline is not None and dialogue.deadline < 1.5:
        yield from dialogue.tick(dialogue.deadline)


# --- recordings -------------------------------------------------------------------------------------------------


def recorded(name: str) -> list[tuple[float, str, bytes]]:
    """Time, characteristic and bytes of what a Neo said."""
    path = SHARED / "data/recordings" / name
    if not path.exists():
        pytest.skip("../shared/data is not here")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    said = [(line["t"], bytes.fromhex(line["hex"])) for line in lines if line["op"] == "notify"]
    return [(t, _characteristic(data), data) for t, data in said]


def _characteristic(data: bytes) -> str:
    """The recording has handles, which no table in it explains; the texts tell them apart."""
    if len(data) == 64:
        return squareoff.NEO_OCCUPANCY
    return squareoff.NORDIC_NOTIFY if b"#" in data else squareoff.NEO_EVENTS


def test_a_recorded_connection() -> None:
    """What a Neo says when its app connects: the start position, and nothing that is refused."""
    decoder = squareoff.SquareOff()
    told = [one for t, channel, data in recorded("neo_ble_connect.jsonl") for _, one in decoder.feed(data, t, channel)]

    assert {"????????/????????/8/8/8/8/????????/????????"} == set(placements(told))
    assert [] == refused(told)


def test_a_recorded_game() -> None:
    """A game of a person against a Neo comes back from the packets of its recording."""
    link = Link(DRIVERS["squareoff_neo"], {None: ("1", "chess")})
    table = TableConfig("1", "chess", BoardConfig("squareoff_neo", orientation="normal"), ClockConfig("none"))
    station = Station(table, "g")
    link.opened(0.0)
    events: list[Numbered] = []
    at = 0.0
    for at, channel, data in recorded("neo_ble_game.jsonl"):
        for _, observation in link.receive(data, at, channel):
            events += [event for outcome in station.observe(observation, at) for event in outcome.events]
    events += [event for outcome in station.advance(at + 30.0) for event in outcome.events]
    with (SHARED / "data/recordings/neo_ble_game.moves.pgn").open() as file:
        game = chess.pgn.read_game(file)
    assert game is not None

    assert [move.uci() for move in game.mainline_moves()] == [move.uci for move in standing(events)]


# --- what they are known to do ----------------------------------------------------------------------------------


def start() -> dict[str, str]:
    """The start position."""
    return dict(opera().start)


def test_chessnut_over_a_narrow_link() -> None:
    """Positions cut to 20 bytes never become a position that does not stand; the link does not come up."""
    sitting = Sitting("chessnut", chessnut_board(start(), mtu=20))
    sitting.run([(n * 0.2, FieldUpdate("e2", None if n % 2 else "P")) for n in range(100)], 20.0)

    assert [] == placements(sitting.told)
    assert {Reject.TRUNCATED, Reject.VALUE, Reject.NOISE} >= set(sitting.link.counters["1"].rejected)


def test_chessnut_reports_of_any_length() -> None:
    """Reports of 63, 64 and 65 bytes, one after the other."""
    decoder = chessnut.Chessnut()
    boards = [{"a1": piece} for piece in "RNBQKP"]
    stream = b"".join(
        chessnut.build_hid_report(board)[:size] for board, size in zip(boards, (63, 64, 65, 63, 65, 64), strict=True)
    )
    told = [one for _, one in decoder.feed(stream, 0.0)]

    assert [BoardDump(board) for board in boards] == told


def test_equal_positions_are_told_once_a_second() -> None:
    """Twenty-four a second say nothing new, but that the board is there."""
    decoder = millennium.Millennium({})
    frame = millennium.build_position(start())
    told = [one for n in range(240) for _, one in decoder.feed(frame, n / 24)]

    assert 10 == len(told)


def test_millennium_orientation_holds() -> None:
    """It is settled by a start position and not by anything that comes in a game."""
    decoder = millennium.Millennium({})
    moved = {**start(), "e4": "P"}
    del moved["e2"]
    frames = [millennium.build_position(position, "a8") for position in (start(), moved, {"a1": "K"}, moved)]
    told = [one for n, frame in enumerate(frames) for _, one in decoder.feed(frame, n * 2.0)]

    assert [start(), moved, {"a1": "K"}, moved] == [dict(one.pieces) for one in told if isinstance(one, BoardDump)]


def test_eone_with_wrong_parity() -> None:
    """It is read, and counted where a parity bit is sent at all."""
    decoder = millennium.Millennium({}, senses_pieces=False)
    good, plain = (millennium.build_position(start(), parity=parity) for parity in (True, False))
    broken = bytes((good[0], good[1] ^ 0x80)) + good[2:]
    told = [one for n, frame in enumerate((good, plain, broken)) for _, one in decoder.feed(frame, n * 2.0)]

    assert 3 == len(placements(told))
    assert 1 == decoder.oddities["parity"]


def test_millennium_never_reports() -> None:
    """A board that was told to report nothing is followed by asking."""
    board = millennium_board(start())
    sitting = Sitting("millennium", board)
    sitting.link.opened(0.0)
    sitting.until(1.0)
    board.pieces.pop("e2")
    sitting.until(4.0)

    assert START.replace("PPPPPPPP", "PPPP1PPP") == placements(sitting.told)[-1]


@pytest.mark.parametrize(
    "driver", [driver for driver in FAMILIES if driver not in ("squareoff_neo", "house_of_staunton")]
)
def test_silent_stop(driver: str) -> None:
    """A board that stops without a word is down within ten seconds, and up again when it speaks."""
    board = wire_board(driver, "chess", start())
    sitting = Sitting(driver, board, OPTIONS.get(driver, lambda _: {})(board))
    sitting.link.opened(0.0)
    sitting.until(2.5)
    sitting.hear(board.sense(BoardDump(start())), 3.0)
    sitting.until(3.0)
    board.silent = True
    sitting.until(13.0)

    assert [True, False] == [state.up for state in sitting.told if isinstance(state, LinkState)]
    assert sitting.link.failed


def test_chessup_acknowledgements() -> None:
    """Every copy of a move is acknowledged at once, a refused one too; the game is opened once and not again."""
    dialogue = chessup.dialogue({None: "chess"}, {"open_game": True})
    first = list(opening(dialogue))
    board = ChessUpBoard(start())
    decoder = chessup.ChessUp()
    sent = []
    for data in (board.moved("e2", "e4"), board.repeat(), chessup.build_move("e7", "e5"), b"\x97\x04"):
        for _, told in decoder.feed(data, 1.0):
            sent.append(dialogue.heard(None, told, 1.0))
    refusal = [dialogue.heard(None, told, 2.0) for _, told in decoder.feed(bytes.fromhex("a33508070505"), 2.0)]
    board.take(b"\x21")

    assert chessup.OPEN_GAME == first[0]
    assert chessup.OPEN_GAME not in list(opening(dialogue))
    assert [[b"\x21"], [], [b"\x21"], [b"\x21"], [], [b"\x23"]] == sent
    assert [[b"\x21"]] == refusal
    assert b"" == board.repeat()


def test_chessup_stops_repeating() -> None:
    """Nobody acknowledges: five times, then nothing."""
    board = ChessUpBoard(start())
    said = [board.moved("e2", "e4"), *(board.repeat() for _ in range(6))]

    assert 5 == sum(map(bool, said))


def test_calibration_refuses() -> None:
    """A square without a stable tag, a tag on two squares, too few lines."""
    board = CertaboBoard(start(), noise=0.0)
    line = certabo.tags_of(certabo.read_numbers(board.line()))
    twice, empty = list(line), list(line)
    twice[1] = line[0]
    empty[0] = certabo.EMPTY

    assert {tag: piece for tag, piece in board.set.items() if tag in line} == certabo.calibrate([line] * 7)
    for lines in ([line] * 6, [twice] * 7, [empty] * 7, [line] * 3 + [empty] * 4):
        with pytest.raises(certabo.CalibrationError):
            certabo.calibrate(lines)


def test_the_clock_of_the_gateway() -> None:
    """Which side runs is found from what changes; a press by the lever; a stop by standing still."""
    board, decoder = Dgt3000Gateway(), dgt3000_ble.Dgt3000Ble()
    faces: list[ClockTimes] = [
        ClockTimes(300, 300, None, "left"),
        ClockTimes(299, 300, "left", "left"),
        ClockTimes(299, 300, "right", "right"),
        ClockTimes(299, 299, "right", "right"),
    ]
    told: list[Observation] = []
    for at, face in enumerate(faces):
        told += [one for _, one in decoder.feed(board.sense(face), float(at))]
    stopped = [one for _, one in decoder.feed(board.take(dgt3000_ble.build_command("getTime", "time")), 6.0)]

    assert [None, "left", "right", "right"] == [one.running for one in told if isinstance(one, ClockTimes)]
    assert [None] == [one.running for one in stopped if isinstance(one, ClockTimes)]


def test_a_cpp_board_is_never_begun() -> None:
    """What is asked lights up nothing; a move that comes all the same is accepted."""
    asked = ever_asked("cpp")
    heard = cpp.dialogue({None: "chess"}, {})
    heard.opened(0.0)

    assert {b"feature get_state", b"get_state", b"ok"} == asked
    assert {b"feature get_state\n", b"get_state\n", b"ok\n"} == ever_asked("cpp", {"newline": True})
    assert [b"ok"] == heard.heard(None, FieldUpdate("e4", "?"), 1.0)


def test_asking() -> None:
    """The opening again until something is heard; then probes in turn; a refused frame at most once a second."""
    dialogue = Asking(Questions((b"a", b"b"), (b"x", b"y"), refresh=b"r", settle_s=0.3, gap_s=0.1))
    dialogue.opened(0.0)
    said = [(dialogue.deadline, *dialogue.tick(dialogue.deadline or 0)) for _ in range(4)]
    dialogue.heard(None, BoardDump({}), 3.0)
    probes = [(dialogue.deadline, *dialogue.tick(dialogue.deadline or 0)) for _ in range(3)]
    for at in (9.5, 9.6):
        dialogue.heard(None, FrameRejected(Reject.NOISE, 1), at)
    refreshed = [(dialogue.deadline, *dialogue.tick(dialogue.deadline or 0)) for _ in range(1)]
    dialogue.heard(None, FrameRejected(Reject.NOISE, 1), 9.7)

    assert [b"a", b"b", b"a", b"b"] == [one[1] for one in said]
    assert [0.3, 0.4] == [round(one[0] or 0, 6) for one in said[:2]]
    assert [(5.0, b"x"), (7.0, b"y"), (9.0, b"x")] == probes
    assert [(9.6, b"r")] == refreshed
    assert 10.6 == dialogue.deadline
