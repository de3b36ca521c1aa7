"""One game three ways: its capture replayed, live through a pseudo-terminal, and the live daemon's own capture."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import chess
import pytest
from brokers import subscribed

from gateway import logs
from gateway.capture import Reader
from gateway.config import BoardConfig, Config, MqttConfig, TableConfig
from gateway.daemon import Daemon
from gateway.drivers import serial
from gateway.registry import DRIVERS
from gateway.replay import Form, lines, replayed
from gateway.simulate import captures
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, Board, drawn_board
from gateway.simulate.habits import BLITZ, Habits
from gateway.simulate.pty import Terminal, serve
from gateway.simulate.score import Score, chess_score
from gateway.simulate.session import Evening

SEED = 3
LINGER_S = 3.0

MATE = "e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7#"
BRISK = replace(
    BLITZ,
    increment=0,
    think=0.5,
    spread=0.2,
    carry=(0.2, 0.5),
    press=(0.7, 0.9),
    instant=0,
    instant_recapture=0,
    early=0,
)
"""Fast, but nobody moves while the other still reaches for the clock: then milliseconds would decide the order."""

OF_THE_MOMENT = ("id", "time", "game_id", "elapsed", "evidence")
"""What tells when it was, or on which gateway."""


def table(port: str | None = None) -> TableConfig:
    return TableConfig("1", "chess", BoardConfig("dgt", port), regulations="fide-blitz", time_control="180")


def game() -> Score:
    board = chess.Board()
    return chess_score(chess.Board(), [board.push_san(san) for san in MATE.split()], result="1-0")


def capture(path: Path) -> None:
    """What `Terminal` plays with the same seed, as a capture."""
    rng = Random(SEED)
    performance = Evening([game()], BRISK, Habits(), rng).perform(LINGER_S)
    trace = Board(drawn_board(CLASSIC, rng), performance, "chess", rng).trace(ClockModel(180, 0))
    captures.write(path, table(), performance, trace)


def replay(path: Path) -> bytes:
    """The events of a capture, as `replay --events` prints them."""
    damaged: list[tuple[int, str]] = []
    reader = Reader(path, DRIVERS, lambda number, problem: damaged.append((number, problem)))
    told = b"".join(lines(replayed(reader), Form(events_only=True)))

    assert [] == damaged

    return told


def timeless(events: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Both streams in their order, without what tells when it was and without the end of our own listening."""
    streams: dict[str, list[dict[str, Any]]] = {"public": [], "arbiter": []}
    for event in events:
        stream = "arbiter" if event["kind"] in ("alert", "command") else "public"
        kept = {key: value for key, value in event.items() if key not in OF_THE_MOMENT}
        if "alert_id" in kept:
            kept["alert_id"] = kept["alert_id"].rpartition(".")[2]
        streams[stream].append(kept)
    return streams


def parsed(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


async def cutting(daemon: Daemon, cuts: list[float]) -> None:
    """Cut the table's capture again and again, each time in the middle of a frame; note when."""
    while True:
        await asyncio.sleep(0.001)
        kept = daemon._links("1")["board"]
        if kept is not None and kept["decoder"]["framer"]["buffer"]:
            cuts.append(daemon.clock.now())
            daemon.tables["1"].wall_clock_moved()
            await asyncio.sleep(0.3)


async def live(directory: Path, cuts: list[float]) -> list[dict[str, Any]]:
    """The game through the serial driver, the journal and a broker, as a subscriber has it until the mate."""
    terminal = Terminal(game(), SEED, BRISK, Habits(), linger=LINGER_S)
    playing = threading.Thread(target=serve, args=([terminal],))
    playing.start()
    daemon = Daemon(Config("g", directory, 1.0, MqttConfig(embedded=True, port=18830), (table(terminal.path),)))
    await daemon.start()
    cutter = asyncio.create_task(cutting(daemon, cuts))
    try:
        async with subscribed(daemon.connection.config.port) as subscriber:
            await asyncio.to_thread(playing.join, 60.0)
            await asyncio.sleep(1.0)
            messages = list(subscriber.messages)
    finally:
        cutter.cancel()
        await daemon.shut_down()
        terminal.close()
    told = [json.loads(message.payload) for message in messages if "/event/" in str(message.topic)]
    return sorted(told, key=lambda event: (event["kind"] in ("alert", "command"), event["seq"]))


async def test_live_and_replayed_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same events in the same order, whichever way the bytes came, and wherever the capture was cut."""
    logs.set_up({})
    monkeypatch.setattr(serial, "CHUNK", 1)
    cuts: list[float] = []
    made = tmp_path / "made.capture.jsonl"
    capture(made)
    replayed_once, replayed_again = replay(made), replay(made)
    told = timeless(await live(tmp_path / "state", cuts))
    own = sorted((tmp_path / "state" / "captures").glob("1.*"), key=lambda path: path.stat().st_mtime_ns)
    own_told = timeless(parsed(b"".join(map(replay, own))))

    assert len(own) == len(cuts) + 1 > 5
    assert replayed_once == replayed_again
    assert [each["kind"] for each in told["public"]].count("move") >= 7
    assert "checkmate" in [each.get("reason") for each in told["public"]]
    expected = timeless(parsed(replayed_once))
    assert expected["public"] == told["public"]
    assert expected["arbiter"] == told["arbiter"]
    # When the daemon is stopped its capture goes on for a moment: the board is no longer served.
    for stream, events in told.items():
        assert events == own_told[stream][: len(events)]
        assert all(event["kind"] in ("link", "clock", "alert") for event in own_told[stream][len(events) :])
