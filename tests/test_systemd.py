"""What is installed beside the program: the unit, the example configuration, the broker's example."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.config import load
from gateway.feed import settings as feed
from gateway.registry import DRIVERS
from gateway.settings import (
    BOARD_KEYS,
    CLOCK_KEYS,
    GATEWAY_KEYS,
    MQTT_KEYS,
    RULE_KEYS,
    RULES_KEYS,
    TABLE_KEYS,
    TLS_KEYS,
    WEB_KEYS,
    WEB_TLS_KEYS,
)

SYSTEMD = Path(__file__).parents[1] / "systemd"
UNIT = SYSTEMD / "board-gateway.service"
UNITS = (UNIT, SYSTEMD / "board-gateway-feed.service")


def found(command: str) -> str | None:
    """Return where a program is; Debian keeps daemons where users do not look."""
    return shutil.which(command) or shutil.which(command, path="/usr/sbin:/sbin")


analysed = pytest.mark.skipif(not found("systemd-analyze"), reason="systemd-analyze is not installed")
brokered = pytest.mark.skipif(
    not (found("mosquitto") and found("mosquitto_pub") and found("mosquitto_passwd")),
    reason="mosquitto and mosquitto-clients are not installed",
)


@analysed
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_unit_is_understood(unit: Path, tmp_path: Path) -> None:
    """systemd has nothing to say against the unit, once the program is where it says."""
    copy = tmp_path / unit.name
    copy.write_text(re.sub("(?m)^ExecStart=[^ ]+", f"ExecStart={sys.executable}", unit.read_text()))
    done = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)

    assert "" == done.stdout + done.stderr
    assert 0 == done.returncode


@analysed
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_unit_is_hardened(unit: Path) -> None:
    """The exposure is 2.0 or less."""
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager", unit],
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout


@pytest.mark.skipif(not found("systemd-sysusers"), reason="systemd-sysusers is not installed")
def test_user_is_made(tmp_path: Path) -> None:
    """The user gets the groups that the unit asks for."""
    asked = re.findall("(?m)^SupplementaryGroups=(.*)$", UNIT.read_text())[0].split()
    folder = tmp_path / "usr/lib/sysusers.d"
    folder.mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    shutil.copy(SYSTEMD / "board-gateway.sysusers.conf", folder)
    subprocess.run(["systemd-sysusers", f"--root={tmp_path}"], check=True, capture_output=True)
    groups = [line.split(":") for line in (tmp_path / "etc/group").read_text().splitlines()]

    assert sorted(asked) == sorted(name for name, _, _, members in groups if members == "board-gateway")


def uncommented(name: str = "config.toml") -> str:
    """The example with every key and table in force."""
    text = (SYSTEMD / name).read_text()
    return re.sub(r'(?m)^#(?=[a-z_"1]+ = |\[)', "", text)


def test_example_is_in_order() -> None:
    """The example as it is installed is a sound configuration."""
    assert ["1"] == [table.id for table in load(SYSTEMD / "config.toml", DRIVERS).tables]


def test_example_is_in_order_with_all_keys(tmp_path: Path) -> None:
    """What is commented out would be right too; only the clock's own port contradicts its driver."""
    path = tmp_path / "config.toml"
    path.write_text(re.sub('(?m)^port = "/dev/ttyUSB1".*$', "", uncommented()))

    assert "pi-a" == load(path, DRIVERS).gateway


def test_example_shows_every_key() -> None:
    """No key of the configuration is missing in the example."""
    hall = [GATEWAY_KEYS, MQTT_KEYS, TLS_KEYS, WEB_KEYS, WEB_TLS_KEYS]
    keys = [*hall, TABLE_KEYS, BOARD_KEYS, CLOCK_KEYS, RULES_KEYS, RULE_KEYS]
    shown = set(re.findall(r"(?m)^([a-z_]+) = ", uncommented()))

    assert {key for table in keys for key in table} == shown


def test_feeds_example_is_in_order(tmp_path: Path) -> None:
    """As it is installed, and with all that is commented out; no key is missing in it."""
    path = tmp_path / "feed.toml"
    path.write_text(uncommented("feed.toml"))
    (tmp_path / "players.csv").write_text("name,title,rating\n")
    shown = set(re.findall(r"(?m)^([a-z_]+) = ", path.read_text()))

    assert 15 == feed.load(SYSTEMD / "feed.toml").delay
    assert {"1": "AbCdEfGh"} == getattr(feed.load(path).lichess, "rounds", None)
    assert {*feed.MQTT_READ, *TLS_KEYS, *feed.FEED_KEYS, *feed.LICHESS_KEYS} == shown


# --- the broker -------------------------------------------------------------------------------------------------

USERS = ("spectator", "screen", "feed", "arbiter", "gw-pi-a")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[int]:
    """A broker that runs the example, on a port of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    text = (SYSTEMD / "mosquitto.conf").read_text()
    text = text.replace("listener 1883", f"listener {port} 127.0.0.1").replace("/etc/mosquitto/", f"{tmp_path}/")
    (tmp_path / "hall.conf").write_text(f"{text}\npersistence_location {tmp_path}/\nuser root\n")
    shutil.copy(SYSTEMD / "mosquitto.acl", tmp_path / "hall.acl")
    (tmp_path / "hall.passwd").touch(mode=0o600)
    for user in USERS:
        subprocess.run([found("mosquitto_passwd") or "", "-b", tmp_path / "hall.passwd", user, "secret"], check=True)
    with subprocess.Popen([found("mosquitto") or "", "-c", tmp_path / "hall.conf"], stderr=subprocess.DEVNULL) as child:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        yield port
        child.terminate()


def publish(port: int, user: str, topic: str) -> None:
    """Publish the topic's name, retained."""
    subprocess.run(
        [
            "mosquitto_pub",
            "-V",
            "5",
            "-p",
            str(port),
            "-u",
            user,
            "-P",
            "secret",
            "-q",
            "1",
            "-r",
            "-t",
            topic,
            "-m",
            user,
        ],
        check=False,
        capture_output=True,
        timeout=10,
    )


def seen(port: int, user: str) -> set[str]:
    """Return the retained topics that a user sees."""
    done = subprocess.run(
        ["mosquitto_sub", "-V", "5", "-p", str(port), "-u", user, "-P", "secret", "-t", "#", "-W", "1", "-F", "%t"],
        check=False,
        capture_output=True,
        text=True,
        timeout=10,
    )
    return set(done.stdout.split())


@brokered
def test_access_list(broker: int) -> None:
    """Spectators see tables only; arbiters see all and write commands only; a gateway writes its own only."""
    own = {
        "hall/gateway/pi-a/status",
        "hall/table/1/game",
        "hall/table/1/event/move",
        "hall/arbiter/1/alerts",
        "hall/arbiter/1/event/alert",
        "hall/arbiter/1/reply",
    }
    for topic in [*own, "hall/gateway/pi-b/status", "hall/table/2/game", "hall/arbiter/1/command"]:
        publish(broker, "gw-pi-a", topic)
    for user, topic in (
        ("spectator", "hall/table/1/pgn"),
        ("screen", "hall/table/1/pgn"),
        ("arbiter", "hall/table/1/pgn"),
    ):
        publish(broker, user, topic)
    assert {"hall/table/1/game", "hall/table/1/event/move"} == seen(broker, "feed")
    for user in ("spectator", "screen"):
        publish(broker, user, "hall/arbiter/1/command")
    assert own == seen(broker, "arbiter")
    assert {"hall/table/1/game", "hall/table/1/event/move"} == seen(broker, "spectator")
    assert {"hall/table/1/game", "hall/table/1/event/move", "hall/gateway/pi-a/status"} == seen(broker, "screen")

    publish(broker, "arbiter", "hall/arbiter/1/command")
    assert own | {"hall/arbiter/1/command"} == seen(broker, "arbiter")
    assert {"hall/arbiter/1/command", "hall/gateway/pi-a/status"} == seen(broker, "gw-pi-a")
