"""USB boards that send HID reports, through the kernel's hidraw: no library, a file descriptor under the event loop.

A read gives one report, a write sends one, and the report's number is its first byte where reports are numbered.
Which devices there are, and what they are, is read from sysfs; nothing is opened to find out.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.drivers import Hear, Hid, Lost, Match
from gateway.errors import LinkError

SYSFS = Path("/sys/class/hidraw")
DEV = Path("/dev")
LONGEST_REPORT = 4096
REPORTS_AT_ONCE = 32
"""Reports read in one turn; other tables must be heard too."""
UNSENT_REPORTS = 256

PREFIX = "hid:"


@dataclass(frozen=True, slots=True)
class Device:
    """One interface of one HID device."""

    path: str
    vid: int
    pid: int
    name: str
    serial: str
    """Empty where the device has none."""
    usage_page: int | None


def devices(sysfs: Path = SYSFS, dev: Path = DEV) -> list[Device]:
    """All that the kernel knows now."""
    found = (_device(node, dev) for node in sorted(sysfs.glob("hidraw*")))
    return [device for device in found if device is not None]


def fits(device: Device, match: Match) -> bool:
    """Whether the device is one of those that `match` describes."""
    return (
        isinstance(match, Hid)
        and device.vid == match.vid
        and match.pid in (None, device.pid)
        # A descriptor that cannot be read rules nothing out.
        and (match.usage_page is None or device.usage_page in (None, match.usage_page))
    )


def is_meant(configured: str | None) -> bool:
    """Whether a port of the configuration is an HID device: by ``hid:``, or by a path that leads to one."""
    if configured is None:
        return False
    return configured.startswith(PREFIX) or os.path.realpath(configured).startswith(f"{DEV}/hidraw")


def targets(configured: str | None, matches: Iterable[Match], sysfs: Path = SYSFS, dev: Path = DEV) -> list[str]:
    """Paths on which a configured device may be now: ``hid:SERIAL``, ``hid:`` for the only one there is, or a path."""
    if configured is None:
        return []
    if not configured.startswith(PREFIX):
        return [configured] if Path(configured).exists() else []
    wanted = configured.removeprefix(PREFIX)
    matches = list(matches)
    return [
        device.path
        for device in devices(sysfs, dev)
        if wanted in ("", device.serial) and any(fits(device, match) for match in matches)
    ]


class HidPort:
    """A hidraw device of this machine. See `gateway.drivers.Port`."""

    def __init__(self, path: str, hear: Hear, lost: Lost) -> None:
        self.path = path
        self._hear = hear
        self._lost = lost
        self._fd = -1
        self._unsent: deque[bytes] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()

    async def open(self) -> None:
        """Open for ourselves alone. Raises `LinkError` where that cannot be done now."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise LinkError(_why_not(self.path, error)) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(fd)
            raise LinkError(f"{self.path} is in use by another program") from error
        self._fd = fd
        self._loop.add_reader(fd, self._readable)

    async def close(self) -> None:
        """Close; a port that is closed already is left so."""
        sending = self._release()
        if sending is not None:
            await asyncio.gather(sending, return_exceptions=True)

    def write(self, data: bytes, channel: str | None = None) -> None:
        """Send one report without waiting. A device may take its time over it, so a thread does."""
        if self._fd < 0:
            return
        self._unsent.append(data)
        if len(self._unsent) > UNSENT_REPORTS:
            self._fail("does not take what it is sent")
        elif self._sending is None:
            self._sending = self._loop.create_task(self._send())

    async def _send(self) -> None:
        fd = self._fd
        try:
            while self._unsent and self._fd == fd:
                await asyncio.to_thread(os.write, fd, self._unsent.popleft())
        except OSError as error:
            if self._fd == fd and error.errno != errno.EAGAIN:
                self._sending = None
                self._fail(
                    "was unplugged" if error.errno in (errno.ENODEV, errno.EIO) else f"refuses: {error.strerror}"
                )
        finally:
            if self._fd == fd:
                self._sending = None

    def _readable(self) -> None:
        for _ in range(REPORTS_AT_ONCE):
            try:
                report = os.read(self._fd, LONGEST_REPORT)
            except BlockingIOError:
                return
            except OSError:
                report = b""
            if not report:
                self._fail("was unplugged")
                return
            self._hear(report, self._loop.time(), None)
            if self._fd < 0:
                return

    def _fail(self, why: str) -> None:
        self._release()
        self._lost(f"{self.path} {why}")

    def _release(self) -> asyncio.Task[None] | None:
        """Let go of the device; a report that is being sent keeps the descriptor until it is done."""
        if self._fd < 0:
            return None
        fd, self._fd = self._fd, -1
        sending, self._sending = self._sending, None
        self._loop.remove_reader(fd)
        self._unsent.clear()
        if sending is None or sending.done():
            _close(fd)
            return None
        sending.add_done_callback(lambda _: _close(fd))
        return sending


def _close(fd: int) -> None:
    with contextlib.suppress(OSError):
        os.close(fd)


def _device(node: Path, dev: Path) -> Device | None:
    """What sysfs says of one hidraw node; None for one that has just gone."""
    try:
        text = (node / "device/uevent").read_text(errors="replace")
    except OSError:
        return None
    said = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    try:
        _, vid, pid = (int(part, 16) for part in said["HID_ID"].split(":"))
    except (KeyError, ValueError):
        return None
    path = str(dev / node.name)
    return Device(path, vid, pid, said.get("HID_NAME", ""), said.get("HID_UNIQ", ""), _usage_page(node))


def _usage_page(node: Path) -> int | None:
    """The first usage page of the report descriptor."""
    try:
        descriptor = (node / "device/report_descriptor").read_bytes()
    except OSError:
        return None
    return next((page for page in _usage_pages(descriptor)), None)


def _usage_pages(descriptor: bytes) -> Iterator[int]:
    """Walk the items: two bits of the first byte are the size of what follows, the rest is what it is."""
    at = 0
    while at < len(descriptor):
        item = descriptor[at]
        size = (0, 1, 2, 4)[item & 3]
        if item & 0xFC == 0x04:
            yield int.from_bytes(descriptor[at + 1 : at + 1 + size], "little")
        at += 1 + size


def _why_not(path: str, error: OSError) -> str:
    """Say in words a person can act on why a device does not open."""
    if error.errno == errno.EACCES:
        return f"{path}: no permission; are the udev rules installed, and is the user in the group dialout?"
    if error.errno in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
        return f"{path} is not there"
    if error.errno == errno.EBUSY:
        return f"{path} is in use by another program"
    return f"{path}: {error.strerror}"
