"""What is found of boards without opening anything; sets of pieces on disk; the table of drivers."""

from __future__ import annotations

import os
import pty
import threading
import time
import tomllib
import tty
from pathlib import Path
from types import SimpleNamespace

import pytest

from gateway import calibration, capture, discover
from gateway.cli import main
from gateway.cli.discover import report
from gateway.config import BoardConfig, ClockConfig, Config, MqttConfig, TableConfig
from gateway.drivers import Ble, hid
from gateway.errors import ConfigError, UsageError
from gateway.protocol import certabo
from gateway.registry import DRIVERS
from gateway.simulate.games import opera
from gateway.simulate.wire_families import CertaboBoard, sentio_board

FIXTURES = Path(__file__).parent / "fixtures"


def usb(device: str, vid: int | None, pid: int = 0, product: str = "", serial: str = "") -> SimpleNamespace:
    """A port as pyserial lists it."""
    return SimpleNamespace(device=device, vid=vid, pid=pid, manufacturer=None, product=product, serial_number=serial)


def test_serial_ports(tmp_path: Path) -> None:
    """A board's own ids are certain, a common chip is a perhaps; the lasting name is given; who has it is told."""
    terminal, slave = os.openpty()
    path = os.ttyname(slave)
    by_id = tmp_path / "by-id"
    by_id.mkdir()
    (by_id / "usb-DGT-1").symlink_to(path)
    process = tmp_path / "4711"
    (process / "fd").mkdir(parents=True)
    (process / "comm").write_text("picochess\n")
    (process / "fd" / "5").symlink_to(path)
    ports = [
        usb(path, 0x045B, 0x8111, "DGT USB Communications Adapter"),
        usb("/dev/ttyUSB7", 0x10C4, 0xEA60, "CP2102"),
        usb("/dev/ttyUSB8", 0x1234, 0x0001),
        usb("/dev/ttyS0", None),
    ]
    found = {device.where: device for device in discover.serial_ports(ports, proc=tmp_path, by_id=by_id)}
    os.close(terminal)
    os.close(slave)

    assert [path, "/dev/ttyUSB7", "/dev/ttyUSB8"] == sorted(found)
    dgt, certabo_port = found[path], found["/dev/ttyUSB7"]
    assert (("dgt",), True, str(by_id / "usb-DGT-1")) == (dgt.drivers, dgt.certain, dgt.port)
    assert "in use by picochess (process 4711)" == dgt.busy
    assert (("certabo", "sentio"), False) == (certabo_port.drivers, certabo_port.certain)
    assert () == found["/dev/ttyUSB8"].drivers
    assert "1234:0001" == found["/dev/ttyUSB8"].what


def test_hid_devices(tmp_path: Path) -> None:
    """The interface that talks, not the other, not a mouse."""
    devices = [
        hid.Device("/dev/hidraw0", 0x2D80, 0x8001, "Chessnut Air", "A1", 0x0001),
        hid.Device("/dev/hidraw1", 0x2D80, 0x8001, "Chessnut Air", "A1", 0xFF00),
        hid.Device("/dev/hidraw2", 0x046D, 0xC31C, "Keyboard", "", 0x0001),
    ]
    [board] = discover.hid_devices(devices, proc=tmp_path)

    assert (("chessnut",), "hid:A1", "/dev/hidraw1") == (board.drivers, board.port, board.where)


@pytest.mark.parametrize(
    ("name", "services", "drivers"),
    [
        ("Chessnut Air+", (), ("chessnut",)),
        ("MILLENNIUM CHESS", (), ("millennium", "millennium_eone")),
        ("Certabo 1", (), ("certabo", "sentio")),
        ("DGT_PEGASUS_50001", (), ("dgt_pegasus",)),
        ("Square Off Neo - 123", (), ("squareoff_neo",)),
        ("HOSBoard", (), ("house_of_staunton",)),
        ("DGT3000-Gateway", (), ("dgt3000_ble",)),
        ("My own board", ("F5351050-B2C9-11EC-A0C0-B3BC53B08D33",), ("cpp",)),
        ("A lamp", ("6e400001-b5a3-f393-e0a9-e50e24dcca9e",), None),
        (None, (), None),
    ],
)
def test_ble_devices(name: str | None, services: tuple[str, ...], drivers: tuple[str, ...] | None) -> None:
    """A name tells; a service only where one family alone has it."""
    device = SimpleNamespace(address="AA:BB:CC:DD:EE:FF", name=name, services=services)
    found = discover.ble_devices([device])

    assert ([] if drivers is None else [drivers]) == [one.drivers for one in found]
    assert all(one.port == "ble:AA:BB:CC:DD:EE:FF" for one in found)


def test_every_bluetooth_board_is_found_by_its_name() -> None:
    """Whoever is in the registry with a name."""
    for entry in DRIVERS.values():
        for match in entry.matches:
            if isinstance(match, Ble):
                [found] = discover.ble_devices([SimpleNamespace(address="A", name=match.name, services=())])
                assert entry.name in found.drivers


def test_configuration_lines_are_toml() -> None:
    """They are read as what they say, a clock of its own too."""
    found = [
        discover.Found("hid", "/dev/hidraw1", "Chessnut", "hid:A1", ("chessnut",), True),
        discover.Found("serial", "/dev/ttyUSB0", "CP2102", "/dev/ttyUSB0", ("certabo", "sentio"), False, "in use by x"),
        discover.Found("ble", "AA", "DGT3000-Gateway", "ble:AA", ("dgt3000_ble",), True),
        discover.Found("serial", "/dev/ttyUSB1", "?", "/dev/ttyUSB1", (), False),
    ]
    text = "\n".join(report(found))
    tables = tomllib.loads(text.partition("# for config.toml")[2])["table"]

    assert ["chessnut", "certabo"] == [table["board"]["driver"] for table in tables]
    assert {"driver": "dgt3000_ble", "port": "ble:AA"} == tables[1]["clock"]
    assert "# /dev/ttyUSB0: in use by x" in text
    assert "no board that is known" in text


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """It looks, and ends well, whatever is there."""
    assert 0 == main(["discover", "--no-ble"])
    assert capsys.readouterr().out


# --- calibration ------------------------------------------------------------------------------------------------


def config(state_dir: Path, name: str) -> Config:
    """A hall with one Certabo board and one DGT board."""
    tables = (
        TableConfig("1", "chess", BoardConfig("certabo", "/dev/null", options={"calibration": name} if name else {})),
        TableConfig("2", "chess", BoardConfig("dgt", "/dev/zero")),
    )
    return Config("g", state_dir, 24.0, MqttConfig(), tables)


def test_a_set_is_kept_and_grows(tmp_path: Path) -> None:
    """What was known of a set stays; a set that is not there, or whose file is damaged, is said."""
    calibration.save(tmp_path, "oak", {b"\x30\0\1\2\3": "P"})
    file, count = calibration.save(tmp_path, "oak", {b"\x30\0\1\2\4": "Q"})

    assert 2 == count
    assert {b"\x30\0\1\2\3": "P", b"\x30\0\1\2\4": "Q"} == calibration.load(tmp_path, "oak")
    file.write_text("{}")
    for name in ("oak", "pine", "../oak"):
        with pytest.raises(UsageError):
            calibration.load(tmp_path, name)


def test_the_configuration_gets_the_tags(tmp_path: Path) -> None:
    """So a capture's header holds them, and they are not looked up again."""
    pieces = {b"\x30\0\1\2\3": "P"}
    calibration.save(tmp_path, "oak", pieces)
    found = calibration.resolved(config(tmp_path, "oak"))

    assert pieces == certabo.read_calibration(found.tables[0].board.options["calibration"])
    assert found == calibration.resolved(found)
    assert config(tmp_path, "") == calibration.resolved(config(tmp_path, ""))
    with pytest.raises(ConfigError, match=r"table 1: board.options.calibration: no set 'pine'"):
        calibration.resolved(config(tmp_path, "pine"))


def test_calibrate_from_a_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A board with noise on a terminal: its set is stored, and a driver reads positions with it."""
    board = CertaboBoard(opera().start, seed=4, noise=0.05)
    master, slave = pty.openpty()
    tty.setraw(slave)
    stop = threading.Event()

    def stream() -> None:
        while not stop.is_set():
            os.write(master, board.line())
            time.sleep(0.01)

    thread = threading.Thread(target=stream)
    thread.start()
    try:
        code = main(["calibrate", "oak", "--port", os.ttyname(slave), "--state-dir", str(tmp_path)])
    finally:
        stop.set()
        thread.join()
        os.close(master)
        os.close(slave)
    stored = calibration.load(tmp_path, "oak")

    assert 0 == code
    assert 32 == len(stored)
    assert stored.items() <= board.set.items()
    assert 'calibration = "oak"' in capsys.readouterr().out


def test_calibrate_from_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An occupancy board has nothing to calibrate; a short capture is not enough; both change nothing."""
    table = TableConfig("1", "chess", BoardConfig("certabo", "ble:AA:BB:CC:DD:EE:FF"), ClockConfig("none"))
    header = capture.header_line(capture.CaptureHeader(0.0, "g", table))
    boards = (sentio_board(opera().start), CertaboBoard(opera().start))
    for name, board in zip(("sentio", "short"), boards, strict=True):
        file = tmp_path / f"{name}.capture.jsonl"
        lines = [capture.entry_line(capture.Rx(float(n), "board", board.scan())) for n in range(3)]
        file.write_text(header + "".join(lines))
        assert os.EX_DATAERR == main(["calibrate", "oak", "--capture", str(file), "--state-dir", str(tmp_path)])
    said = capsys.readouterr().err

    assert "driver sentio" in said
    assert "at least 7 lines are needed" in said
    assert not (tmp_path / "calibration").exists()


# --- the table of drivers ---------------------------------------------------------------------------------------


def test_captures_are_counted() -> None:
    """The registry says how many captures of real devices there are; those of simulated hands do not count."""
    for name, entry in DRIVERS.items():
        captures = [path.read_bytes()[:200] for path in (FIXTURES / name).glob("*.capture.jsonl")]

        assert entry.captures == sum(b'"gateway":"fixture"' not in header for header in captures)


def test_links_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Serial, HID, BLE; a clock senses nothing."""
    main(["drivers"])
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}

    assert " HID BLE " in lines["chessnut"]
    assert " serial BLE " in lines["millennium"]
    assert "  -  " in lines["dgt3000_ble"]
