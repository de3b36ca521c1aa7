"""What the doctor says, for a machine in order and for one thing wrong after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from brokers import free_port
from secured import USERS, Authority, Broker, needed

from gateway import doctor
from gateway.cli import doctor as command
from gateway.cli import main
from gateway.config import BoardConfig, Config, MqttConfig, TableConfig, TlsConfig, WebConfig, WebTlsConfig
from gateway.doctor import Finding, Machine

SECRET = "sesame-4711"
brokered = needed("mosquitto", "mosquitto_passwd", "openssl")


def config(folder: Path, port: str = "/dev/null", driver: str = "dgt", mqtt: MqttConfig | None = None) -> Config:
    state = folder / "state"
    state.mkdir(exist_ok=True)
    table = TableConfig(id="1", game="chess", board=BoardConfig(driver=driver, port=port))
    return Config("pi-a", state, 24, mqtt or MqttConfig(), (table,))


def machine(folder: Path) -> Machine:
    """A machine with nothing in it."""
    return Machine(sys=folder / "sys", proc=folder / "proc", dev=folder / "dev", run=folder / "run", user="gw")


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def only(findings: Iterator[Finding]) -> Finding:
    (finding,) = findings
    return finding


# --- ports ------------------------------------------------------------------------------------------------------


def test_a_port_in_order(tmp_path: Path) -> None:
    """Nothing to do."""
    found = only(doctor.ports(config(tmp_path), machine(tmp_path)))

    assert ("ok", "board of table 1", None) == (found.grade, found.where, found.remedy)


def test_a_port_that_is_not_there(tmp_path: Path) -> None:
    """The cable, or another port."""
    found = only(doctor.ports(config(tmp_path, "/dev/ttyACM77"), machine(tmp_path)))

    assert "wrong" == found.grade
    assert "/dev/ttyACM77 is not there" == found.what


@pytest.mark.parametrize(
    ("mode", "group", "words"),
    [
        (0o660, 20, "sudo usermod -aG dialout gw"),
        (0o600, 20, 'SUBSYSTEM=="tty", ATTRS{idVendor}=="045b", GROUP="dialout", MODE="0660"'),
        (0o660, 0, "udevadm trigger"),
    ],
)
def test_a_port_that_may_not_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, group: int, words: str
) -> None:
    """The group to join where it helps, else the rule for udev."""
    port = put(tmp_path / "ttyACM0", "")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    kept = os.stat

    def stat(path: object, **options: object) -> os.stat_result:
        result = list(kept(path, **options))  # type: ignore[call-overload]
        if path == port:
            result[0], result[5] = 0o020000 | mode, group
        return os.stat_result(result)

    monkeypatch.setattr(os, "stat", stat)
    found = only(doctor.ports(config(tmp_path, str(port)), machine(tmp_path)))

    assert "wrong" == found.grade
    assert words in (found.remedy or "")


def test_a_port_in_use(tmp_path: Path) -> None:
    """By whom is said."""
    port = put(tmp_path / "tty", "")
    folder = machine(tmp_path).proc / "42"
    put(folder / "comm", "minicom\n")
    (folder / "fd").mkdir()
    (folder / "fd" / "3").symlink_to(port)
    found = only(doctor.ports(config(tmp_path, str(port)), machine(tmp_path)))

    assert f"{port} is in use by minicom (process 42)" == found.what


def test_a_hid_board_is_found_by_its_serial(tmp_path: Path) -> None:
    """By what sysfs says of it."""
    where = machine(tmp_path)
    put(where.sys / "class/hidraw/hidraw3/device/uevent", "HID_ID=0003:00002D80:00008500\nHID_UNIQ=77\n")
    put(where.dev / "hidraw3", "")

    assert "ok" == only(doctor.ports(config(tmp_path, "hid:77", "chessnut"), where)).grade
    assert "wrong" == only(doctor.ports(config(tmp_path, "hid:78", "chessnut"), where)).grade


def test_a_terminal_server_that_does_not_answer(tmp_path: Path) -> None:
    """The name of the port and why."""
    port = f"socket://127.0.0.1:{free_port()}"
    found = only(doctor.ports(config(tmp_path, port), machine(tmp_path)))

    assert ("wrong", f"{port}: Connection refused") == (found.grade, found.what)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask for somebody else")
def test_root_asks_for_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may open everything, which says nothing of the service's user; afterwards we are root again."""
    monkeypatch.setattr(doctor, "SERVICE", "nobody")
    closed = put(tmp_path / "closed", "")
    closed.chmod(0o600)

    assert not doctor._may(closed, os.R_OK | os.W_OK)
    assert doctor._may(Path("/dev/null"), os.R_OK | os.W_OK)
    assert 0 == os.geteuid() == os.getegid()


# --- the machine ------------------------------------------------------------------------------------------------


def test_bluetooth_is_looked_at_where_it_is_needed(tmp_path: Path) -> None:
    """No adapter, an adapter switched off, no BlueZ, all there: one after the other."""
    where = machine(tmp_path)
    needed = config(tmp_path, "ble:AA:BB:CC:DD:EE:FF", "chessnut")

    assert [] == list(doctor.bluetooth(config(tmp_path), where))
    assert "no adapter" in only(doctor.bluetooth(needed, where)).what
    put(where.sys / "class/bluetooth/hci0/address", "")
    put(where.sys / "class/rfkill/rfkill0/type", "bluetooth")
    soft = put(where.sys / "class/rfkill/rfkill0/soft", "1")
    assert "sudo rfkill unblock bluetooth" == only(doctor.bluetooth(needed, where)).remedy
    soft.write_text("0")
    assert "BlueZ is not running" in only(doctor.bluetooth(needed, where)).what
    put(where.proc / "9/comm", "bluetoothd\n")
    assert "ok" == list(doctor.bluetooth(needed, where))[-1].grade


def test_secrets_are_closed_to_others(tmp_path: Path) -> None:
    """A password file that everybody may read is wrong, and what to type is said; its content never."""
    path = put(tmp_path / "password", SECRET)
    path.chmod(0o644)
    mqtt = MqttConfig(host="broker.hall.lan", username="gw", password_file=path)
    opened, clear = doctor.secrets(mqtt)
    path.chmod(0o600)
    (closed,) = doctor.secrets(replace(mqtt, tls=TlsConfig()))

    assert ("wrong", f"sudo chmod o= {path}") == (opened.grade, opened.remedy)
    assert ("look", "ok") == (clear.grade, closed.grade)
    assert SECRET not in str((opened, clear, closed))


@pytest.mark.parametrize(
    ("web", "embedded", "grade", "words"),
    [
        (WebConfig(), False, "ok", "for this machine only"),
        (WebConfig("0.0.0.0:8080"), False, "look", "passwords cross the network"),
        (WebConfig("0.0.0.0:8080"), True, "look", "whoever reaches 0.0.0.0:8080 may rule"),
        (WebConfig("0.0.0.0:8080", None, WebTlsConfig(Path("c"), Path("k"))), False, "ok", "with TLS"),
        (WebConfig("127.0.0.1:443"), False, "look", "may not listen on port 443"),
        (WebConfig("[::]:8080", "ws://b:9001", WebTlsConfig(Path("c"), Path("k"))), False, "wrong", "browsers refuse"),
    ],
)
def test_page(tmp_path: Path, web: WebConfig, embedded: bool, grade: str, words: str) -> None:
    """Who reaches it, and what can be read on the way."""
    found = next(doctor.page(replace(config(tmp_path, mqtt=MqttConfig(embedded=embedded)), web=web)))

    assert grade == found.grade
    assert words in found.what
    assert [] == list(doctor.page(config(tmp_path)))


def test_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room, little room, none; a damaged journal that was moved aside is told of."""

    class Usage:
        free = 10 << 30

    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: Usage)
    assert "ok" == only(doctor.disk(tmp_path)).grade
    Usage.free = 100 << 20
    assert "look" == only(doctor.disk(tmp_path)).grade
    Usage.free = 1 << 20
    assert "wrong" == only(doctor.disk(tmp_path)).grade
    put(tmp_path / "journal.sqlite3.damaged-20260101T000000Z-1", "")
    assert "moved aside" in list(doctor.disk(tmp_path))[-1].what
    assert "wrong" == only(doctor.disk(tmp_path / "none")).grade


def test_a_file_for_prometheus(tmp_path: Path) -> None:
    """Only where one is wanted: its folder, and the end of its name."""
    folder = tmp_path / "collected"
    none = only(doctor.metrics(folder / "gateway.prom"))
    folder.mkdir()
    text, prom = (only(doctor.metrics(folder / f"gateway.{end}")) for end in ("txt", "prom"))

    assert [] == list(doctor.metrics(None))
    assert ("look", f"{folder} is not there") == (none.grade, none.what)
    assert ("look", "let its name end with .prom") == (text.grade, text.remedy)
    assert "ok" == prom.grade


@pytest.mark.parametrize(("state", "grade"), [(True, "ok"), (False, "look"), (None, "look")])
def test_clock(monkeypatch: pytest.MonkeyPatch, state: bool | None, grade: str) -> None:
    """Synchronised or not, as the kernel says."""
    monkeypatch.setattr(doctor, "_synchronised", lambda: state)

    assert grade == only(doctor.clock()).grade


def test_a_clock_that_was_never_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Pi without a battery-backed clock wakes up in the past."""
    monkeypatch.setattr(doctor.time, "time", lambda: 86400.0)

    assert "wrong" == only(doctor.clock()).grade


@pytest.mark.parametrize(
    ("bits", "grade", "words"),
    [("0", "ok", "in order"), ("50000", "look", "has been too low since the start"), ("50005", "wrong", "too low now")],
)
def test_power(tmp_path: Path, bits: str, grade: str, words: str) -> None:
    """The firmware's bits in words."""
    where = machine(tmp_path)
    assert [] == list(doctor.power(where))
    put(where.proc / "device-tree/model", "Raspberry Pi 4 Model B Rev 1.5\0")
    put(where.sys / "devices/platform/soc/soc:firmware/get_throttled", f"{bits}\n")
    found = only(doctor.power(where))

    assert grade == found.grade
    assert words in found.what


# --- the broker -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    running = Broker(tmp_path_factory.mktemp("broker"), dict.fromkeys(USERS, SECRET))
    running.start()
    yield running
    running.stop()


def secured(broker: Broker, folder: Path) -> MqttConfig:
    secret = put(folder / "secret", SECRET)
    secret.chmod(0o600)
    tls = TlsConfig(ca_file=broker.authority.certificate)
    return MqttConfig(host="localhost", port=broker.port, username="gw-pi-a", password_file=secret, tls=tls)


async def told(mqtt: MqttConfig, folder: Path, table: str = "1") -> dict[str, list[Finding]]:
    """The doctor's findings at the broker, by grade."""
    settings = config(folder, mqtt=mqtt)
    settings = replace(settings, tables=(replace(settings.tables[0], id=table),))
    found: dict[str, list[Finding]] = {"ok": [], "look": [], "wrong": []}
    async for finding in doctor.broker(settings):
        found[finding.grade].append(finding)
        assert SECRET not in str(finding)
    return found


@brokered
async def test_a_broker_in_order(broker: Broker, tmp_path: Path) -> None:
    """The example's access list and certificate: nothing to do."""
    found = await told(secured(broker, tmp_path), tmp_path)

    assert [] == found["wrong"] + found["look"]
    assert ["broker", "TLS", "login", "access", "access", "access"] == [finding.where for finding in found["ok"]]


@brokered
async def test_what_is_wrong_with_a_broker(broker: Broker, tmp_path: Path) -> None:
    """Each mistake has its sentence and its remedy."""
    right = secured(broker, tmp_path)
    wrong_secret = put(tmp_path / "wrong", "guess")
    other = TlsConfig(ca_file=Authority(tmp_path, "other").certificate)
    for mqtt, where, words in (
        (replace(right, port=free_port()), "broker", "is mosquitto running there"),
        (replace(right, host="no-such-host.invalid"), "broker", "is the name right"),
        (replace(right, tls=other), "TLS", "authority that signed"),
        (replace(right, host="127.0.0.2"), "broker", "is mosquitto running there"),
        (replace(right, password_file=wrong_secret), "login", "mosquitto_passwd"),
        (replace(right, port=broker.certified), "TLS", "client certificate"),
        (replace(right, tls=TlsConfig(ca_file=tmp_path / "none.pem")), "TLS", "correct the name"),
    ):
        found = (await told(mqtt, tmp_path))["wrong"]
        assert [where] == [finding.where for finding in found], mqtt
        assert words in (found[0].remedy or "")


@brokered
async def test_an_access_list_without_a_table(broker: Broker, tmp_path: Path) -> None:
    """The lines to add are said."""
    found = (await told(secured(broker, tmp_path), tmp_path, table="9"))["wrong"]

    assert ["the broker refuses topics of table 9"] == [finding.what for finding in found]
    assert "topic write hall/table/9/#" in (found[0].remedy or "")


@brokered
async def test_no_access_list(tmp_path: Path) -> None:
    """A broker that lets everybody do everything works, and is worth a look."""
    running = Broker(tmp_path, {"gw-pi-a": SECRET})
    running.start(access="topic readwrite #\nuser gw-pi-a\ntopic readwrite #\n")
    try:
        found = await told(secured(running, tmp_path), tmp_path)
    finally:
        running.stop()

    assert [] == found["wrong"]
    assert ["anybody may publish anything: hall/gateway/doctor-of-pi-a/test was taken"] == [
        finding.what for finding in found["look"]
    ]


# --- the command ------------------------------------------------------------------------------------------------


def test_all_mistakes_of_the_configuration_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is a line, and the exit code is 1; no value of an unknown key is shown."""
    path = put(tmp_path / "config.toml", f'[mqtt]\nport = 0\npassword = "{SECRET}"\n')
    code = main(["doctor", "-c", str(path)])
    out = capsys.readouterr().out

    assert 1 == code
    assert "mqtt.port" in out and "mqtt.password" in out
    assert "3 wrong." in out
    assert SECRET not in out


def test_a_missing_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Is told like everything else."""
    code = main(["doctor", "-c", str(tmp_path / "none.toml")])

    assert 1 == code
    assert "No such file or directory" in " ".join(capsys.readouterr().out.split())


def test_lines_are_good_to_read() -> None:
    """What is found, and under it what to do."""
    found = Finding("wrong", "bluetooth", "the adapter is switched off", "sudo rfkill unblock bluetooth")

    assert [
        "WRONG  bluetooth          the adapter is switched off",
        "                       -> sudo rfkill unblock bluetooth",
    ] == list(command.lines(found))
