"""Bluetooth Low Energy with the real bleak against a made BlueZ on a private bus: all that goes wrong, and games."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import structlog
from bleak.backends.bluezdbus.version import BlueZFeatures
from brokers import Mosquitto, descriptors, subscribed, until
from dbus_fast import BusType, Message
from dbus_fast.aio import MessageBus
from hall import Process

from gateway import ports as ports_module
from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.drivers import Ble, ble
from gateway.drivers.ble import BlePort, Radio, Seen, fits, scan
from gateway.errors import LinkError
from gateway.events import LinkState, Move, MoveRetracted, Observation
from gateway.link import Link
from gateway.ports import Keeper
from gateway.registry import DRIVERS, Entry
from gateway.simulate.bluez import BLE, BleBoard, Bluez, Characteristic, Peripheral, made, peripheral, simulated
from gateway.simulate.games import opera
from gateway.simulate.habits import RAPID, Habits
from gateway.simulate.wire import wire_board
from gateway.simulate.wire_families import CertaboBoard
from gateway.station import Station

A, B = "AA:00:00:00:00:01", "AA:00:00:00:00:02"
UART = Ble(
    "Board",
    "a0000000-0000-4000-8000-000000000001",
    ("a0000000-0000-4000-8000-000000000003",),
    "a0000000-0000-4000-8000-000000000002",
)
NOTIFY = UART.notify[0]


WAITS = {
    name: getattr(ble, name)
    for name in ("SEARCH_S", "CHOICE_S", "FRESH_S", "CONNECT_S", "SUBSCRIBE_S", "WRITE_S", "DISCONNECT_S")
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waits of a real hall, a tenth as long; and no bluetoothctl is asked for its version."""
    for name, seconds in WAITS.items():
        monkeypatch.setattr(ble, name, seconds / 10)
    monkeypatch.setattr(ble, "CONNECT_S", 0.7)
    monkeypatch.setattr(ports_module, "REOPEN_S", (0.05, 0.2))
    monkeypatch.setattr(BlueZFeatures, "checked_bluez_version", True)


@pytest_asyncio.fixture
async def bluez() -> AsyncIterator[Bluez]:
    async with made() as service:
        yield service


@pytest_asyncio.fixture
async def radio() -> AsyncIterator[Radio]:
    shared = Radio()
    yield shared
    await shared.close()


@dataclass
class Ear:
    chunks: list[tuple[bytes, str | None]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def hear(self, data: bytes, at: float, channel: str | None) -> None:
        self.chunks.append((data, channel))

    @property
    def heard(self) -> bytes:
        return b"".join(data for data, _ in self.chunks)


def port(
    radio: Radio, target: str, ear: Ear | None = None, owner: str = "board of table 1", match: Ble = UART
) -> BlePort:
    ear = ear or Ear()
    return radio.port(target, (match,), owner, ear.hear, ear.lost.append)


def board(address: str = A, name: str = "Board", **manners: Any) -> Peripheral:
    return peripheral(UART, address, name, **manners)


# --- both ways ------------------------------------------------------------------------------------------------------


async def test_chunks_come_with_their_characteristic(bluez: Bluez, radio: Radio) -> None:
    """What is notified is heard as it was cut, with the UUID it came on."""
    device = board(mtu=23)
    bluez.add(device)
    ear = Ear()
    opened = port(radio, f"ble:{A}", ear)
    await opened.open()
    device.notify(NOTIFY, bytes(range(30)))
    await until(lambda: len(ear.heard) == 30)

    assert [(bytes(range(20)), NOTIFY), (bytes(range(20, 30)), NOTIFY)] == ear.chunks

    await opened.close()
    assert not device.connected


async def test_what_comes_before_the_port_is_known_to_be_open_is_not_lost(bluez: Bluez, radio: Radio) -> None:
    """Some boards speak the moment somebody listens, and never again."""
    first = Characteristic("b0000000-0000-4000-8000-000000000001", ("notify",))
    match = replace(UART, notify=(NOTIFY, first.uuid))
    device = peripheral(match, A)
    subscribed = device.subscribed

    class Eager(set[str]):
        def add(self, uuid: str) -> None:
            super().add(uuid)
            device.notify(uuid, b"hello")

    device.subscribed = Eager(subscribed)
    bluez.add(device)
    ear = Ear()
    opened = port(radio, f"ble:{A}", ear, match=match)
    await opened.open()
    assert [] == ear.chunks
    await until(lambda: len(ear.chunks) == 2)

    assert [NOTIFY, first.uuid] == [channel for _, channel in ear.chunks]

    await opened.close()


@pytest.mark.parametrize(
    ("with_response", "flags", "kind"),
    [
        (True, ("write", "write-without-response"), "request"),
        (False, ("write", "write-without-response"), "command"),
        (True, ("write-without-response",), "command"),
        (False, ("write",), "request"),
    ],
)
async def test_writes_are_cut_to_what_the_link_carries(
    bluez: Bluez, radio: Radio, with_response: bool, flags: tuple[str, ...], kind: str
) -> None:
    """In order, none longer than the device takes; with response or without as the registry says and the board can."""
    match = replace(UART, with_response=with_response)
    services = {UART.service: (Characteristic(NOTIFY, ("notify",)), Characteristic(UART.write, flags))}
    device = Peripheral(A, "Board", services, mtu=23)
    bluez.add(device)
    opened = port(radio, f"ble:{A}", match=match)
    await opened.open()
    opened.write(bytes(range(50)))
    opened.write(b"next")
    await until(lambda: len(device.written) == 4)

    assert [bytes(range(20)), bytes(range(20, 40)), bytes(range(40, 50)), b"next"] == [w[1] for w in device.written]
    assert {(UART.write, kind)} == {(uuid, way) for uuid, _, way in device.written}

    await opened.close()


# --- which device ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["ble-name:Board 7", "ble:"])
async def test_the_only_one_is_found_by_name_or_kind(bluez: Bluez, radio: Radio, target: str) -> None:
    """A whole name; or whatever the registry's entry fits."""
    device = board(A, "Board 7")
    bluez.add(device)
    bluez.add(Peripheral(B, "Something", {}))
    opened = port(radio, target)
    await opened.open()

    assert device.connected

    await opened.close()


async def test_two_of_one_name_are_refused_by_name(bluez: Bluez, radio: Radio) -> None:
    """Nothing is guessed; the message says both addresses and what to do."""
    bluez.add(board(A, "Board"))
    bluez.add(board(B, "Board"))

    with pytest.raises(LinkError) as refused:
        await port(radio, "ble-name:Board").open()

    assert f'2 boards named Board are in range: {A}, {B}; say which by port = "ble:ADDRESS"' == str(refused.value)
    assert [0, 0] == [device.connections for device in bluez.peripherals]

    with pytest.raises(LinkError, match=f"2 boards of this kind are in range: {A}, {B}"):
        await port(radio, "ble:").open()


async def test_a_name_that_has_led_to_a_device_leads_to_no_other(bluez: Bluez, radio: Radio) -> None:
    """Another board of that name comes, and ours goes: it is waited for; another table cannot take it by that name."""
    ours, other = board(A, "Board"), board(B, "Board", in_range=False)
    bluez.add(ours)
    bluez.add(other)
    opened = port(radio, "ble-name:Board")
    await opened.open()
    other.in_range = True
    with pytest.raises(LinkError, match=f"2 boards named Board are in range: {A}, {B}"):
        await port(radio, "ble-name:Board", owner="board of table 2").open()
    await opened.close()
    ours.in_range = False
    with pytest.raises(LinkError, match=rf"ble-name:Board \({A}\) is not in range"):
        await port(radio, "ble-name:Board").open()
    ours.in_range = True
    again = port(radio, "ble-name:Board")
    await again.open()

    assert [2, 0] == [ours.connections, other.connections]

    await again.close()


async def test_one_board_has_one_table(bluez: Bluez, radio: Radio) -> None:
    """A second table that names the same address is told whose it is."""
    bluez.add(board())
    opened = port(radio, f"ble:{A}")
    await opened.open()
    with pytest.raises(LinkError, match=r"not in range|in use by the board of table 1"):
        await port(radio, f"ble:{A}", owner="board of table 2").open()

    assert bluez.peripherals[0].connected

    await opened.close()


async def test_a_device_without_the_characteristics_is_no_such_board(bluez: Bluez, radio: Radio) -> None:
    """It is let go at once."""
    stranger = Peripheral(A, "Board", {UART.service: (Characteristic(NOTIFY, ("notify",)),)})
    bluez.add(stranger)

    with pytest.raises(LinkError, match="it lacks the characteristics"):
        await port(radio, f"ble:{A}").open()

    assert not stranger.connected


def test_serial_modules_of_anybody_prove_nothing() -> None:
    """A service of ready-made modules is no reason to write to a device; a maker's own service is."""

    def seen(name: str, service: str) -> Seen:
        return Seen(A, name, frozenset({service}), -50, 0.0, None)  # type: ignore[arg-type]

    pegasus, millennium = DRIVERS["dgt_pegasus"].matches[0], DRIVERS["millennium"].matches[-1]
    assert isinstance(pegasus, Ble)
    assert isinstance(millennium, Ble)

    assert fits(seen("DGT_PEGASUS_50262", pegasus.service), pegasus)
    assert not fits(seen("Thermometer", pegasus.service), pegasus)
    assert fits(seen("", millennium.service), millennium)
    assert not any(fits(seen("MILLENNIUM CHESS", ""), match) for match in millennium and DRIVERS["dgt"].matches)


async def test_boards_are_told_apart_by_their_serial_number(bluez: Bluez, radio: Radio) -> None:
    """Without a port each free board of the kind is tried in turn, and none that another table has."""
    bluez.add(board(A))
    bluez.add(board(B))

    assert ["ble:"] == radio.targets(None, "7", (UART,))
    await scan_by(radio)
    assert [f"ble:{A}", f"ble:{B}"] == radio.targets(None, "7", (UART,))
    opened = port(radio, f"ble:{A}")
    await opened.open()
    assert [f"ble:{B}"] == radio.targets(None, "7", (UART,))
    assert [] == radio.targets(None, None, (UART,))
    assert [] == radio.targets("/dev/ttyUSB0", "7", (UART,))
    assert [f"ble:{B}"] == radio.targets(f"ble:{B}", "7", (UART,))

    await opened.close()


async def scan_by(radio: Radio) -> None:
    await radio.look(0.3, lambda: False)


async def test_a_scan_lists_who_is_there(bluez: Bluez, radio: Radio) -> None:
    """The nearest first, after those that are connected already, which say nothing in the air."""
    for number, name in enumerate(("near", "far", ""), 1):
        bluez.add(board(f"AA:00:00:00:00:0{number}", name))
    busy = board(B.replace("02", "09"), "busy")
    bluez.add(busy)
    opened = port(radio, f"ble:{busy.address}")
    await opened.open()
    found = await scan(0.3, [UART.service])

    assert [("busy", True), ("near", False), ("far", False), ("", False)] == [(s.name, s.connected) for s in found]
    assert [None, -50, -51, -52] == [s.rssi for s in found]

    await opened.close()


# --- what goes wrong ------------------------------------------------------------------------------------------------


async def no_bluez(bluez: Bluez) -> None:
    await bluez.stop()


async def no_bus(bluez: Bluez) -> None:
    os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/nonexistent/bus"


async def no_adapter(bluez: Bluez) -> None:
    bluez.unplug()


async def switched_off(bluez: Bluez) -> None:
    bluez.power(False)


async def away(bluez: Bluez) -> None:
    bluez.peripherals[0].in_range = False


async def shy(bluez: Bluez) -> None:
    bluez.peripherals[0].drops_connecting = True


async def deaf(bluez: Bluez) -> None:
    bluez.peripherals[0].connect_s = 60


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (no_bluez, "the Bluetooth service is not running"),
        (no_bus, r"the system bus \(D-Bus\) cannot be reached"),
        (no_adapter, "there is no Bluetooth adapter"),
        (switched_off, "Bluetooth is switched off"),
        (away, "is not in range, is switched off, or is in use by another device"),
        (shy, "failed to discover services, device disconnected"),
        (deaf, "no answer"),
    ],
)
async def test_what_hinders_is_said_in_words(
    bluez: Bluez, radio: Radio, trouble: Callable[[Bluez], Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `LinkError` a person can act on, every time; and nothing is left open."""
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
    bluez.add(board())
    await trouble(bluez)
    ear = Ear()
    closed = port(radio, f"ble:{A}", ear)
    counts = []
    for _ in range(2):
        with pytest.raises(LinkError, match=words):
            await closed.open()
        await asyncio.sleep(0.05)
        counts.append(descriptors())

    assert counts[0] == counts[-1]
    assert [] == ear.lost
    assert not bluez.peripherals[0].connected


async def drop(bluez: Bluez) -> None:
    bluez.peripherals[0].drop()


async def restart(bluez: Bluez) -> None:
    await bluez.restart()


async def pull(bluez: Bluez) -> None:
    bluez.unplug()
    bluez.plug()


async def toggle(bluez: Bluez) -> None:
    bluez.power(False)
    bluez.power(True)


@pytest.mark.parametrize("trouble", [drop, restart, pull, toggle])
async def test_a_loss_is_told_once_and_the_device_is_found_again(
    bluez: Bluez, radio: Radio, trouble: Callable[[Bluez], Any]
) -> None:
    """Out of range, BlueZ killed, the adapter pulled or switched off: once each, and all is as before afterwards."""
    device = board()
    bluez.add(device)
    ear = Ear()
    opened = port(radio, f"ble:{A}", ear)
    for number in range(1, 4):
        await opened.open()
        device.notify(NOTIFY, b"x" * number)
        await until(lambda n=number: ear.heard.endswith(b"x" * n))
        await trouble(bluez)
        await until(lambda n=number: len(ear.lost) == n, 1)
        opened.write(b"into the void")
        await opened.close()

    assert [f"ble:{A} lost the connection"] * 3 == ear.lost
    assert b"xxxxxx" == ear.heard


@pytest.mark.parametrize(
    ("manner", "why"), [("refuses_writes", "GATT Protocol Error: Unlikely Error"), ("stuck", "no answer")]
)
async def test_a_device_that_takes_nothing_is_given_up(bluez: Bluez, radio: Radio, manner: str, why: str) -> None:
    """A refusal, or no answer at all, ends the port."""
    device = board()
    setattr(device, manner, True)
    bluez.add(device)
    ear = Ear()
    opened = port(radio, f"ble:{A}", ear)
    await opened.open()
    opened.write(b"question")
    await until(lambda: ear.lost, 2)

    assert f"ble:{A} does not take what it is sent: " in ear.lost[0]
    assert why in ear.lost[0]

    await opened.close()


async def test_what_waits_is_bounded(bluez: Bluez, radio: Radio) -> None:
    """A slow device does not fill the memory."""
    bluez.add(board(stuck=True))
    ear = Ear()
    opened = port(radio, f"ble:{A}", ear)
    await opened.open()
    for _ in range(ble.UNSENT_BYTES // 1000 + 1):
        opened.write(bytes(1000))

    assert [f"ble:{A} does not take what it is sent"] == ear.lost

    await opened.close()


async def test_connections_are_made_one_at_a_time(bluez: Bluez, radio: Radio) -> None:
    """An adapter that is asked for two at once makes neither; a board that is away keeps nobody waiting."""
    addresses = [f"AA:00:00:00:00:0{number}" for number in range(1, 6)]
    for address in addresses:
        bluez.add(board(address, connect_s=0.05))
    bluez.peripherals[4].in_range = False
    opened = [port(radio, f"ble:{address}", owner=address) for address in addresses]
    began = asyncio.get_running_loop().time()
    absent = asyncio.create_task(opened[4].open())
    await asyncio.gather(*(each.open() for each in opened[:4]))
    took = asyncio.get_running_loop().time() - began
    await asyncio.gather(absent, return_exceptions=True)

    assert 1 == bluez.connects_at_once
    assert isinstance(absent.exception(), LinkError)
    assert took < ble.SEARCH_S
    assert [True] * 4 + [False] == [device.connected for device in bluez.peripherals]

    await asyncio.gather(*(each.close() for each in opened))


@pytest.mark.parametrize("target", [f"ble:{A}", "ble-name:Board", "ble:"])
async def test_a_connection_left_by_a_killed_gateway_is_taken_over(bluez: Bluez, radio: Radio, target: str) -> None:
    """BlueZ keeps it, and the board, being connected, does not advertise: no scan would find it."""
    device = board()
    bluez.add(device)
    await scan_by(radio)
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    path = f"/org/bluez/hci0/dev_{A.replace(':', '_')}"
    await bus.call(Message("org.bluez", path, "org.bluez.Device1", "Connect"))
    bus.disconnect()
    await until(lambda: device.connected)
    ear = Ear()
    opened = port(radio, target, ear)
    await opened.open()
    device.notify(NOTIFY, b"still here")
    await until(lambda: ear.heard == b"still here")

    assert 1 == device.connections

    await opened.close()


async def test_a_port_that_is_being_opened_can_be_given_up(bluez: Bluez, radio: Radio) -> None:
    """The gateway stops while a board is searched for, or connected to: nothing stays behind."""
    device = board(connect_s=0.3)
    bluez.add(device)
    for delay in (0.02, 0.2):
        opening = asyncio.create_task(port(radio, f"ble:{A}").open())
        await asyncio.sleep(delay)
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
    await asyncio.sleep(0.4)
    assert not device.connected
    opened = port(radio, f"ble:{A}")
    await opened.open()
    assert device.connected
    await opened.close()


# --- with a link ----------------------------------------------------------------------------------------------------

PEGASUS = DRIVERS["dgt_pegasus"]


class Tables:
    """What tables were told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Observation]] = []

    def tell(self, told: list[tuple[str, Observation]], at: float) -> None:
        self.told += told

    def states(self) -> list[bool]:
        return [said.up for _, said in self.told if isinstance(said, LinkState)]


def keeper(
    radio: Radio,
    target: str,
    entry: Entry,
    tell: Any,
    note: Any = lambda *line: None,
    name: str = "board of table 1",
    options: Mapping[str, Any] | None = None,
) -> Keeper:
    return Keeper(
        name,
        Link(entry, {None: ("1", "chess")}, options=options),
        lambda: radio.targets(target, None, entry.matches),
        lambda target, hear, lost: radio.port(target, entry.matches, name, hear, lost),
        tell,
        note,
    )


def ble_of(entry: Entry) -> Ble:
    return next(match for match in entry.matches if isinstance(match, Ble))


@contextlib.contextmanager
def logged() -> Iterator[list[str]]:
    """The words of each log line."""
    with structlog.testing.capture_logs() as lines:
        said: list[str] = []
        yield said
        said += [f"{line['event']}: {line.get('why', '')}" for line in lines]


async def test_a_board_is_followed_through_everything(bluez: Bluez, radio: Radio) -> None:
    """Up, down, up: told to the table and logged once each; nothing leaks; the capture knows the characteristic."""
    match = ble_of(PEGASUS)
    device = peripheral(match, A)
    BleBoard(device, wire_board("dgt_pegasus", "chess", {"e2": "P"}), match.notify[0], [])
    bluez.add(device)
    tables = Tables()
    notes: list[Any] = []
    kept = keeper(radio, f"ble:{A}", PEGASUS, tables.tell, lambda *line: notes.append(line))
    counts = []
    with logged() as lines:
        running = asyncio.create_task(kept.run())
        for trouble in (drop, restart, switched_off, drop, restart):
            await until(lambda: tables.states() and tables.states()[-1], 3)
            await asyncio.sleep(0.1)
            counts.append((descriptors(), len(asyncio.all_tasks())))
            await trouble(bluez)
            await until(lambda: not tables.states()[-1], 1)
            if trouble is switched_off:
                await asyncio.sleep(0.5)
                bluez.power(True)
        await until(lambda: tables.states()[-1], 3)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    states = tables.states()
    assert 6 == states.count(True)
    assert 1 == len(set(counts)), counts
    down = f"no device: ble:{A}"
    assert [
        *["answers: ", f"{down} lost the connection"] * 2,
        "answers: ",
        f"{down} lost the connection",
        "no device: Bluetooth is switched off",
        *["answers: ", f"{down} lost the connection"] * 2,
        "answers: ",
    ] == [line for line in lines if "not running" not in line]
    assert {match.notify[0]} == {channel for direction, _, channel, _ in notes if direction == "rx"}
    assert not device.connected


async def test_a_board_that_falls_silent_is_connected_anew(
    bluez: Bluez, radio: Radio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The radio link stands and nothing comes: the link's own watchdog says so, and the port begins again."""
    monkeypatch.setattr("gateway.link.LOST_S", 0.5)
    monkeypatch.setattr("gateway.link.UNANSWERED", 1)
    match = ble_of(PEGASUS)
    device = peripheral(match, A)
    made_board = wire_board("dgt_pegasus", "chess", {"e2": "P"})
    BleBoard(device, made_board, match.notify[0], [])
    bluez.add(device)
    tables = Tables()
    entry = replace(PEGASUS, silence_s=0.7)
    running = asyncio.create_task(keeper(radio, f"ble:{A}", entry, tables.tell).run())
    await until(lambda: tables.states() == [True], 3)
    made_board.silent = True  # type: ignore[attr-defined]
    await until(lambda: tables.states() == [True, False], 3)
    made_board.silent = False  # type: ignore[attr-defined]
    await until(lambda: tables.states() == [True, False, True], 3)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert 2 <= device.connections
    assert "does not answer" in [said.detail for _, said in tables.told if isinstance(said, LinkState)]


# --- games ----------------------------------------------------------------------------------------------------------


HALFWAY = 60
"""Observations; a game has some 130."""


class Played:
    """One table, its board behind the made BlueZ, and what became of the game."""

    def __init__(self, number: int, driver: str, radio: Radio) -> None:
        self.board = simulated(driver, number, opera(), RAPID, Habits(), 3)
        self.board.pause = self.caught_up
        self.heard = 0
        self.chunk = asyncio.Event()
        self.device = self.board.device
        table = TableConfig(str(number), "chess", BoardConfig(driver, orientation="normal"), ClockConfig("none"))
        self.station = Station(table, "g")
        self.moves: dict[int, str] = {}
        self.states: list[bool] = []
        target = f"ble:{self.device.address}"
        self.keeper = keeper(
            radio,
            target,
            DRIVERS[driver],
            self.tell,
            self.noted,
            f"board of table {number}",
            # The set of an RFID board has been calibrated before.
            self.board.board.options if isinstance(self.board.board, CertaboBoard) else {},
        )

    def tell(self, told: list[tuple[str, Observation]], at: float) -> None:
        for _, said in told:
            if isinstance(said, LinkState):
                self.states.append(said.up)
            self.note(self.station.observe(said, self.board.now))

    async def caught_up(self, seconds: float) -> None:
        """Instead of waiting so long, wait until the gateway has heard what was said; then it is later."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                while self.device.sent > self.heard:
                    self.chunk.clear()
                    await self.chunk.wait()
        if self.board.told == HALFWAY:
            self.device.drop()
            # Nobody moves in the seconds that it takes to connect and ask again.
            await until(lambda: self.device.connections == 2, 30)
            await asyncio.sleep(1.5)
        # What was under way when the connection was lost never comes.
        self.heard = self.device.sent

    def noted(self, direction: str, data: bytes, channel: str | None, at: float) -> None:
        if direction == "rx":
            self.heard += len(data)
            self.chunk.set()

    def end(self) -> None:
        self.note(self.station.advance(self.board.now + 30))

    def note(self, outcomes: Any) -> None:
        for outcome in outcomes:
            for numbered in outcome.events:
                match numbered.event:
                    case Move() as move:
                        self.moves[move.ply] = move.uci
                    case MoveRetracted() as back:
                        self.moves = {ply: uci for ply, uci in self.moves.items() if ply < back.from_ply}


async def test_games_of_all_families_at_once_each_dropped_once(
    bluez: Bluez, radio: Radio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rapid game per family, all on one adapter: each comes back whole at its own table, through a loss halfway."""
    # Nothing is waited for in vain here, and on a busy machine a tenth is too little.
    for name, seconds in WAITS.items():
        monkeypatch.setattr(ble, name, seconds)
    played = [Played(number, driver, radio) for number, driver in enumerate(BLE, 1)]
    for each in played:
        bluez.add(each.device)
    running = [asyncio.create_task(each.keeper.run()) for each in played]
    playing = [asyncio.create_task(each.board.play()) for each in played]
    await asyncio.wait_for(asyncio.gather(*playing), 60)
    await asyncio.gather(*(each.caught_up(0.0) for each in played))
    await until(lambda: all(each.states[-1] for each in played))
    for each in played:
        each.end()
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)

    wanted = [ply.name for ply in opera().plies]
    assert dict.fromkeys(BLE, wanted) == {
        driver: list(each.moves.values()) for driver, each in zip(BLE, played, strict=True)
    }
    # A board that is not found at once is down at first, or for another reason than before.
    assert [[True, False, True]] * len(played) == [
        [up for up, _ in groupby(each.states[each.states.index(True) : -1])] for each in played
    ]
    assert {2} == {each.device.connections for each in played}
    assert 1 == bluez.connects_at_once


TABLE = """
[[table]]
id = "{id}"
game = "chess"
[table.board]
driver = "chessnut"
{where}
"""


async def test_a_gateway_with_boards_in_the_air(bluez: Bluez, mosquitto: Mosquitto, tmp_path: Path) -> None:
    """By address and by name, as the configuration has it, as a process; the capture says which characteristic."""
    boards = [simulated("chessnut", number, opera(), RAPID, Habits(), number, 50.0) for number in (1, 2)]
    for each in boards:
        bluez.add(each.device)
    daemon = Process(tmp_path, mosquitto.port)
    daemon.configure({})
    where = (f'port = "ble:{boards[0].device.address}"', f'port = "ble-name:{boards[1].device.name}"')
    with daemon.config.open("a") as config:
        config.writelines(TABLE.format(id=number, where=each) for number, each in enumerate(where, 1))
    daemon.start()
    try:
        async with subscribed(mosquitto.port) as subscriber:
            playing = [asyncio.create_task(each.play()) for each in boards]
            await subscriber.until(lambda s: all(len(moves(s, n)) > 1 for n in "12"), 30)
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)
            told = {table: moves(subscriber, table) for table in "12"}
        daemon.signal(15)
        assert await asyncio.to_thread(daemon.wait, 5) == 0
    finally:
        daemon.kill()
    wanted = [ply.name for ply in opera().plies]
    captures = [path.read_text() for path in sorted((daemon.state / "captures").glob("*"))]

    assert all(wanted[:2] == each[:2] for each in told.values())
    assert not any(each.device.connected for each in boards)
    assert all(f'"channel":"{ble_of(DRIVERS["chessnut"]).notify[0]}"' in each for each in captures)


def moves(subscriber: Any, table: str) -> list[str]:
    return [event["uci"] for event in subscriber.payloads(f"hall/table/{table}/event/move") if "uci" in event]
