"""Serial ports by real pseudo-terminals and sockets: unplugged, locked, stuffed, refused, found again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import tty
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from brokers import descriptors, until

from gateway import ports as ports_module
from gateway.drivers import SerialSettings, Usb
from gateway.drivers import serial as serial_module
from gateway.drivers.serial import UNSENT_BYTES, Finder, SerialPort, SocketPort, bit_by_bit, port, with_options
from gateway.errors import LinkError
from gateway.events import LinkState, Observation
from gateway.link import Link
from gateway.ports import Keeper
from gateway.registry import DRIVERS


class Pty:
    """A device's end of a pseudo-terminal, under a name that stays when it is plugged in again."""

    def __init__(self, name: Path) -> None:
        self.name = name
        self.master = -1

    def plug(self) -> None:
        self.master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self.master, False)
        self.name.unlink(missing_ok=True)
        self.name.symlink_to(os.ttyname(slave))
        os.close(slave)

    def unplug(self) -> None:
        os.close(self.master)
        self.name.unlink(missing_ok=True)

    def send(self, data: bytes) -> None:
        os.write(self.master, data)

    def received(self) -> bytes:
        try:
            return os.read(self.master, 65536)
        except (BlockingIOError, OSError):
            return b""


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    device = Pty(tmp_path / "board")
    device.plug()
    yield device
    with contextlib.suppress(OSError):
        device.unplug()


@pytest.fixture
def many_files() -> Iterator[None]:
    """All descriptors below 1024 are in use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1200:
        pytest.skip(f"this machine allows only {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    files = [os.open(os.devnull, os.O_RDONLY)]
    while files[-1] < 1024:
        files.append(os.open(os.devnull, os.O_RDONLY))
    yield
    for file in files:
        os.close(file)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Ear:
    def __init__(self) -> None:
        self.heard = b""
        self.lost: list[str] = []

    def hear(self, data: bytes, at: float, channel: str | None) -> None:
        self.heard += data


def serial_port(path: Path, ear: Ear) -> SerialPort:
    return SerialPort(str(path), SerialSettings(), ear.hear, ear.lost.append)


async def test_bytes_go_both_ways(pty: Pty) -> None:
    """What the device sends is heard, what is written reaches it."""
    ear = Ear()
    device = serial_port(pty.name, ear)
    await device.open()
    pty.send(b"hello\n")
    device.write(b"hello?\n")
    await until(lambda: ear.heard == b"hello\n")

    assert b"hello?\n" == pty.received()

    await device.close()


async def test_unplugging_is_noticed_at_once_and_said_once(pty: Pty) -> None:
    """The port reports its loss within milliseconds, and can be opened again."""
    ear = Ear()
    device = serial_port(pty.name, ear)
    await device.open()
    pty.unplug()
    await until(lambda: ear.lost, timeout_s=0.5)
    device.write(b"into the void")
    pty.plug()
    await device.open()
    pty.send(b"back")
    await until(lambda: ear.heard == b"back")

    assert [f"{pty.name} was unplugged"] == ear.lost

    await device.close()


async def test_more_ports_than_select_can_name(pty: Pty, many_files: None) -> None:
    """With two hundred boards descriptors pass 1023, where `select` ends."""
    ear = Ear()
    device = serial_port(pty.name, ear)
    await device.open()
    pty.send(b"hello")
    await until(lambda: ear.heard == b"hello")
    pty.unplug()
    await until(lambda: ear.lost == [f"{pty.name} was unplugged"], timeout_s=0.5)


async def test_a_device_that_takes_nothing_is_given_up(pty: Pty) -> None:
    """What waits to be sent is bounded."""
    ear = Ear()
    device = serial_port(pty.name, ear)
    await device.open()
    for _ in range(UNSENT_BYTES // 1000 + 100):
        device.write(bytes(1000))

    assert [f"{pty.name} does not take what it is sent"] == ear.lost


async def test_what_the_kernel_does_not_take_at_once_goes_later(pty: Pty) -> None:
    """Nothing is lost or reordered while the device is slow."""
    device = serial_port(pty.name, Ear())
    await device.open()
    sent = bytes(range(1, 251)) * 150
    device.write(sent)
    received = bytearray()

    def drained() -> bool:
        received.extend(pty.received())
        return len(received) == len(sent)

    await until(drained)

    assert sent == received

    await device.close()


async def test_a_port_in_use_is_refused_in_words(pty: Pty) -> None:
    """Two programs cannot have one board."""
    first, second = serial_port(pty.name, Ear()), serial_port(pty.name, Ear())
    await first.open()

    with pytest.raises(LinkError, match="is in use by another program"):
        await second.open()

    await first.close()
    await second.open()
    await second.close()


async def test_a_missing_port_is_refused_in_words(tmp_path: Path) -> None:
    """The message names the port."""
    with pytest.raises(LinkError, match="none is not there"):
        await serial_port(tmp_path / "none", Ear()).open()


async def test_lines_are_set_before_opening(pty: Pty, monkeypatch: pytest.MonkeyPatch) -> None:
    """DTR, RTS and framing are asked of pyserial as configured; a pty itself has none of them."""
    asked = {}

    class Recorder(serial_module.Serial):  # type: ignore[misc]
        def open(self) -> None:
            asked.update(dtr=self.dtr, rts=self.rts, parity=self.parity, baudrate=self.baudrate)
            super().open()

    monkeypatch.setattr(serial_module, "Serial", Recorder)
    settings = with_options(SerialSettings(parity="E"), {"dtr": False, "baudrate": 38400, "dump_s": 3})
    device = port(str(pty.name), settings, Ear().hear, lambda why: None)
    await device.open()
    await device.close()

    assert {"dtr": False, "rts": True, "parity": "E", "baudrate": 38400} == asked


async def test_a_socket_is_a_port_too() -> None:
    """socket://HOST:PORT carries the same bytes, and its end is a loss."""
    peers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peers.append(writer)
        writer.write(await reader.readexactly(3))

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        number = server.sockets[0].getsockname()[1]
        ear = Ear()
        device = port(f"socket://127.0.0.1:{number}", SerialSettings(), ear.hear, ear.lost.append)
        assert isinstance(device, SocketPort)
        await device.open()
        device.write(b"abc")
        await until(lambda: ear.heard == b"abc")
        peers[0].close()
        await until(lambda: ear.lost)

    with pytest.raises(LinkError, match="socket://"):
        await device.open()


def test_the_finder_follows_a_board_to_other_ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a serial number every port of the kind is a candidate, the configured one first."""
    configured = tmp_path / "ttyUSB0"
    configured.touch()
    listed = [
        SimpleNamespace(device=str(configured), vid=0x045B, pid=1, serial_number="A"),
        SimpleNamespace(device="/dev/ttyUSB1", vid=0x045B, pid=1, serial_number="B"),
        SimpleNamespace(device="/dev/ttyUSB2", vid=0x0403, pid=1, serial_number="C"),
    ]
    monkeypatch.setattr(serial_module, "comports", lambda: listed)
    finder = Finder()
    matches = (Usb(0x045B),)

    assert [str(configured)] == finder.targets(str(configured), None, matches)
    assert [str(configured), "/dev/ttyUSB1"] == finder.targets(str(configured), "23946", matches)
    assert ["/dev/ttyUSB1", str(configured)] == sorted(finder.targets(None, "23946", matches))
    assert ["/dev/ttyUSB2"] == finder.targets("usb:C", None, matches)
    assert [] == finder.targets("/dev/none", None, matches)


class Tables:
    """What tables were told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Observation]] = []

    def tell(self, told: list[tuple[str, Observation]], at: float) -> None:
        self.told += told

    def states(self) -> list[bool]:
        return [said.up for _, said in self.told if isinstance(said, LinkState)]


def keeper(targets: list[Path], tables: Tables, serial: str | None = None) -> Keeper:
    link = Link(DRIVERS["generic"], {None: ("1", "chess")}, serials={"1": serial} if serial else None)
    return Keeper(
        "board of 1",
        link,
        lambda: [str(target) for target in targets if target.exists()],
        lambda target, hear, lost: port(target, SerialSettings(), hear, lost),
        tables.tell,
        lambda *line: None,
    )


HELLO = b"hello test senses=pieces serial=7\nposition 8/8/8/8/8/8/8/8\n"


def heard(data: bytes, at: float, listened_at: float) -> list[tuple[float, bytes]]:
    """What becomes of a chunk that is read at this time."""
    pieces: list[tuple[float, bytes]] = []
    bit_by_bit(lambda piece, then, channel: pieces.append((then, piece)), lambda: listened_at)(data, at, None)
    return pieces


def test_what_has_waited_is_taken_apart() -> None:
    """All bytes in their order, over the time that there was, the last of them when it was read."""
    data = bytes(range(200)) * 4
    pieces = heard(data, 100.0, 90.0)
    times = [at for at, _ in pieces]

    assert data == b"".join(piece for _, piece in pieces)
    assert times == sorted(times)
    assert 90.0 < times[0] < 90.2
    assert times[-1] == 100.0


def test_little_has_not_come_over_a_long_time() -> None:
    """A ply that was read late took no longer than a ply takes."""
    assert heard(bytes(40), 100.0, 40.0)[0][0] > 99.0


def test_what_is_read_in_time_stays_whole() -> None:
    """A dump of a board is one chunk, whenever the port was heard before."""
    assert heard(bytes(67), 100.0, 99.9) == [(100.0, bytes(67))]


async def test_a_board_is_followed_through_unplugging(pty: Pty, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up, down, up: told to the table once each; nothing leaks over many rounds."""
    monkeypatch.setattr(ports_module, "REOPEN_S", (0.01, 0.02))
    tables = Tables()
    running = asyncio.create_task(keeper([pty.name], tables).run())
    counts = []
    for rounds in range(1, 9):
        await until(lambda: pty.received())
        pty.send(HELLO)
        await until(lambda n=rounds: tables.states().count(True) == n)
        counts.append((descriptors(), len(asyncio.all_tasks())))
        pty.unplug()
        await until(lambda: not tables.states()[-1])
        pty.plug()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert tables.states().count(True) == 8
    assert len(set(counts)) == 1, counts


async def test_another_board_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configured serial number is looked for on the next port, and the wrong board tells the table nothing."""
    monkeypatch.setattr(ports_module, "REOPEN_S", (0.01, 0.02))
    monkeypatch.setattr("gateway.link.DECIDE_S", 0.1)
    wrong, right = Pty(tmp_path / "wrong"), Pty(tmp_path / "right")
    wrong.plug()
    right.plug()
    tables = Tables()
    running = asyncio.create_task(keeper([wrong.name, right.name], tables, serial="23946").run())
    await until(wrong.received)
    wrong.send(HELLO)
    await until(right.received)
    right.send(HELLO.replace(b"serial=7", b"serial=0023946"))
    await until(lambda: True in tables.states())
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    details = [said.detail for _, said in tables.told if isinstance(said, LinkState)]

    assert "another board is on this port: 7; 23946 is expected" in details

    wrong.unplug()
    right.unplug()


async def test_a_bug_in_a_link_ends_only_its_own_loop(pty: Pty, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keeper raises it to whoever supervises it, with the port closed and the tables told."""
    tables = Tables()
    kept = keeper([pty.name], tables)
    monkeypatch.setattr(kept.link, "receive", lambda *arguments: 1 / 0)
    running = asyncio.create_task(kept.run())
    await until(pty.received)
    pty.send(HELLO)

    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(running, 5)

    assert [False] == tables.states()
