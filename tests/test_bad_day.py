"""A hall's bad day in short, with real parts: a disk that is full, a broker that hangs, is slow or refuses."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from brokers import Mosquitto, Subscriber, subscribed, until
from hall import START_S, Board, Process
from proxy import proxy
from test_daemon import events, prove, standing
from test_mqtt import STATUS, Gateway, event, gateway

from gateway.publish import Message
from gateway.store import Store


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes of its own, where we may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.fixture
def card(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own of the kind that a Pi has on its card."""
    image, disk = tmp_path / "card.image", tmp_path / "card"
    disk.mkdir()
    with image.open("wb") as file:
        file.truncate(32 * 1024 * 1024)
    for command in (["mkfs.ext4", "-q", str(image)], ["mount", "-o", "loop", str(image), str(disk)]):
        if not shutil.which(command[0]) or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("no disk can be made and mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fail_to_read_only(disk: Path) -> None:
    """What the kernel does to a card on which it has met errors: whatever has a file open can write it no more."""
    subprocess.run(["mount", "-o", "remount,abort", str(disk)], check=False, capture_output=True)
    with pytest.raises(OSError, match="Read-only"):
        (disk / "probe").touch()


def boot(disk: Path) -> None:
    """The card is well again, as far as it got."""
    subprocess.run(["umount", str(disk)], check=True)
    subprocess.run(["mount", "-o", "loop", str(disk.with_suffix(".image")), str(disk)], check=True)


async def more_plies(board: Board, number: int) -> None:
    """Wait until so many more have been played."""
    before = len(board.played)
    await until(lambda: len(board.played) >= before + number, 30)


def reached(told: list[dict[str, Any]], board: Board) -> bool:
    """Whether the record is where the board is, by plies or over a gap."""
    fens = {event["seq"]: event["fen"] for event in told if event["kind"] in ("move", "position_set")}
    return bool(fens) and str(fens[max(fens)]).split()[0] == board.game.board_fen()


def fill(disk: Path) -> None:
    """Leave not a byte."""
    with contextlib.suppress(OSError), (disk / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(512))


async def test_kill_9_on_a_full_disk_uses_no_number_twice(
    daemon: Process, mosquitto: Mosquitto, board: Board, small_disk: Path
) -> None:
    """What was told from memory is lost to the journal; its numbers are not, and the hall never hears two of one."""
    daemon.state.symlink_to(small_disk)
    daemon.configure({"1": board.name})
    board.playing = True
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await until(lambda: board.asked, 30)
        await more_plies(board, 3)
        fill(small_disk)
        await until(lambda: "kept in memory" in daemon.log.read_text(), 30)
        await more_plies(board, 5)
        daemon.kill()
        daemon.log.unlink()
        (small_disk / "filling").unlink()
        await until(lambda: not board.asked)
        daemon.start()
        await until(lambda: board.asked, 30)
        await more_plies(board, 3)
        board.playing = False
        await asyncio.sleep(1.0)

    # Acknowledgements were not written either: what went before the full disk is told again.
    prove(events(subscriber), in_order=False, whole=False)

    assert "events that were told are not in the journal" in daemon.log.read_text()


async def test_kill_9_on_a_disk_that_has_become_read_only(
    daemon: Process, mosquitto: Mosquitto, board: Board, card: Path, tmp_path: Path
) -> None:
    """The game goes on from memory, again after a crash, and again when the disk is well: no number is used twice."""
    runtime = tmp_path / "run"
    runtime.mkdir()
    unit = {"RUNTIME_DIRECTORY": str(runtime)}
    daemon.state.symlink_to(card)
    daemon.configure({"1": board.name})
    board.playing = True
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start(unit)
        await until(lambda: board.asked, START_S)
        await more_plies(board, 3)
        fail_to_read_only(card)
        await until(lambda: "kept in memory" in daemon.log.read_text(), 30)
        for _ in range(2):
            await more_plies(board, 5)
            board.playing = False
            await subscriber.until(lambda s: reached(events(s), board), 30)
            daemon.kill()
            await until(lambda: not board.asked)
            daemon.start(unit)
            await until(lambda: board.asked, START_S)
            board.playing = True
        daemon.kill()
        await until(lambda: not board.asked)
        boot(card)
        daemon.log.unlink()
        daemon.start(unit)
        await until(lambda: board.asked, START_S)
        await more_plies(board, 3)
        board.playing = False
        await subscriber.until(lambda s: reached(events(s), board), 30)
        daemon.kill()

    # What went before the failure is told again, as no acknowledgement was written.
    prove(events(subscriber), in_order=False, whole=False)

    assert "kept in memory" not in daemon.log.read_text()


async def test_a_boot_on_a_disk_that_has_become_read_only(
    daemon: Process, mosquitto: Mosquitto, board: Board, card: Path
) -> None:
    """Nobody knows what was told before the boot: numbers go on behind all that there was time for."""
    daemon.state.symlink_to(card)
    daemon.configure({"1": board.name})
    # No stream has more events than seconds, as in any game.
    board.pause_s = 3.0
    board.playing = True
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await until(lambda: board.asked, START_S)
        await more_plies(board, 1)
        fail_to_read_only(card)
        await more_plies(board, 4)
        daemon.kill()
        await until(lambda: not board.asked)
        daemon.start()
        await until(lambda: board.asked, START_S)
        await more_plies(board, 2)
        board.playing = False
        await subscriber.until(lambda s: reached(events(s), board), 30)
        daemon.kill()

    prove(events(subscriber), in_order=False, whole=False)


async def test_what_came_while_the_machine_stood_still(daemon: Process, mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Forty plies of each of four tables are read at one time: all are told, and another table is heard meanwhile."""
    boards = {str(number): Board(tmp_path / f"board-{number}", seed=number, pause_s=0.2) for number in range(1, 6)}
    *behind, other = boards.values()
    for board in boards.values():
        board.start()
    daemon.configure({name: board.name for name, board in boards.items()})
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await until(lambda: all(board.asked for board in boards.values()), START_S)
        await subscriber.until(lambda s: "hall/table/5/link" in s.topics(), START_S)
        await asyncio.sleep(0.5)
        daemon.signal(signal.SIGSTOP)
        for board in behind:
            board.playing = True
        await until(lambda: all(len(board.played) >= 40 for board in behind), 30)
        for board in behind:
            board.playing = False
        daemon.signal(signal.SIGCONT)
        began, other.playing = time.monotonic(), True
        await subscriber.until(lambda s: len(standing(events(s, "5"))) >= 5, 30)
        took, other.playing = time.monotonic() - began, False
        for name, board in boards.items():
            await subscriber.until(lambda s, n=name, b=board: standing(events(s, n)) == b.played, 30)
    for board in boards.values():
        await board.stop()

    assert took < 4


@pytest.mark.parametrize("hangs", ["connecting", "connected"])
async def test_sigterm_while_the_broker_hangs(
    daemon: Process, mosquitto: Mosquitto, tmp_path: Path, hangs: str
) -> None:
    """A broker that takes bytes and answers none: the gateway is gone in five seconds, all that was told is on disk."""
    boards = {str(number): Board(tmp_path / f"board-{number}", seed=number, pause_s=0.5) for number in range(1, 9)}
    daemon.configure({name: board.name for name, board in boards.items()})
    for board in boards.values():
        board.poll_s = 0.02
        board.start()
        board.playing = True
    if hangs == "connecting":
        os.kill(mosquitto.pid, signal.SIGSTOP)
    daemon.start()
    await until(lambda: all(len(board.played) > 2 for board in boards.values()), START_S)
    os.kill(mosquitto.pid, signal.SIGSTOP)
    await asyncio.sleep(0.5)
    began = time.monotonic()
    daemon.signal(signal.SIGTERM)
    code = await asyncio.to_thread(daemon.wait, 10)
    took = time.monotonic() - began
    for board in boards.values():
        await board.stop()
    store = Store(daemon.state / "journal.sqlite3", check=True)
    newest, states = store.newest(), {name: json.loads(body) for name, body in store.states().items()}
    store.close()
    numbers = {name: state["station"]["table"]["numbering"]["public"] for name, state in states.items()}

    assert 0 == code
    assert took < 5
    assert {name: newest[name, "public"] for name in boards} == numbers


async def delays(gate: Gateway, subscriber: Subscriber, first: int, number: int) -> list[float]:
    """Publish one event after the other; return how long each took to the subscriber."""
    found = []
    for seq in range(first, first + number):
        began = time.monotonic()
        await gate.publish(event(seq, "2"))
        await subscriber.until(lambda s, n=seq: last_seq(s, "2") == n, 20)
        found.append(time.monotonic() - began)
    return found


def last_seq(subscriber: Subscriber, table: str) -> int:
    told = subscriber.payloads(f"hall/table/{table}/event")
    return told[-1]["seq"] if told else 0


async def test_a_slow_broker(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """A backlog goes in order, behind retained state; what is new waits for none of it, and for 5 s at most."""
    async with proxy(mosquitto.port) as way, subscribed(mosquitto.port) as subscriber:
        way.rate = 60_000
        async with gateway(tmp_path, 1) as gate:
            gate.connection.serve(["1", "2"])
            for seq in range(1, 1501):
                await gate.publish(event(seq))
            gate.connection.retain([Message("hall/table/1/position", b"{}", True)])
            gate.connection.config = replace(gate.connection.config, port=way.port)
            await subscriber.until(lambda s: last_seq(s, "1") > 20, 20)
            assert gate.connection.backlog > 500
            took = await delays(gate, subscriber, 1, 10)
            await subscriber.until(lambda s: last_seq(s, "1") == 1500, 40)
    topics = subscriber.topics()

    assert max(took) < 5
    assert list(range(1, 1501)) == [told["seq"] for told in subscriber.payloads("hall/table/1/event")]
    assert topics.index(STATUS) < topics.index("hall/table/1/position") < topics.index("hall/table/1/event/move")


async def test_events_are_not_starved_by_state_that_changes_all_the_time(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """More state than the broker takes, always overdue: each event still goes within the second."""
    async with (
        proxy(mosquitto.port) as way,
        subscribed(mosquitto.port, "hall/table/2/#") as subscriber,
        gateway(tmp_path, way.port) as gate,
    ):
        gate.connection.serve(["1", "2"])
        await until(lambda: gate.connection.connected)
        way.rate = 60_000

        async def change() -> None:
            while True:
                gate.connection.retain(
                    [Message(f"hall/table/1/{topic}", os.urandom(500), True) for topic in range(200)]
                )
                await asyncio.sleep(0.1)

        changing = asyncio.create_task(change())
        await asyncio.sleep(1.5)
        took = await delays(gate, subscriber, 1, 8)
        changing.cancel()

    assert max(took) < 2


async def test_a_connection_that_is_lost_before_its_first_answer(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """The broker is killed when it has taken our status and not said so: the gateway comes back by itself."""
    async with proxy(mosquitto.port) as way, gateway(tmp_path, way.port) as gate:
        way.swallow = lambda topic: topic == STATUS
        await until(lambda: way.swallowed)
        way.swallow = lambda topic: False
        way.cut()
        await until(lambda: gate.connection.connected)


QUOTA_EXCEEDED = 0x97


async def test_a_broker_whose_quota_is_exceeded(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Refused events are kept and come in order when there is room again; other tables never wait."""
    async with proxy(mosquitto.port) as way, subscribed(mosquitto.port) as subscriber:
        way.refuse = lambda topic: QUOTA_EXCEEDED if topic.startswith("hall/table/1/event") else None
        async with gateway(tmp_path, way.port) as gate:
            gate.connection.serve(["1", "2"])
            for seq in range(1, 41):
                await gate.publish(event(seq))
            await until(lambda: "Quota exceeded" in (gate.connection.trouble or ""))
            took = await delays(gate, subscriber, 1, 5)
            held = gate.connection.backlog
            way.refuse = lambda topic: None
            await subscriber.until(lambda s: last_seq(s, "1") == 40, 40)

    assert max(took) < 5
    assert held == 40
    assert list(range(1, 41)) == [told["seq"] for told in subscriber.payloads("hall/table/1/event")]


@pytest.mark.parametrize("bound", ["message_size_limit 2000", "max_packet_size 2000"])
async def test_a_packet_that_is_too_large(mosquitto: Mosquitto, tmp_path: Path, bound: str) -> None:
    """It is said and kept; the connection stays, and everything else goes on."""
    mosquitto.kill()
    mosquitto.extra = f"allow_anonymous true\n{bound}\n"
    mosquitto.start()
    async with subscribed(mosquitto.port) as subscriber, gateway(tmp_path, mosquitto.port) as gate:
        gate.connection.serve(["1", "2"])
        await until(lambda: gate.connection.connected)
        gate.connection.retain([Message("hall/table/1/pgn", bytes(5000), True)])
        await until(lambda: "Packet too large" in (gate.connection.trouble or ""))
        took = await delays(gate, subscriber, 1, 5)
        await gate.publish(event(1))
        await subscriber.until(lambda s: last_seq(s, "1") == 1)
        connects = gate.connection.connects

    assert max(took) < 5
    assert connects <= 2


@pytest_asyncio.fixture
async def two_boards(tmp_path: Path) -> AsyncIterator[list[Board]]:
    """On ports whose names follow the adapters, as those under /dev/serial/by-id do."""
    boards = [Board(tmp_path / f"by-id-{number}", seed=number) for number in (1, 2)]
    for number, board in enumerate(boards, 1):
        board.serial = str(100 + number)
        board.start()
    yield boards
    for board in boards:
        await board.stop()


def ports(boards: list[Board]) -> list[str]:
    """What the kernel calls them now."""
    return [str(board.name.readlink()) for board in boards]


async def all_standing(subscriber: Subscriber, boards: list[Board]) -> None:
    """Stop playing, and wait until each table's game is its own board's."""
    for board in boards:
        board.playing = False
    for number, board in enumerate(boards, 1):
        await subscriber.until(lambda s, n=str(number), b=board: standing(events(s, n)) == b.played, 30)


async def test_a_hub_is_reset(daemon: Process, mosquitto: Mosquitto, two_boards: list[Board]) -> None:
    """Both adapters go at once, in mid-game, and come back each with the other's kernel name: both games go on."""
    daemon.configure({"1": two_boards[0].name, "2": two_boards[1].name})
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        for _ in range(2):
            for board in two_boards:
                board.playing = True
            await asyncio.gather(*(more_plies(board, 5) for board in two_boards))
            await all_standing(subscriber, two_boards)
            names = ports(two_boards)
            for board in two_boards:
                board.unplug()
            await asyncio.sleep(0.3)
            # The kernel gives the lowest name that is free to who comes first.
            for board in two_boards if names[0] > names[1] else two_boards[::-1]:
                board.plug()

            assert names == ports(two_boards)[::-1]
        for board in two_boards:
            board.playing = True
        await asyncio.gather(*(more_plies(board, 5) for board in two_boards))
        await all_standing(subscriber, two_boards)

    for number in ("1", "2"):
        prove(events(subscriber, number))
        assert 1 == len({told["game_id"] for told in events(subscriber, number) if told["kind"] == "move"})


async def test_another_serial_number(daemon: Process, mosquitto: Mosquitto, two_boards: list[Board]) -> None:
    """Boards that have been exchanged are refused, by name, and nothing of them is heard; put right, all goes on."""
    first, second = two_boards
    daemon.configure({"1": first.name, "2": second.name}, {"1": first.serial, "2": second.serial})

    async def play() -> None:
        for board in two_boards:
            board.playing = True
        await asyncio.gather(*(more_plies(board, 4) for board in two_boards))
        await all_standing(subscriber, two_boards)

    def exchange() -> None:
        for board in two_boards:
            board.unplug()
        first.name, second.name = second.name, first.name
        for board in two_boards:
            board.plug()

    def refused(told: Subscriber) -> bool:
        detail = told.payloads("hall/table/1/link")[-1]["detail"]
        return bool(detail == "another board is on this port: 102; 101 is expected")

    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await play()
        exchange()
        await subscriber.until(refused, 20)
        exchange()
        await play()

    for number in ("1", "2"):
        prove(events(subscriber, number))


async def test_nonsense_for_a_minute(daemon: Process, mosquitto: Mosquitto, board: Board) -> None:
    """What a board says in a minute, as fast as it is taken, and none of it sense: counted, forgotten, played on."""
    daemon.configure({"1": board.name})
    board.playing = True
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await more_plies(board, 5)
        board.playing = False
        await asyncio.sleep(0.5)
        before = resident(daemon.pid)
        await board.babble(random.Random(1).randbytes(115_200 // 10 * 60))
        grown = resident(daemon.pid) - before
        board.playing = True
        await more_plies(board, 5)
        board.playing = False
        await subscriber.until(lambda s: standing(events(s)) == board.played, 30)
        await subscriber.until(lambda s: rejected(s) > 100, 20)

    prove(events(subscriber))

    assert grown < 8_000_000


def rejected(subscriber: Subscriber) -> int:
    told = subscriber.payloads("hall/gateway/g/health")
    return sum(told[-1]["links"]["1"]["rejected"].values()) if told else 0


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
