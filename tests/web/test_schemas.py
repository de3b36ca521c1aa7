"""The published interface: up to date, sound, and true of every message of the rules' cases and of simulated games."""

from __future__ import annotations

import importlib.util
import io
import json
import signal
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from brokers import Mosquitto, subscribed
from hall import Board as GenericBoard
from hall import Process
from playing import simulated_seat

from gateway import capture, health, replay
from gateway.arbiter import COMMANDS
from gateway.config import BoardConfig, TableConfig
from gateway.demo.scripts import TABLES, DemoTable
from gateway.registry import DRIVERS
from gateway.schemas import REPOSITORY, asyncapi, documents, name_of, schemas
from gateway.simulate.captures import entries
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, Board, drawn_board

RULES = REPOSITORY.parent / "shared" / "rules"
CASES: list[dict[str, Any]] = []
if (RULES / "cases.json").exists():
    CASES = json.loads((RULES / "cases.json").read_text(encoding="utf-8"))["cases"]


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schemas()[name])


def faults(lines: Iterable[bytes]) -> list[str]:
    """What of the printed messages is not as the schemas have it."""
    found = []
    for line in lines:
        message = json.loads(line)
        name = name_of(message["topic"])
        if name is None:
            assert message["topic"].endswith(("/pgn", "/pdn")), message["topic"]
        elif message["payload"] is not None:
            for error in validator(name).iter_errors(message["payload"]):
                found.append(f"{message['topic']} {error.json_path}: {error.message[:200]}")
    return found


@pytest.fixture(scope="module")
def converter() -> Any:
    spec = importlib.util.spec_from_file_location("cases_to_captures", RULES / "cases_to_captures.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", documents(), ids=str)
def test_what_is_committed_is_up_to_date(path: Path) -> None:
    """`.venv/bin/python scripts/docs` writes it again."""
    assert documents()[path] == (REPOSITORY / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", schemas())
def test_every_schema_is_one(name: str) -> None:
    """By the rules of JSON Schema 2020-12."""
    jsonschema.Draft202012Validator.check_schema(schemas()[name])


@pytest.mark.skipif(not CASES, reason="the rules reference is not beside the checkout")
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_cases_publish_what_is_written_down(case: dict[str, Any], converter: Any) -> None:
    """Every message of every case."""
    text = "".join(json.dumps(line) + "\n" for line in converter.build(case)).encode()
    reader = capture.Reader(io.BytesIO(text), DRIVERS, lambda number, problem: None)

    assert [] == faults(replay.lines(replay.replayed(reader), replay.Form()))


@pytest.mark.parametrize("number", [1, 4])
def test_games_publish_what_is_written_down(number: int) -> None:
    """A simulated evening of chess, and one of draughts."""
    seat = simulated_seat(number, "g", 0.0)
    player = replay.Player(seat.header)
    outcomes = [outcome for entry in seat.lines[:2500] for outcome in player.play(entry)]

    assert [] == faults(replay.lines(outcomes, replay.Form()))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.id))
def test_the_demo_publishes_what_is_written_down(table: DemoTable) -> None:
    """Every message of one performance at each of its tables."""
    rng = Random(1)
    performance = table.play(rng)
    trace = Board(drawn_board(CLASSIC, rng), performance, table.game, rng).trace(
        ClockModel(table.base, table.increment, credited_at_start=True)
    )
    config = TableConfig(
        table.id, table.game, BoardConfig("dgt"), regulations=table.regulations, time_control=table.time_control
    )
    player = replay.Player(capture.CaptureHeader(0.0, "demo", config))
    outcomes = [outcome for entry in entries(config, trace) for outcome in player.play(entry)]

    assert len(outcomes) > 50
    assert [] == faults(replay.lines(outcomes, replay.Form()))


async def test_a_gateway_publishes_what_is_written_down(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """The real daemon with a board that is played on: all that a subscriber of the whole hall receives."""
    board, daemon = GenericBoard(tmp_path / "board"), Process(tmp_path, mosquitto.port)
    daemon.configure({"1": board.name})
    board.start()
    board.playing = True
    async with subscribed(mosquitto.port) as hall:
        daemon.start()
        try:
            await hall.until(lambda s: len(s.payloads("hall/table/1/event/move")) > 8, 40)
            daemon.signal(signal.SIGTERM)
            await hall.until(lambda s: s.payloads("hall/gateway/g/status")[-1]["state"] == "offline", 20)
        finally:
            daemon.kill()
            await board.stop()
        heard = [
            json.dumps({"topic": str(message.topic), "payload": json.loads(message.payload)}).encode()
            for message in hall.messages
            if message.payload and not str(message.topic).endswith("/pgn")
        ]

    assert {"status", "health", "link", "position", "game", "clock", "alerts", "board"} <= {
        json.loads(line)["topic"].split("/")[-1] for line in heard
    }
    assert [] == faults(heard)


def test_health_is_as_it_is_written_down() -> None:
    """What the gateway says of itself."""
    payload = health.payload(health.Process(), 3, {}, ["no broker"], 1_780_000_000.0, 1_780_000_000.0)

    validator("health").validate(payload)


def test_commands_are_those_that_the_gateway_knows() -> None:
    """A command with every argument; one without what it needs; one that nobody knows."""
    known = {kind["properties"]["command"]["const"] for kind in schemas()["command"]["oneOf"]}

    assert set(COMMANDS) == known

    validator("command").validate({"command": "attend", "id": "x", "by": "AB", "alert_id": "g.1.a2"})
    for wrong in ({"command": "attend"}, {"command": "castle"}, {"command": "resume", "speed": 3}):
        assert not validator("command").is_valid(wrong)


def test_asyncapi_refers_to_what_is_there() -> None:
    """Every reference leads somewhere, and every channel says whether it is retained."""
    document = asyncapi()

    def references(value: Any) -> Iterable[str]:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for inner in value.values():
                yield from references(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from references(inner)

    for reference in references(document):
        place = document
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]

    assert document["channels"].keys() == document["operations"].keys()
    assert "receive" == document["operations"]["command"]["action"]
