"""The whole gateway as a process: killed, stopped, reloaded, its broker killed, its database full of proof."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import time
from pathlib import Path
from typing import Any

import chess
from brokers import Mosquitto, Subscriber, subscribed, until
from hall import START_S, Board, Process

from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.daemon import plan_ports
from gateway.health import Process as HealthProcess
from gateway.health import payload
from gateway.link import Counters
from gateway.notify import Notifier


def events(subscriber: Subscriber, table: str = "1") -> list[dict[str, Any]]:
    return subscriber.payloads(f"hall/table/{table}/event/")


def links(subscriber: Subscriber, table: str = "1") -> list[str]:
    return [event["state"] for event in events(subscriber, table) if event["kind"] == "link"]


def standing(told: list[dict[str, Any]]) -> list[str]:
    """Apply moves and retractions in order of `seq`; return the plies that stand."""
    plies: dict[int, str] = {}
    for event in sorted({event["seq"]: event for event in told}.values(), key=lambda event: event["seq"]):
        if event["kind"] == "move":
            plies[event["ply"]] = event["uci"]
        elif event["kind"] == "move_retracted":
            plies = {ply: uci for ply, uci in plies.items() if ply < event["from_ply"]}
    return [plies[ply] for ply in sorted(plies)]


def prove(told: list[dict[str, Any]], *, in_order: bool = True, whole: bool = True) -> None:
    """No `seq` is missing (if `whole`), none was used twice for different things, the last of each came in order."""
    by_seq: dict[int, dict[str, Any]] = {}
    for event in told:
        assert by_seq.setdefault(event["seq"], event) == event
    assert not whole or sorted(by_seq) == list(range(1, max(by_seq) + 1))
    last = {event["seq"]: index for index, event in enumerate(told)}
    assert not in_order or sorted(last, key=lambda seq: last[seq]) == sorted(last)
    times = [by_seq[seq]["time"] for seq in sorted(by_seq)]
    assert times == sorted(times)


async def online(subscriber: Subscriber, times: int) -> None:
    """Wait until the gateway has come online so many times, and takes commands."""
    states = "hall/gateway/g/status"
    await subscriber.until(lambda s: [p["state"] for p in s.payloads(states)].count("online") == times)
    await asyncio.sleep(0.1)


async def test_kill_9_in_mid_game_loses_nothing(daemon: Process, mosquitto: Mosquitto, board: Board) -> None:
    """Twenty kills at any moment: no seq missing or reused, no event changed, the same game, every ply played."""
    chance = random.Random(3)
    daemon.configure({"1": board.name})
    board.playing = True
    async with subscribed(mosquitto.port) as subscriber:
        for _ in range(20):
            daemon.start()
            await until(lambda: board.asked)
            await asyncio.sleep(chance.uniform(0.0, 0.5))
            daemon.kill()
            await until(lambda: not board.asked)
        daemon.start()
        await until(lambda: board.asked)
        board.playing = False
        await asyncio.sleep(0.5)
        played = list(board.played)
        await subscriber.until(lambda s: standing(events(s)) == played)
        daemon.signal(signal.SIGTERM)
        assert daemon.wait(5) == 0
        await asyncio.sleep(0.2)

    told = events(subscriber)
    prove(told)

    assert len(played) > 20
    assert len({event["game_id"] for event in told if event["kind"] == "move"}) == 1


async def test_kill_9_of_the_broker_loses_nothing(daemon: Process, mosquitto: Mosquitto, board: Board) -> None:
    """What the broker forgot is offered again by `resend`; the rest comes by itself, in order."""
    daemon.configure({"1": board.name})
    board.playing = True
    daemon.start()
    await until(lambda: board.asked)
    for _ in range(3):
        await asyncio.sleep(0.4)
        mosquitto.kill()
        await asyncio.sleep(0.3)
        mosquitto.start()
    board.playing = False
    async with subscribed(mosquitto.port) as subscriber:
        command = {"command": "resend", "id": "r", "by": "test", "stream": "public", "from_seq": 1, "to_seq": 10**6}

        async def ask() -> None:
            await subscriber.client.publish("hall/arbiter/1/command", json.dumps(command), qos=1)

        await subscriber.until(lambda s: "hall/gateway/g/health" in s.topics(), 15)
        await ask()
        await subscriber.until(lambda s: s.payloads("hall/arbiter/1/reply"))
        await subscriber.until(lambda s: standing(events(s)) == board.played)

    prove(events(subscriber), in_order=False)

    assert {"id": "r", "ok": True, "error": None} == subscriber.payloads("hall/arbiter/1/reply")[0]


async def test_sigterm_drains_and_says_offline_in_time(daemon: Process, mosquitto: Mosquitto, board: Board) -> None:
    """In less than five seconds everything is published, and the last word is offline."""
    daemon.configure({"1": board.name})
    board.playing = True
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await until(lambda: len(board.played) > 10, START_S)
        began = time.monotonic()
        daemon.signal(signal.SIGTERM)

        assert daemon.wait(5) == 0
        assert time.monotonic() - began < 5

        await subscriber.until(lambda s: s.payloads("hall/gateway/g/status")[-1]["state"] == "offline")

    prove(events(subscriber))

    assert subscriber.topics()[-1] == "hall/gateway/g/status"


async def test_sighup_takes_over_tables_without_touching_the_others(
    daemon: Process, mosquitto: Mosquitto, board: Board, tmp_path: Path
) -> None:
    """A table is added and taken away while another plays on, undisturbed."""
    second = Board(tmp_path / "board-2", seed=2)
    second.start()
    daemon.configure({"1": board.name})
    board.playing = second.playing = True
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await until(lambda: len(board.played) > 5, START_S)
        daemon.configure({"1": board.name, "2": second.name})
        daemon.signal(signal.SIGHUP)
        await until(lambda: len(second.played) > 5, 30)
        daemon.config.write_text("nonsense")
        daemon.signal(signal.SIGHUP)
        await until(lambda: "the configuration is not taken over" in daemon.log.read_text(), 30)
        daemon.configure({"1": board.name})
        daemon.signal(signal.SIGHUP)
        await until(lambda: not second.asked, 30)
        board.playing = False
        await subscriber.until(lambda s: standing(events(s)) == board.played, 30)
        await subscriber.until(lambda s: links(s, "2") == ["up", "down"])

    prove(events(subscriber, "2"))

    assert ["up"] == links(subscriber)

    await second.stop()


async def test_a_board_is_unplugged_and_plugged_in_again(daemon: Process, mosquitto: Mosquitto, board: Board) -> None:
    """The game goes on where it was."""
    daemon.configure({"1": board.name})
    board.playing = True
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        for _ in range(3):
            before = len(board.played)
            await until(lambda n=before: len(board.played) > n + 3)
            board.playing = False
            await subscriber.until(lambda s: standing(events(s)) == board.played)
            board.unplug()
            await asyncio.sleep(0.1)
            board.plug()
            board.playing = True
        await subscriber.until(lambda s: links(s) == ["up", "down"] * 3 + ["up"])
        board.playing = False
        await subscriber.until(lambda s: standing(events(s)) == board.played)

    prove(events(subscriber))


async def test_a_command_is_answered_and_not_repeated(daemon: Process, mosquitto: Mosquitto, board: Board) -> None:
    """The same id gets the same reply, also after kill -9, and no second event; nonsense gets a sentence."""
    daemon.configure({"1": board.name})
    command = json.dumps({"command": "start_game", "id": "s1", "by": "arbiter"})
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await online(subscriber, 1)
        replies = 0
        for text in (command, command, None, command, "[" * 5000, "\xff", "7", '{"command":7}'):
            if text is None:
                daemon.kill()
                daemon.start()
                await online(subscriber, 2)
                continue
            replies += 1
            await subscriber.client.publish("hall/arbiter/1/command", text.encode("latin-1"), qos=1)
            await subscriber.until(lambda s, n=replies: len(s.payloads("hall/arbiter/1/reply")) == n)

    answers = subscriber.payloads("hall/arbiter/1/reply")
    done = [event for event in subscriber.payloads("hall/arbiter/1/event/command") if event["command_id"] == "s1"]

    assert [{"id": "s1", "ok": True, "error": None}] * 3 == answers[:3]
    assert all(answer["ok"] is False and answer["error"] for answer in answers[3:])
    assert len({event["seq"] for event in done}) == 1


async def test_an_open_alert_outlives_kill_9(daemon: Process, mosquitto: Mosquitto, board: Board) -> None:
    """It is the same alert afterwards, raised once, and goes when the knight is put back."""
    daemon.configure({"1": board.name})

    def open_alerts(subscriber: Subscriber) -> list[str]:
        lists = [payload["alerts"] for payload in subscriber.payloads("hall/arbiter/1/alerts")]
        return [alert["alert_id"] for alert in lists[-1] if alert["irregularity"] == "illegal_move"] if lists else []

    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await until(lambda: board.asked)
        await board.babble(b"clock 180 180 white\nlift g1\nplace N@g3\nclock 182 180 black\n")
        # What the board answers when it is asked again.
        board.game.set_piece_at(chess.G3, board.game.remove_piece_at(chess.G1))
        await subscriber.until(open_alerts)
        before = open_alerts(subscriber)
        daemon.kill()
        await until(lambda: not board.asked)
        told = len(subscriber.payloads("hall/arbiter/1/alerts"))
        daemon.start()
        await until(lambda: board.asked)
        await subscriber.until(lambda s: len(s.payloads("hall/arbiter/1/alerts")) > told)
        # Longer than an illegal move takes to be told, and than a cause that has gone takes to be noticed.
        await asyncio.sleep(1.6)
        after = open_alerts(subscriber)
        await board.babble(b"lift g3\nplace N@g1\n")
        await subscriber.until(lambda s: not open_alerts(s))

    life = {
        event["seq"]: (event["state"], event["alert_id"])
        for event in subscriber.payloads("hall/arbiter/1/event/alert")
        if event["irregularity"] == "illegal_move"
    }

    assert before == after
    assert [("raised", before[0]), ("cleared", before[0])] == [life[seq] for seq in sorted(life)]


async def test_systemd_is_told(daemon: Process, board: Board, tmp_path: Path) -> None:
    """Ready, a status, a fed watchdog, and stopping."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(10)
        daemon.configure({"1": board.name})
        daemon.start({"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"})
        told: list[str] = []

        def listen() -> None:
            while not {"READY=1", "WATCHDOG=1"} <= set(told) or not any(
                line.startswith("STATUS=1 of 1") for line in told
            ):
                told.append(systemd.recv(4096).decode())
            daemon.signal(signal.SIGTERM)
            while "STOPPING=1" not in told:
                told.append(systemd.recv(4096).decode())

        await asyncio.to_thread(listen)

    assert daemon.wait(5) == 0


async def test_a_second_daemon_with_the_same_state_is_refused(daemon: Process, board: Board, tmp_path: Path) -> None:
    """Two gateways must not write one journal."""
    daemon.configure({"1": board.name})
    daemon.start()
    await until(lambda: board.asked)
    second = Process(tmp_path, 1883)
    second.start()

    assert second.wait(10) != 0
    assert "another gateway is running with this state directory" in daemon.log.read_text()


def test_a_status_socket_may_be_abstract() -> None:
    """An address that begins with @ is in the kernel's own name space."""
    name = f"board-gateway-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind("\0" + name)
        systemd.settimeout(1)
        Notifier({"NOTIFY_SOCKET": "@" + name}).status("well")

        assert b"STATUS=well" == systemd.recv(100)


def test_tables_on_a_bus_share_a_port() -> None:
    """One plan for the bus, one for each other board, one for a clock of its own."""
    bus = [TableConfig(str(n), "chess", BoardConfig("dgt", "/dev/bus", bus_address=n)) for n in (1, 2)]
    single = TableConfig("3", "chess", BoardConfig("dgt", "/dev/one"), ClockConfig("other", "/dev/two"))
    plans = plan_ports((*bus, single))

    assert {("/dev/bus", 2), ("/dev/one", 1), ("/dev/two", 1)} == {(plan.port, len(plan.tables)) for plan in plans}


def test_health_has_the_contracts_keys() -> None:
    """What a technician is promised."""
    told = payload(HealthProcess(), 3, {"1": Counters(frames=2, last_frame=5.0)}, [], wall=10.0, epoch=0.0)

    assert {"v", "time", "uptime", "outbox", "cpu", "memory", "temperature", "links"} <= told.keys()
    assert {"frames": 2, "rejected": {}, "reconnects": 0, "last_frame": "1970-01-01T00:00:05.000Z"} == told["links"][
        "1"
    ]
