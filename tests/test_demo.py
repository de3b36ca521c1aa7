"""The demo: what goes wrong at its tables is told and nothing else, and what it leaves behind is nothing."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from brokers import Subscriber, subscribed, until

from gateway.capture import Reader
from gateway.config import BoardConfig, TableConfig
from gateway.demo.board import evening
from gateway.demo.scripts import TABLES, DemoTable
from gateway.events import Alert, GameEnded, Move, MoveRetracted, Numbered
from gateway.registry import DRIVERS
from gateway.replay import replayed
from gateway.simulate import captures
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, Board, drawn_board
from gateway.simulate.score import Score

WRONG = {
    "1": ["displaced_piece", "flag_fall"],
    "2": ["illegal_move", "both_clocks_stopped"],
    "3": ["unpromoted_pawn", "both_clocks_stopped"],
    "4": ["captured_men_not_removed", "uncrowned_man"],
}
"""What the hands deserve, in order; what is only information is left out."""

SOON_S = 95.0
"""Whoever watches so long has seen all of it."""


# --- the scripts -----------------------------------------------------------------------------------------------


def told(table: DemoTable, seed: int, path: Path) -> list[tuple[float, Numbered]]:
    """One performance as the gateway sees it, with the seconds since its start."""
    rng = Random(seed)
    performance = table.play(rng)
    clock = ClockModel(table.base, table.increment, credited_at_start=True)
    trace = Board(drawn_board(CLASSIC, rng), performance, table.game, rng).trace(clock)
    config = TableConfig(
        table.id, table.game, BoardConfig("dgt"), regulations=table.regulations, time_control=table.time_control
    )
    captures.write(path, config, performance, trace)
    reader = Reader(path, DRIVERS, lambda number, problem: pytest.fail(f"line {number}: {problem}"))
    return [(each.stamp - captures.STARTED, each) for outcome in replayed(reader) for each in outcome.events]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.id)
def test_what_the_hands_deserve_is_told(table: DemoTable, tmp_path: Path) -> None:
    """Each irregularity rises within the first minute and a half, all clear by themselves, and no other is told."""
    events = told(table, 7, tmp_path / "it.capture.jsonl")
    alerts = [(at, each.event) for at, each in events if isinstance(each.event, Alert)]
    raised = [(at, alert.irregularity) for at, alert in alerts if alert.state == "raised" and alert.severity != "info"]
    cleared = [alert.irregularity for _, alert in alerts if alert.state == "cleared"]

    assert WRONG[table.id] == [kind for _, kind in raised]
    assert raised[-1][0] < SOON_S
    assert sorted(WRONG[table.id]) == sorted(cleared)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.id)
def test_the_record_is_the_score(table: DemoTable, tmp_path: Path) -> None:
    """In the end the moves of the game stand, whatever went wrong on the way, and it has its result."""
    events = [each.event for _, each in told(table, 8, tmp_path / "it.capture.jsonl")]
    standing: dict[int, Move] = {}
    for event in events:
        if isinstance(event, Move):
            standing[event.ply] = event
        elif isinstance(event, MoveRetracted):
            standing = {ply: move for ply, move in standing.items() if ply < event.from_ply}
    score: Score = table.score()

    assert [ply.fen for ply in score.plies] == [standing[ply].fen for ply in sorted(standing)]
    assert ["2-0" if table.game == "draughts" else "0-1"] == [e.result for e in events if isinstance(e, GameEnded)]


def test_an_evening_has_no_end() -> None:
    """After the last ply the pieces are set up again, and the next game begins; time never goes back."""
    playing = evening(TABLES[0], Random(1))
    times = [at for at, _ in (next(playing) for _ in range(2000))]

    assert times == sorted(times)
    assert times[-1] > 3 * 120


# --- the whole -------------------------------------------------------------------------------------------------


ANNOUNCED = r"mosquitto_sub -p (\d+)"


class Demo:
    """A running demo whose lines are read."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self.port = 0

    async def read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.lines.append(line.decode().rstrip())

    async def announced(self) -> None:
        """Wait until it says where its broker is."""
        await until(lambda: re.search(ANNOUNCED, "\n".join(self.lines)), 30)
        found = re.search(ANNOUNCED, "\n".join(self.lines))
        assert found
        self.port = int(found[1])


@asynccontextmanager
async def running(directory: Path, *arguments: str) -> AsyncIterator[Demo]:
    """The demo as a process, its temporary files in `directory`."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "demo", "--plain", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=os.environ | {"TMPDIR": str(directory)},
    )
    demo = Demo(process)
    reading = asyncio.create_task(demo.read())
    try:
        yield demo
        await asyncio.wait_for(reading, 60)
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()


def left_behind(directory: Path) -> list[str]:
    """Files of the demo, and processes that still use its directory."""
    commands = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [*map(str, directory.iterdir()), *(line for line in commands.splitlines() if str(directory) in line)]


def fetched(lines: str) -> bytes:
    """The page whose address is among the lines."""
    [address] = re.findall(r"http://\S+", lines)
    with urllib.request.urlopen(address, timeout=10) as answer:
        body: bytes = answer.read()
    return body


RETAINED = {
    "table/link": "v time board clock gateway driver serial battery last_frame since detail",
    "table/position": "v time fen turn orientation",
    "table/clock": "v time white black running flags lever battery_low",
    "table/game": "v time game_id game phase regulations time_control white black event round start_fen orientation"
    " moves result reason",
    "arbiter/alerts": "v time alerts",
    "arbiter/board": "v time physical differs",
}
EVENTS = {
    "game_started": "game start_fen orientation regulations time_control white black event round reason",
    "move": "ply side notation fen legal source clock elapsed",
    "move_retracted": "from_ply reason",
    "move_confirmed": "ply clock",
    "position_set": "ply fen reason",
    "clock": "change side white black running",
    "game_ended": "result reason detail",
    "link": "device state detail",
    "alert": "alert_id irregularity state severity side ply articles message evidence",
    "command": "command command_id by arguments ok error",
}
COMMON = "v id seq time table game_id kind"


def check_payload(topic: str, payload: bytes) -> None:
    """One publication has the keys that the contract gives it."""
    root, branch, name, *rest = topic.split("/")
    what = "/".join(rest)

    assert "hall" == root
    if what in ("pgn", "pdn"):
        assert payload.decode().startswith("[Event ")
        return
    said = json.loads(payload)
    if branch == "gateway":
        assert "demo" == name
        assert {"v"} < said.keys()
    elif what.startswith("event/"):
        assert set(f"{COMMON} {EVENTS[said['kind']]}".split()) <= said.keys()
        assert (branch, what) == (
            "arbiter" if said["kind"] in ("alert", "command") else "table",
            f"event/{said['kind']}",
        )
    elif what not in ("command", "reply"):
        assert set(RETAINED[f"{branch}/{what}"].split()) <= said.keys()


class Desk:
    """An arbiter with mosquitto_pub."""

    def __init__(self, subscriber: Subscriber, port: int) -> None:
        self.subscriber = subscriber
        self._port = port

    async def ask(self, table: str, name: str, **arguments: Any) -> dict[str, Any]:
        """Publish a command; return the reply."""
        number = f"test-{len(self.subscriber.messages)}-{name}"
        message = json.dumps({"command": name, "id": number, "by": "test", **arguments})
        topic = f"hall/arbiter/{table}/command"
        publish = ["mosquitto_pub", "-V", "5", "-q", "1", "-p", str(self._port), "-t", topic, "-m", message]
        assert 0 == await (await asyncio.create_subprocess_exec(*publish)).wait()

        def replies(subscriber: Subscriber) -> list[dict[str, Any]]:
            return [each for each in subscriber.payloads(f"hall/arbiter/{table}/reply") if each["id"] == number]

        await self.subscriber.until(replies)
        return replies(self.subscriber)[0]


async def test_a_hall_beside_the_demo(tmp_path: Path) -> None:
    """Topics and payloads are the contract's, commands are answered, and it ends by itself without a trace."""
    if shutil.which("mosquitto_pub") is None:
        pytest.skip("mosquitto_pub is not installed")
    async with running(tmp_path, "--seconds", "30") as demo:
        await demo.announced()
        async with subscribed(demo.port) as subscriber:
            page = await asyncio.to_thread(fetched, "\n".join(demo.lines))
            desk = Desk(subscriber, demo.port)
            await subscriber.until(lambda s: s.payloads("hall/table/2/event/move"), 20)
            assigned = await desk.ask("2", "assign", white="Somebody Else")
            unknown = await desk.ask("2", "make_coffee")
            fen = subscriber.payloads("hall/table/3/position")[-1]["fen"]
            restored = await desk.ask("3", "set_position", fen=fen)
            ended = await desk.ask("3", "end_game", result="1/2-1/2", reason="agreed")
            again = await desk.ask("3", "end_game", result="2-0")
            await subscriber.until(lambda s: any(p["alerts"] for p in s.payloads("hall/arbiter/4/alerts")), 20)
            [alert] = subscriber.payloads("hall/arbiter/4/alerts")[-1]["alerts"] or [{"alert_id": None}]
            ruled = await desk.ask("4", "acknowledge", alert_id=alert["alert_id"], ruling="dismissed")
            await subscriber.until(lambda s: s.payloads("hall/table/3/event/game_ended"))
            for message in subscriber.messages:
                check_payload(str(message.topic), bytes(message.payload))
            topics = {re.sub(r"/\d+/", "/N/", topic) for topic in subscriber.topics()}

    assert [True, False, True, True, False, True] == [
        reply["ok"] for reply in (assigned, unknown, restored, ended, again, ruled)
    ]
    assert all(reply["error"] for reply in (unknown, again))
    assert {f"hall/{key.replace('/', '/N/')}" for key in RETAINED} <= topics
    assert {"hall/table/N/pgn", "hall/table/N/pdn", "hall/gateway/demo/status", "hall/gateway/demo/health"} <= topics
    assert os.EX_OK == demo.process.returncode
    assert re.search(r"table 4  ALERT: White captured but left captured pieces on 23\.", "\n".join(demo.lines))
    assert re.search(r"table 1  1\.e4", "\n".join(demo.lines))
    assert "Received" in demo.lines[-2]
    assert b"<html" in page
    assert [] == left_behind(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_it_can_be_stopped(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C, a service manager, a closed window: it goes at once, and nothing stays."""
    async with running(tmp_path) as demo:
        await demo.announced()
        demo.process.send_signal(number)

    assert os.EX_OK == demo.process.returncode
    assert not [line for line in demo.lines if "Traceback" in line]
    assert [] == left_behind(tmp_path)


def test_without_mosquitto_it_says_what_to_install(tmp_path: Path) -> None:
    """The one thing that pip cannot bring."""
    without = "import sys, shutil; shutil.which = lambda *a, **k: None; from gateway.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", without, "demo", "--seconds", "1"],
        capture_output=True,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        timeout=60,
    )

    assert os.EX_UNAVAILABLE == done.returncode
    assert "apt-get install mosquitto" in done.stderr
    assert "Traceback" not in done.stderr
    assert [] == left_behind(tmp_path)
