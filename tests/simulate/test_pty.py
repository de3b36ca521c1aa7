"""A simulated board on a wire: it answers like a real one, plays to the end, and becomes a capture that can be read."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import chess
import pytest
import serial
from random_games import random_draughts

from gateway import capture
from gateway.config import BoardConfig, TableConfig
from gateway.events import Battery, BoardDump, BoardLog, ClockTimes, FieldUpdate, Identity, Observation
from gateway.protocol.dgt import DRAUGHTS, Dgt
from gateway.protocol.generic import Generic
from gateway.registry import DRIVERS
from gateway.simulate import captures
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, OCCUPANCY, Board, BoardModel
from gateway.simulate.games import opera
from gateway.simulate.habits import BLITZ, RAPID, Habits
from gateway.simulate.pty import Terminal, serve
from gateway.simulate.score import Score
from gateway.simulate.session import Evening
from gateway.simulate.wire import DgtBoard


@contextmanager
def serving(terminal: Terminal) -> Iterator[serial.Serial]:
    """A terminal that plays in a thread, and a host's port on it."""
    thread = threading.Thread(target=serve, args=([terminal],))
    thread.start()
    try:
        with serial.Serial(terminal.path, 9600, timeout=0.05) as port:
            yield port
            thread.join(10.0)
            assert not thread.is_alive()
    finally:
        terminal.close()


def listen(port: serial.Serial, decoder: Dgt | Generic, terminal: Terminal) -> list[Observation]:
    """Everything that is said until the board has finished."""
    told: list[Observation] = []
    while not terminal.done or port.in_waiting:
        told += [observation for _, observation in decoder.feed(port.read(4096), 0.0)]
    return told


def standing(told: list[Observation]) -> dict[str, str]:
    """What dumps and updates leave on the board."""
    pieces: dict[str, str] = {}
    for observation in told:
        if isinstance(observation, BoardDump):
            pieces = dict(observation.pieces)
        elif isinstance(observation, FieldUpdate):
            pieces = {s: p for s, p in {**pieces, observation.square: observation.piece}.items() if p}
    return pieces


def test_a_real_client_follows_a_dgt_board_to_the_end() -> None:
    """It is asked what it is, plays when updates are asked for, and waits until all is read."""
    terminal = Terminal(opera(), 1, BLITZ, Habits(), speed=400.0)
    with serving(terminal) as port:
        port.write(b"\x4d\x45\x55\x42\x41\x4c")
        decoder = Dgt()
        asked: list[Observation] = []
        while not any(isinstance(observation, Battery) for observation in asked):
            asked += [observation for _, observation in decoder.feed(port.read(4096), 0.0)]
        port.write(b"\x4b")
        told = listen(port, decoder, terminal)

    assert [observation.kind for observation in asked if isinstance(observation, Identity)] == [
        "version",
        "serial",
        "long_serial",
    ]
    assert standing(asked) == opera().start
    assert standing(asked + told) == opera().plies[-1].after
    assert any(isinstance(observation, ClockTimes) and observation.running for observation in told)


def test_a_real_client_follows_an_occupancy_board_to_the_end() -> None:
    """The generic protocol: it plays once it is spoken to."""
    terminal = Terminal(opera(), 2, BLITZ, Habits(), driver="generic", occupancy=True, speed=400.0)
    with serving(terminal) as port:
        port.write(b"hello?\nposition?\n")
        told = listen(port, Generic(), terminal)

    assert standing(told) == dict.fromkeys(opera().plies[-1].after, "?")


def test_modes_are_obeyed() -> None:
    """Idle says nothing; 44 leaves the clock out; 40 ends it; bus and unknown commands get no answer."""
    board = DgtBoard("chess", {"e2": "P"})
    lift = FieldUpdate("e2", None)
    times = ClockTimes(180.0, 180.0, "left", "left")

    assert board.sense(lift) == b""
    board.take(b"\x44")
    assert board.sense(lift) == bytes.fromhex("8e00053400")
    assert board.sense(times) == b""
    board.take(b"\x43")
    assert board.sense(times)[0] == 0x8D
    board.take(b"\x40")
    assert board.sense(lift) == b""
    assert board.take(b"\x82\x08\x01\x0b\x58") == b""


def test_the_log_of_changes_can_be_asked_for() -> None:
    """49 gives what changed since power came on."""
    board = DgtBoard("chess", {"e2": "P"})
    board.sense(FieldUpdate("e2", None))
    board.sense(FieldUpdate("e4", "P"))
    [(_, log)] = Dgt().feed(board.take(b"\x49"), 0.0)

    assert isinstance(log, BoardLog)
    assert [(entry.square, entry.piece) for entry in log.entries if entry.square] == [("e2", None), ("e4", "P")]


def test_a_draughts_board_has_a_hundred_fields() -> None:
    """The dump that it sends is the one that a decoder of 10x10 boards reads."""
    score = random_draughts(1)
    board = DgtBoard("draughts", score.start)

    assert [said for _, said in Dgt(DRAUGHTS).feed(board.take(b"\x42"), 0.0)] == [BoardDump(score.start)]


@pytest.mark.parametrize(("driver", "model"), [("dgt", CLASSIC), ("generic", OCCUPANCY)])
def test_captures_are_read_again(tmp_path: Path, driver: str, model: BoardModel) -> None:
    """A capture holds the observations of its trace, and the truth lies beside it."""
    table = TableConfig("1", "chess", BoardConfig(driver))
    path = tmp_path / "game.capture.jsonl"
    performance = Evening([opera()], RAPID, Habits(), Random(4)).perform()
    trace = Board(replace(model, out=(60.0, 70.0)), performance, "chess", Random(4)).trace(ClockModel(900, 10))
    captures.write(path, table, performance, trace)
    damaged: list[str] = []
    reader = capture.Reader(path, DRIVERS, lambda number, problem: damaged.append(problem))
    decoder = Dgt() if driver == "dgt" else Generic()
    told = [
        observation
        for _, entry in reader
        if isinstance(entry, capture.Rx)
        for _, observation in decoder.feed(entry.data, entry.t)
    ]
    kinds = (BoardDump, FieldUpdate)
    truth = json.loads((tmp_path / "game.truth.json").read_text())

    assert not damaged
    assert [o for o in told if isinstance(o, kinds)] == [o for _, o in trace.observations if isinstance(o, kinds)]
    assert [ply["name"] for ply in truth["games"][0]["plies"]] == [ply.name for ply in opera().plies]


def test_the_opera_ends_in_mate() -> None:
    """The game that is played without a file is whole."""
    score: Score = opera()

    assert score.ended_by == "checkmate"
    assert chess.Board(score.plies[-1].fen).is_checkmate()
