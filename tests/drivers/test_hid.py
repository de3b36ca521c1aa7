"""HID devices: found by sysfs, read and written report by report, unplugged. A terminal stands for the device."""

from __future__ import annotations

import asyncio
import os
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import descriptors, until

from gateway.drivers import Ble, Hid
from gateway.drivers.hid import Device, HidPort, devices, targets
from gateway.errors import LinkError
from gateway.events import BoardDump, LinkState, Observation
from gateway.link import Link
from gateway.ports import Keeper
from gateway.registry import DRIVERS
from gateway.simulate.games import opera
from gateway.simulate.wire_families import chessnut_board

VENDOR_PAGE = bytes.fromhex("0600ff0901a101")
KEYBOARD_PAGE = bytes.fromhex("05010906a101")
CHESSNUT = Hid(0x2D80, usage_page=0xFF00)


def node(root: Path, number: int, hid_id: str, descriptor: bytes | None, serial: str = "") -> None:
    """A hidraw device as sysfs shows it."""
    device = root / f"hidraw{number}" / "device"
    device.mkdir(parents=True)
    (device / "uevent").write_text(f"DRIVER=hid\nHID_ID={hid_id}\nHID_NAME=A board\nHID_UNIQ={serial}\n")
    if descriptor is not None:
        (device / "report_descriptor").write_bytes(descriptor)


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """A board with two interfaces, a second board, a keyboard, and a device that has just gone."""
    node(tmp_path, 0, "0003:00002D80:00008001", KEYBOARD_PAGE, "A1")
    node(tmp_path, 1, "0003:00002D80:00008001", VENDOR_PAGE, "A1")
    node(tmp_path, 2, "0003:00002D80:00008502", VENDOR_PAGE, "B2")
    node(tmp_path, 3, "0003:0000046D:0000C31C", KEYBOARD_PAGE)
    (tmp_path / "hidraw4").mkdir()
    return tmp_path


def test_devices(sysfs: Path) -> None:
    """What sysfs says; nothing of what has gone."""
    found = devices(sysfs, Path("/dev"))

    assert Device("/dev/hidraw1", 0x2D80, 0x8001, "A board", "A1", 0xFF00) == found[1]
    assert 4 == len(found)


def test_targets(sysfs: Path) -> None:
    """By serial number, the only one, by path; the other interface and other devices never."""
    dev = Path("/dev")

    assert ["/dev/hidraw2"] == targets("hid:B2", [CHESSNUT], sysfs, dev)
    assert ["/dev/hidraw1", "/dev/hidraw2"] == targets("hid:", [CHESSNUT], sysfs, dev)
    assert ["/dev/hidraw2"] == targets("hid:", [Hid(0x2D80, 0x8502)], sysfs, dev)
    assert [] == targets("hid:C3", [CHESSNUT], sysfs, dev)
    assert [] == targets("hid:", [Ble("x", "s", ("n",), "w")], sysfs, dev)
    assert [] == targets(None, [CHESSNUT], sysfs, dev)
    assert [] == targets("/dev/hidraw99", [CHESSNUT], sysfs, dev)
    assert ["/dev/null"] == targets("/dev/null", [CHESSNUT], sysfs, dev)


class Board:
    """The far end, and what the port tells."""

    def __init__(self) -> None:
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        self._slave = slave
        self.heard: list[bytes] = []
        self.lost: list[str] = []

    def port(self) -> HidPort:
        """A port on it."""
        return HidPort(self.path, lambda data, at, channel: self.heard.append(data), self.lost.append)

    def unplug(self) -> None:
        """Pull the cable."""
        os.close(self.master)
        os.close(self._slave)
        self.master = -1

    def close(self) -> None:
        """Clean up."""
        if self.master >= 0:
            self.unplug()


@pytest.fixture
def board() -> Iterator[Board]:
    """A board."""
    made = Board()
    yield made
    made.close()


async def test_reports_both_ways(board: Board) -> None:
    """A report that comes is heard, one that is sent arrives; nothing stays open."""
    before = descriptors()
    port = board.port()
    await port.open()
    os.write(board.master, b"\x01\x3d" + bytes(63))
    port.write(b"\x21\x01\x00")
    port.write(b"\x29\x01\x00")
    await until(lambda: board.heard)
    sent = b""
    while len(sent) < 6:
        sent += await asyncio.to_thread(os.read, board.master, 64)
    await port.close()
    await port.close()
    port.write(b"\x21")

    assert [b"\x01\x3d" + bytes(63)] == board.heard
    assert b"\x21\x01\x00\x29\x01\x00" == sent
    assert before == descriptors()
    assert [] == board.lost


async def test_unplugged(board: Board) -> None:
    """It is told once, and the port can be opened again when the device is back."""
    port = board.port()
    await port.open()
    board.unplug()
    await until(lambda: board.lost)
    await port.close()

    assert [f"{board.path} was unplugged"] == board.lost


async def test_it_cannot_be_opened(board: Board, tmp_path: Path) -> None:
    """It is not there; somebody else has it."""
    missing = HidPort(str(tmp_path / "hidraw9"), lambda *_: None, lambda _: None)
    with pytest.raises(LinkError, match="is not there"):
        await missing.open()
    first, second = board.port(), board.port()
    await first.open()
    with pytest.raises(LinkError, match="in use by another program"):
        await second.open()
    await first.close()
    await second.open()
    await second.close()


async def test_a_device_that_takes_nothing(board: Board) -> None:
    """Too much waits for it: the port is given up."""
    port = board.port()
    await port.open()
    for _ in range(300):
        port.write(bytes(64))
    await port.close()

    assert [f"{board.path} does not take what it is sent"] == board.lost


async def test_a_chessnut_is_followed_through_the_real_driver(board: Board) -> None:
    """A game's positions go through descriptor, port and link; the board is asked before it says anything."""
    simulated = chessnut_board(opera().start, hid=True)
    told: list[Observation] = []
    loop = asyncio.get_running_loop()
    loop.add_reader(board.master, lambda: os.write(board.master, simulated.take(os.read(board.master, 4096))))
    keeper = Keeper(
        "board",
        Link(DRIVERS["chessnut"], {None: ("1", "chess")}),
        lambda: [board.path],
        lambda target, hear, lost: HidPort(target, hear, lost),
        lambda heard, at: told.extend(observation for _, observation in heard),
        lambda *_: None,
    )
    running = asyncio.create_task(keeper.run())
    await until(lambda: any(isinstance(one, BoardDump) for one in told))
    for ply in opera().plies:
        os.write(board.master, simulated.sense(BoardDump(ply.after)))
        await asyncio.sleep(0.002)
    last = BoardDump(opera().plies[-1].after)
    await until(lambda: last in told)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    loop.remove_reader(board.master)

    assert LinkState("board", True) == told[0]
    assert [ply.after for ply in opera().plies] == [dict(one.pieces) for one in told if isinstance(one, BoardDump)][1:]
