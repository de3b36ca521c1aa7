"""What stands between this machine and a working gateway, in plain words, each with what to do about it.

Nothing is changed, and no port is opened: opening can reset a board, and takes it from a gateway that is running. At
the broker it publishes what is there already (its own status), and tries what it must not be allowed.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import getpass
import grp
import os
import pwd
import shutil
import socket
import ssl
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import aiomqtt

from gateway import discover
from gateway.broker import BrokerError, binary
from gateway.config import Config, MqttConfig
from gateway.daemon import PortPlan, plan_ports
from gateway.drivers import Hid, Usb, hid, serial, uses_radio
from gateway.mqtt_client import REFUSED, ConfirmingClient, password, tls_context
from gateway.publish import VERSION, Message, encode
from gateway.registry import DRIVERS

Grade = Literal["ok", "look", "wrong"]
"""In order; worth a look; the gateway cannot do its work."""

SERVICE = "board-gateway"
"""The unit's user. Root asks on its behalf, as root itself may open everything."""
PATIENCE_S = 5.0
ECHO_S = 2.0
LITTLE_ROOM = 500 << 20
NO_ROOM = 50 << 20
FIRST_RIGHT_TIME = 1_760_000_000.0
"""A clock before this (October 2025) has never been set."""
HOT = 80.0
FIRST_FREE_PORT = 1024
"""Those below are for root."""
CLOCK_UNSYNCHRONISED = 5  # TIME_ERROR of adjtimex(2)

THROTTLED = {
    0: "the supply voltage is too low now",
    1: "the processor is held back now",
    2: "the processor is throttled now",
    3: "it is too hot now",
    16: "the supply voltage has been too low since the start",
    17: "the processor has been held back since the start",
    18: "the processor has been throttled since the start",
    19: "it has been too hot since the start",
}
"""Bits of the firmware's `get_throttled`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    grade: Grade
    where: str
    what: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """Where to look; tests put folders of their own here."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    dev: Path = Path("/dev")
    run: Path = Path("/run")
    user: str = field(default_factory=lambda: SERVICE if _for_service() else getpass.getuser())


async def examine(config: Config, machine: Machine | None = None) -> AsyncIterator[Finding]:
    """Look at everything that the configuration needs, the broker last as it may take seconds."""
    machine = machine or Machine()
    for findings in (
        ports(config, machine),
        bluetooth(config, machine),
        secrets(config.mqtt),
        page(config),
        disk(config.state_dir),
        metrics(config.metrics_file),
        clock(),
        power(machine),
    ):
        for finding in findings:
            yield finding
    async for finding in broker(config):
        yield finding


# --- ports ------------------------------------------------------------------------------------------------------


def ports(config: Config, machine: Machine) -> Iterator[Finding]:
    """Whether each configured device is there, and whether we may open it."""
    running = is_running(config.state_dir)
    finder = serial.Finder()
    for plan in plan_ports(config.tables):
        yield _port(plan, machine, finder, running)


def _port(plan: PortPlan, machine: Machine, finder: serial.Finder, running: bool) -> Finding:
    where = f"{plan.device} of table {', '.join(table.id for table in plan.tables)}"
    entry = DRIVERS[plan.driver]
    known = next((table.board.serial for table in plan.tables if plan.device == "board"), None)
    port = plan.port or ""
    if port.startswith("socket://"):
        return _socket(where, port)
    if uses_radio(plan.port, known, entry.matches):
        return Finding(
            "ok", where, f"{port or 'serial ' + str(known)} is looked for on the radio when it is switched on"
        )
    if hid.is_meant(plan.port):
        found = hid.targets(port, entry.matches, machine.sys / "class/hidraw", machine.dev)
    else:
        found = finder.targets(plan.port, known, entry.matches)
    if not found:
        return Finding("wrong", where, f"{port or f'a board with serial {known}'} is not there", _not_there(machine))
    return _device(where, Path(found[0]), plan, machine, running)


def _device(where: str, path: Path, plan: PortPlan, machine: Machine, running: bool) -> Finding:
    if not _may(path, os.R_OK | os.W_OK):
        return Finding(
            "wrong", where, f"{path}: {machine.user} may not read and write it", _permission(path, plan, machine)
        )
    holder = _holder(path, machine.proc)
    if holder and not running:
        return Finding("wrong", where, f"{path} is in use by {holder}", "end that program: a port has one owner")
    if holder:
        return Finding("ok", where, f"{path}, in use by {holder}")
    return Finding("ok", where, f"{path} is there and may be opened")


def _for_service() -> bool:
    """Whether we are root and the service's user is there."""
    if os.geteuid() != 0:
        return False
    try:
        pwd.getpwnam(SERVICE)
    except KeyError:
        return False
    return True


def _groups() -> list[int]:
    """Of whoever will run the gateway."""
    if _for_service():
        return os.getgrouplist(SERVICE, pwd.getpwnam(SERVICE).pw_gid)
    return os.getgroups()


def _may(path: Path, mode: int) -> bool:
    """Whether whoever will run the gateway has these rights."""
    if not _for_service():
        return os.access(path, mode)
    groups, group = os.getgroups(), os.getegid()
    entry = pwd.getpwnam(SERVICE)
    os.setgroups(_groups())
    os.setegid(entry.pw_gid)
    os.seteuid(entry.pw_uid)
    try:
        return os.access(path, mode, effective_ids=True)
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)


def _holder(path: Path, proc: Path) -> str | None:
    """Which process has the device open, as far as we may see."""
    wanted = os.path.realpath(path)
    for process in proc.glob("[0-9]*"):
        try:
            if any(os.path.realpath(fd) == wanted for fd in (process / "fd").iterdir()):
                return f"{_text(process / 'comm')} (process {process.name})"
        except OSError:
            continue
    return None


def _not_there(machine: Machine) -> str:
    """What could be meant, or where to look."""
    seen = [
        device.port for device in (*discover.serial_ports(), *discover.hid_devices(proc=machine.proc)) if device.drivers
    ]
    if seen:
        return f"plugged in are {', '.join(seen)}; is one of them meant? `board-gateway discover` tells more"
    return (
        "check the cable and the board's own switch; `dmesg --follow` shows whether the Pi notices it being plugged in"
    )


def _permission(path: Path, plan: PortPlan, machine: Machine) -> str:
    """The group to join; or, where the device belongs to no group that could help, the udev rule to add."""
    stat = path.stat()
    group = _group_name(stat.st_gid)
    if stat.st_mode & 0o060 == 0o060 and stat.st_gid != 0:
        return (
            f"sudo usermod -aG {group} {machine.user}, then log in again (the service: sudo systemctl restart"
            " board-gateway)"
        )
    rule = _rule(plan)
    return (
        f"add to /etc/udev/rules.d/70-board-gateway.rules the line {rule} then sudo udevadm control --reload && sudo"
        " udevadm trigger, and plug the board in again"
    )


def _rule(plan: PortPlan) -> str:
    subsystem = "hidraw" if hid.is_meant(plan.port) else "tty"
    wanted = Hid if subsystem == "hidraw" else Usb
    vid = next((f"{match.vid:04x}" for match in DRIVERS[plan.driver].matches if isinstance(match, wanted)), None)
    which = f'ATTRS{{idVendor}}=="{vid}"' if vid else f'KERNEL=="{Path(plan.port or "ttyACM0").name}"'
    return f'SUBSYSTEM=="{subsystem}", {which}, GROUP="dialout", MODE="0660"'


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _socket(where: str, port: str) -> Finding:
    host, _, number = port.removeprefix("socket://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(number)), timeout=PATIENCE_S).close()
    except (OSError, OverflowError) as error:
        return Finding(
            "wrong", where, f"{port}: {_why(error)}", "is the terminal server (ser2net) on, and its name right?"
        )
    return Finding("ok", where, f"{port} answers")


def is_running(state_dir: Path) -> bool:
    """Whether a gateway holds this state directory."""
    try:
        with (state_dir / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def bluetooth(config: Config, machine: Machine) -> Iterator[Finding]:
    """BlueZ, where a board needs it: an adapter, not blocked, its service running, and ourselves let in."""
    tables = [
        table.id
        for table in config.tables
        if uses_radio(table.board.port, table.board.serial, DRIVERS[table.board.driver].matches)
        or (table.clock.port and uses_radio(table.clock.port, None, ()))
    ]
    if not tables:
        return
    need = f"table {', '.join(tables)} needs it"
    if not list((machine.sys / "class/bluetooth").glob("hci*")):
        remedy = "sudo apt-get install pi-bluetooth (a Pi's own), or plug an adapter in; then restart"
        yield Finding("wrong", "bluetooth", f"there is no adapter, and {need}", remedy)
        return
    blocked = [kind.parent for kind in (machine.sys / "class/rfkill").glob("*/type") if _text(kind) == "bluetooth"]
    if any("1" in (_text(switch / "soft"), _text(switch / "hard")) for switch in blocked):
        yield Finding("wrong", "bluetooth", f"the adapter is switched off, and {need}", "sudo rfkill unblock bluetooth")
        return
    if not any(_text(name) == "bluetoothd" for name in machine.proc.glob("[0-9]*/comm")):
        remedy = "sudo apt-get install bluez && sudo systemctl enable --now bluetooth"
        yield Finding("wrong", "bluetooth", f"BlueZ is not running, and {need}", remedy)
        return
    groups = {_group_name(number) for number in _groups()}
    if machine.user != "root" and "bluetooth" not in groups:
        remedy = f"sudo usermod -aG bluetooth {machine.user}, then log in again"
        yield Finding("look", "bluetooth", f"{machine.user} is not in the group bluetooth", remedy)
    yield Finding("ok", "bluetooth", "an adapter and BlueZ are there")


# --- the machine ------------------------------------------------------------------------------------------------


def secrets(mqtt: MqttConfig) -> Iterator[Finding]:
    """Files that only we should read, and a password that crosses the network."""
    files = [mqtt.password_file, mqtt.tls.key_file if mqtt.tls else None]
    for path in files:
        if path is None:
            continue
        try:
            mode = path.stat().st_mode
        except OSError as error:
            yield Finding("wrong", "secrets", f"{path}: {_why(error)}", "make the file, or correct its name in [mqtt]")
            continue
        if mode & 0o007:
            yield Finding("wrong", "secrets", f"every user of this machine may read {path}", f"sudo chmod o= {path}")
        elif not os.access(path, os.R_OK):
            remedy = (
                f"run the doctor as the gateway's user, or: sudo chgrp board-gateway {path} && sudo chmod 640 {path}"
            )
            yield Finding("wrong", "secrets", f"{path} may not be read by {getpass.getuser()}", remedy)
        else:
            yield Finding("ok", "secrets", f"{path} is readable by us and closed to others")
    if mqtt.username and mqtt.tls is None and not mqtt.embedded and not _is_local(mqtt.host):
        remedy = "set [mqtt.tls] with the broker's ca_file and port = 8883"
        yield Finding("look", "secrets", f"the password crosses the network to {mqtt.host} in the clear", remedy)


def page(config: Config) -> Iterator[Finding]:
    """Who reaches the arbiters' page, and what of it can be read on the way."""
    web, where = config.web, "page"
    if web is None:
        return
    host, port = web.address
    if web.tls is not None and (web.broker_url or "").startswith("ws:"):
        remedy = "give the broker's websockets TLS too, and say wss:// in [web] broker_url"
        yield Finding("wrong", where, "browsers refuse a broker without TLS to a page with TLS", remedy)
    if 0 < port < FIRST_FREE_PORT:
        remedy = "take a port above 1023, as 8080, or a web server before it (board-gateway web --export)"
        yield Finding("look", where, f"the service's user may not listen on port {port}", remedy)
    if _is_local(host):
        yield Finding("ok", where, f"served on {web.listen}, for this machine only")
    elif config.mqtt.embedded:
        remedy = "take a broker with accounts for a hall (docs/it.md); for one table at home it may stay so"
        yield Finding(
            "look", where, f"whoever reaches {web.listen} may rule: the private broker has no accounts", remedy
        )
    elif web.tls is None:
        remedy = "set [web.tls] with a certificate, and broker_url = wss://..."
        yield Finding("look", where, f"arbiters' passwords cross the network to {web.listen} in the clear", remedy)
    else:
        yield Finding("ok", where, f"served on {web.listen} with TLS")


def disk(state_dir: Path) -> Iterator[Finding]:
    """Whether the journal can be kept, and for how long."""
    where = "disk"
    if not state_dir.is_dir():
        remedy = (
            f"sudo install -d -o board-gateway -g board-gateway -m 750 {state_dir} (the service makes it by itself)"
        )
        yield Finding("wrong", where, f"{state_dir} is not there", remedy)
        return
    if os.statvfs(state_dir).f_flag & os.ST_RDONLY:
        remedy = "a card that fails is mounted so by the kernel (`dmesg`): replace it; else sudo mount -o remount,rw"
        yield Finding("wrong", where, f"the file system of {state_dir} is read-only", remedy)
        return
    if not _may(state_dir, os.R_OK | os.W_OK | os.X_OK):
        remedy = f"run the doctor as the gateway's user, or: sudo chown -R board-gateway: {state_dir}"
        yield Finding("wrong", where, f"{Machine().user} may not write in {state_dir}", remedy)
        return
    free = shutil.disk_usage(state_dir).free
    room = f"{free / (1 << 20):,.0f} MB are free for {state_dir}"
    remedy = f"delete old captures in {state_dir / 'captures'}; they may take 1 GB"
    grade: Grade = "wrong" if free < NO_ROOM else "look" if free < LITTLE_ROOM else "ok"
    yield Finding(grade, where, room, None if grade == "ok" else remedy)
    for aside in sorted(state_dir.glob("journal.sqlite3.damaged-*[0-9]")):
        remedy = "its events were carried over as far as possible; keep the file for a report, then delete it"
        yield Finding("look", where, f"a damaged journal was moved aside: {aside.name}", remedy)


def metrics(path: Path | None) -> Iterator[Finding]:
    """Whether the file for Prometheus can be written, where one is wanted."""
    if path is None:
        return
    folder = path.parent
    if not folder.is_dir() or not _may(folder, os.W_OK | os.X_OK):
        remedy = f"sudo install -d -g {SERVICE} -m 775 {folder}; the unit must be let into it too (docs/it.md)"
        why = "may not be written in" if folder.is_dir() else "is not there"
        yield Finding("look", "metrics", f"{folder} {why}", remedy)
    elif path.suffix != ".prom":
        yield Finding("look", "metrics", f"node_exporter does not take up {path.name}", "let its name end with .prom")
    else:
        yield Finding("ok", "metrics", f"{path} can be written")


def clock() -> Iterator[Finding]:
    """Whether stamps will be right. The games do not depend on it."""
    remedy = (
        "sudo timedatectl set-ntp true, and check that the Pi reaches a time server (`timedatectl timesync-status`)"
    )
    if time.time() < FIRST_RIGHT_TIME:
        now = time.strftime("%Y-%m-%d", time.gmtime())
        yield Finding("wrong", "clock", f"it says {now}; certificates will not be accepted", remedy)
        return
    state = _synchronised()
    if state is None:
        yield Finding("look", "clock", "whether it is synchronised cannot be seen here", "`timedatectl` tells")
    elif state:
        yield Finding("ok", "clock", "synchronised")
    else:
        yield Finding("look", "clock", "not synchronised: games go on, but their times of day may be wrong", remedy)


def _synchronised() -> bool | None:
    """What the kernel says; None where it does not."""
    buffer = ctypes.create_string_buffer(512)
    state = ctypes.CDLL(None).adjtimex(buffer)
    return None if state < 0 else state != CLOCK_UNSYNCHRONISED


def power(machine: Machine) -> Iterator[Finding]:
    """Supply and heat of a Raspberry Pi; nothing on other machines."""
    model = _text(machine.proc / "device-tree/model")
    if not model.startswith("Raspberry Pi"):
        return
    said = _text(machine.sys / "devices/platform/soc/soc:firmware/get_throttled")
    try:
        bits = int(said, 16)
    except ValueError:
        yield Finding("look", "power", f"{model} does not tell about its supply", "`vcgencmd get_throttled` may")
        return
    troubles = [text for bit, text in THROTTLED.items() if bits >> bit & 1]
    remedy = "use the maker's power supply and a short cable, and a powered hub for boards; cool it, if it is heat"
    if troubles:
        yield Finding("wrong" if bits & 0xF else "look", "power", f"{model}: {'; '.join(troubles)}", remedy)
    else:
        yield Finding("ok", "power", f"{model}: supply and heat are in order")
    heat = _text(machine.sys / "class/thermal/thermal_zone0/temp")
    if heat.isdecimal() and int(heat) / 1000 > HOT:
        yield Finding(
            "look", "power", f"{int(heat) / 1000:.0f} degrees", "give it air; it slows down from 80 degrees on"
        )


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip("\0\n ")
    except OSError:
        return ""


# --- the broker -------------------------------------------------------------------------------------------------


async def broker(config: Config) -> AsyncIterator[Finding]:
    """Reach it, trust it, log in, publish what we may, and be refused what we may not."""
    mqtt = config.mqtt
    where = "broker"
    if mqtt.embedded:
        try:
            yield Finding("ok", where, f"private, by {binary()}")
        except BrokerError as error:
            yield Finding("wrong", where, "mosquitto is not installed", str(error).partition(": ")[2])
        return
    place = f"{mqtt.host}:{mqtt.port}"
    unreachable = await asyncio.to_thread(_reach, mqtt)
    if unreachable is not None:
        yield unreachable
        return
    yield Finding("ok", where, f"{place} answers")
    try:
        context, secret = tls_context(mqtt), password(mqtt)
    except OSError as error:
        yield Finding("wrong", "TLS", f"a file of [mqtt] cannot be used: {_why(error)}", "correct the name or the file")
        return
    if context is not None:
        trouble = await asyncio.to_thread(_handshake, mqtt, context)
        yield trouble or Finding("ok", "TLS", f"the certificate of {mqtt.host} is trusted")
        if trouble:
            return
    client = ConfirmingClient(
        mqtt.host,
        mqtt.port,
        identifier=f"board-gateway-{config.gateway}-doctor-{os.getpid()}",
        protocol=aiomqtt.ProtocolVersion.V5,
        username=mqtt.username,
        password=secret,
        tls_context=context,
        timeout=PATIENCE_S,
    )
    try:
        await client.__aenter__()
    except (aiomqtt.MqttError, OSError) as error:
        client.abandon()
        who = mqtt.username or "nobody (no username is set)"
        account = mqtt.username or f"gw-{config.gateway}"
        remedy = (
            f"at the broker: sudo mosquitto_passwd /etc/mosquitto/hall.passwd {account}, then"
            " sudo systemctl reload mosquitto; here: username and password_file in [mqtt]"
        )
        yield Finding("wrong", "login", f"{place} does not let {who} in: {error}", remedy)
        return
    try:
        yield Finding("ok", "login", f"as {mqtt.username or 'nobody'}")
        async with asyncio.timeout(4 * PATIENCE_S):
            async for finding in _access(client, config):
                yield finding
    except (aiomqtt.MqttError, TimeoutError) as error:
        yield Finding("wrong", where, f"it stopped answering: {error}", "look at its log: journalctl -u mosquitto")
    finally:
        client.abandon()


async def _access(client: ConfirmingClient, config: Config) -> AsyncIterator[Finding]:
    """The access list, by trying it."""
    where, root, gateway = "access", config.mqtt.root, config.gateway
    user = config.mqtt.username or f"gw-{gateway}"
    status = f"{root}/gateway/{gateway}/status"
    await client.subscribe(status, qos=1)
    there = await _next_payload(client)
    # What is there already, or the truth: a gateway that is running takes neither for another gateway.
    offline = encode({"v": VERSION, "state": "offline", "version": None, "since": None})
    code = await client.confirm(Message(status, there or offline, True))
    if code is None or code >= REFUSED:
        remedy = _grant(user, [f"topic readwrite {status}", f"topic write {root}/gateway/{gateway}/#"])
        yield Finding("wrong", where, f"the broker refuses our own status, {status}", remedy)
    else:
        yield Finding("ok", where, f"may publish {status}")
        if await _next_payload(client) is None:
            remedy = _grant(user, [f"topic read {status}"])
            yield Finding(
                "look", where, "may not read its own status, so a second gateway of this id is not seen", remedy
            )
    closed = [table.id for table in config.tables if not await _may_publish(client, root, table.id)]
    if closed:
        lines = [f"topic write {root}/{part}" for table in closed for part in _topics(table)]
        remedy = _grant(user, [*lines, *(f"topic read {root}/arbiter/{table}/command" for table in closed)])
        yield Finding("wrong", where, f"the broker refuses topics of table {', '.join(closed)}", remedy)
    elif config.tables:
        yield Finding("ok", where, f"may publish for all {len(config.tables)} tables")
    forbidden = f"{root}/gateway/doctor-of-{gateway}/test"
    code = await client.confirm(Message(forbidden, b"", False))
    if code is not None and code < REFUSED:
        remedy = "give the broker an access list: systemd/mosquitto.acl is an example"
        yield Finding("look", where, f"anybody may publish anything: {forbidden} was taken", remedy)
    else:
        yield Finding("ok", where, "what is another gateway's is refused")


async def _may_publish(client: ConfirmingClient, root: str, table: str) -> bool:
    """Empty and not retained, on topics that nobody acts upon."""
    for topic in (f"{root}/table/{table}/event/doctor", f"{root}/arbiter/{table}/event/doctor"):
        code = await client.confirm(Message(topic, b"", False))
        if code is None or code >= REFUSED:
            return False
    return True


def _topics(table: str) -> Sequence[str]:
    return (f"table/{table}/#", *(f"arbiter/{table}/{name}" for name in ("alerts", "board", "event/#", "reply")))


def _grant(user: str, lines: Sequence[str]) -> str:
    return f"in the broker's access list, under `user {user}`: {'; '.join(lines)}. Then sudo systemctl reload mosquitto"


async def _next_payload(client: ConfirmingClient) -> bytes | None:
    """The next publication, if there is one soon."""
    try:
        async with asyncio.timeout(ECHO_S):
            async for message in client.messages:
                return bytes(message.payload)
    except TimeoutError:
        pass
    return None


def _reach(mqtt: MqttConfig) -> Finding | None:
    try:
        socket.create_connection((mqtt.host, mqtt.port), timeout=PATIENCE_S).close()
    except OSError as error:
        if isinstance(error, socket.gaierror):
            remedy = f"is the name right, and does `getent hosts {mqtt.host}` find it? Else give its address in [mqtt]"
        elif isinstance(error, ConnectionRefusedError):
            remedy = "is mosquitto running there (systemctl status mosquitto), with a `listener` on this port?"
        else:
            remedy = f"is the network there (`ping {mqtt.host}`), and the port open in the broker's firewall?"
        return Finding("wrong", "broker", f"{mqtt.host}:{mqtt.port}: {_why(error)}", remedy)
    return None


def _handshake(mqtt: MqttConfig, context: ssl.SSLContext) -> Finding | None:
    try:
        with (
            socket.create_connection((mqtt.host, mqtt.port), timeout=PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname=mqtt.host) as secured,
        ):
            # TLS 1.3: whether our own certificate was taken is said after the handshake.
            secured.settimeout(0.3)
            secured.recv(1)
    except TimeoutError:
        return None
    except ssl.SSLCertVerificationError as error:
        return Finding("wrong", "TLS", f"the certificate of {mqtt.host}: {error.verify_message}", _certificate(error))
    except (ssl.SSLError, ConnectionResetError) as error:
        remedy = "is this the broker's TLS port (8883)? Does it want a client certificate (cert_file, key_file)?"
        return Finding("wrong", "TLS", f"no secured connection with {mqtt.host}:{mqtt.port}: {_why(error)}", remedy)
    except OSError as error:
        return Finding("wrong", "TLS", f"{mqtt.host}:{mqtt.port}: {_why(error)}", "try again")
    return None


def _certificate(error: ssl.SSLCertVerificationError) -> str:
    words = error.verify_message.lower()
    if "mismatch" in words or "not valid for" in words:
        return "say in [mqtt] host the name that is in the certificate, or make the certificate for this name"
    if "expired" in words or "not yet valid" in words:
        return "look at this machine's clock first (`date`); if it is right, renew the broker's certificate"
    return "ca_file in [mqtt.tls] must be the certificate of the authority that signed the broker's"


def _is_local(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _why(error: Exception) -> str:
    """An error without the paths and numbers that libraries put around it."""
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, ssl.SSLError):
        return (error.reason or "TLS failed").replace("_", " ").lower()
    return getattr(error, "strerror", None) or str(error)
