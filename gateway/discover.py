"""What is plugged in or near by that looks like a board: serial ports, HID and Bluetooth devices. Nothing is opened.

Opening a port can reset what is behind it, and takes it from whoever has it; so what a device is, is concluded from
its ids and its name alone, and who holds it from the files that processes have open.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from serial.tools.list_ports import comports

from gateway.drivers import Ble, Usb, hid
from gateway.registry import DRIVERS, Entry

PROC = Path("/proc")
BY_ID = Path("/dev/serial/by-id")


@dataclass(frozen=True, slots=True)
class Found:
    """One device."""

    link: Literal["serial", "hid", "ble"]
    where: str
    """Path or address."""
    what: str
    """What it calls itself."""
    port: str
    """For the configuration: the most lasting name that it has."""
    drivers: tuple[str, ...]
    """Which it may be, the likeliest first; empty: no board that is known."""
    certain: bool
    """Its ids or its name are a board's own, and not those of a chip that anybody uses."""
    busy: str | None = None
    """Why it cannot be opened now."""


def serial_ports(
    ports: Iterable[Any] | None = None, entries: Mapping[str, Entry] = DRIVERS, proc: Path = PROC, by_id: Path = BY_ID
) -> list[Found]:
    """USB serial ports; those that are soldered in are nobody's board."""
    infos = sorted(comports() if ports is None else ports, key=lambda info: str(info.device))
    names = _lasting_names(by_id)
    holders = _holders(proc)
    found = []
    for info in infos:
        if info.vid is None:
            continue
        own, shared = _drivers_of_usb(info.vid, info.pid, entries)
        device = str(info.device)
        found.append(
            Found(
                "serial",
                device,
                " ".join(filter(None, (info.manufacturer, info.product))) or f"{info.vid:04x}:{info.pid:04x}",
                names.get(os.path.realpath(device), device),
                own or shared,
                bool(own),
                _busy(device, holders, "dialout"),
            )
        )
    return found


def hid_devices(
    devices: Iterable[hid.Device] | None = None, entries: Mapping[str, Entry] = DRIVERS, proc: Path = PROC
) -> list[Found]:
    """HID devices that are boards; keyboards and mice are nobody's business."""
    holders = _holders(proc)
    found = []
    for device in hid.devices() if devices is None else devices:
        drivers = tuple(name for name, entry in entries.items() if any(hid.fits(device, m) for m in entry.matches))
        if drivers:
            port = f"{hid.PREFIX}{device.serial}" if device.serial else device.path
            busy = _busy(device.path, holders, "dialout")
            found.append(Found("hid", device.path, device.name, port, drivers, True, busy))
    return found


def ble_devices(advertised: Iterable[Any], entries: Mapping[str, Entry] = DRIVERS) -> list[Found]:
    """Bluetooth devices that are boards, from what a scan has seen: `address`, `name`, `services`.

    Half of all boards share one service, so a name counts; a service counts where only one driver has it.
    """
    found = []
    for device in advertised:
        name = str(getattr(device, "name", None) or "")
        services = {str(uuid).lower() for uuid in getattr(device, "services", None) or ()}
        drivers = _drivers_of_ble(name, services, entries)
        if drivers:
            address = str(device.address)
            busy = "connected to a program on this computer" if getattr(device, "connected", False) else None
            found.append(Found("ble", address, name or "without a name", f"ble:{address}", drivers, True, busy))
    return found


def ble_services(entries: Mapping[str, Entry] = DRIVERS) -> set[str]:
    """Services by which a board that is connected already is known, as it advertises nothing then."""
    return {match.service for entry in entries.values() for match in entry.matches if isinstance(match, Ble)}


def configuration(found: Sequence[Found], first: int = 1, entries: Mapping[str, Entry] = DRIVERS) -> list[str]:
    """[[table]] lines for all boards among them; a clock of its own is put at the last table."""
    lines: list[str] = []
    number = first
    for device in found:
        if not device.drivers:
            continue
        driver, *others = device.drivers
        entry = entries[driver]
        note = f"  # or {', '.join(others)}" if others else ""
        if entry.device == "clock":
            lines += ["[table.clock]", f'driver = "{driver}"', f'port = "{device.port}"', ""]
            continue
        if device.busy:
            lines.append(f"# {device.where}: {device.busy}")
        if not device.certain:
            lines.append(f"# {device.where} has a chip that many devices have: is this a board?")
        lines += ["[[table]]", f'id = "{number}"', f'game = "{entry.games[0]}"', "[table.board]"]
        lines += [f'driver = "{driver}"{note}', f'port = "{device.port}"', ""]
        number += 1
    return lines


def _drivers_of_usb(vid: int, pid: int | None, entries: Mapping[str, Entry]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Drivers whose own ids these are, and drivers that use such a chip."""
    fitting = [
        (name, match.generic)
        for name, entry in entries.items()
        for match in entry.matches
        if isinstance(match, Usb) and match.vid == vid and match.pid in (None, pid)
    ]
    own = tuple(name for name, generic in fitting if not generic)
    return own, tuple(name for name, generic in fitting if generic)


def _drivers_of_ble(name: str, services: set[str], entries: Mapping[str, Entry]) -> tuple[str, ...]:
    matches = [(key, match) for key, entry in entries.items() for match in entry.matches if isinstance(match, Ble)]
    by_name = [(len(match.name), key) for key, match in matches if match.name and name.startswith(match.name)]
    if by_name:
        longest = max(length for length, _ in by_name)
        return tuple(dict.fromkeys(key for length, key in by_name if length == longest))
    by_service = {
        match.service: {key for key, other in matches if other.service == match.service} for _, match in matches
    }
    only = [keys for service, keys in by_service.items() if service in services and len(keys) == 1]
    return tuple(sorted(set().union(*only)))


def _lasting_names(by_id: Path) -> dict[str, str]:
    """udev's names by serial number, under the path that each stands for now."""
    if not by_id.is_dir():
        return {}
    return {os.path.realpath(name): str(name) for name in sorted(by_id.iterdir())}


def _holders(proc: Path) -> dict[str, str]:
    """Which process has which device open, as far as we may see."""
    holders: dict[str, str] = {}
    for process in proc.glob("[0-9]*"):
        try:
            name = (process / "comm").read_text(errors="replace").strip()
            opened = [str(fd.readlink()) for fd in (process / "fd").iterdir()]
        except OSError:
            continue
        holders |= {path: f"{name} (process {process.name})" for path in opened if path.startswith("/dev/")}
    return holders


def _busy(path: str, holders: Mapping[str, str], group: str) -> str | None:
    holder = holders.get(os.path.realpath(path))
    if holder:
        return f"in use by {holder}"
    if Path(path).exists() and not os.access(path, os.R_OK | os.W_OK):
        return f"no permission; is the user in the group {group}?"
    return None
