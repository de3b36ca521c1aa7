"""Serial ports and their stand-in over TCP: chunks of bytes, with their time. No threads but for opening.

pyserial sets the port up; its file descriptor under the event loop is the cheapest way there is to read many. A port
that was unplugged is readable and has no data: that is how we learn of it, within milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from serial import Serial, SerialException
from serial.tools.list_ports import comports

from gateway.drivers import Hear, Lost, Match, Port, SerialSettings, Usb
from gateway.errors import LinkError

CHUNK = 4096
UNSENT_BYTES = 64 * 1024
"""What may wait for a device that does not take it. The questions of an hour would fit."""
CONNECT_S = 5.0
SCAN_S = 1.0
LATE_S = 0.3
"""Bytes that may have waited longer are taken apart."""
PIECE = 8
BYTES_PER_S = 40.0
"""Of a board and clock in fast play."""


class SerialPort:
    """A serial port of this machine."""

    def __init__(self, path: str, settings: SerialSettings, hear: Hear, lost: Lost) -> None:
        self.path = path
        self.settings = settings
        self._hear = hear
        self._lost = lost
        self._serial: Serial | None = None
        self._fd = -1
        self._unsent = bytearray()
        self._loop = asyncio.get_running_loop()

    async def open(self) -> None:
        """Open for ourselves alone. Raises `LinkError` where that cannot be done now."""
        # Opening can block for tens of milliseconds, in which other tables must be heard.
        opening = asyncio.create_task(asyncio.to_thread(self._open))
        try:
            self._serial = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_result)
            raise
        self._fd = self._serial.fileno()
        self._loop.add_reader(self._fd, self._readable)

    async def close(self) -> None:
        """Close; a port that is closed already is left so."""
        self._release()

    def write(self, data: bytes, channel: str | None = None) -> None:
        """Send without waiting; what the kernel does not take now goes when it does."""
        if self._serial is None:
            return
        waiting = bool(self._unsent)
        self._unsent += data
        if len(self._unsent) > UNSENT_BYTES:
            self._fail("does not take what it is sent")
        elif not waiting:
            self._writable()

    def _open(self) -> Serial:
        settings = self.settings
        port = Serial(
            baudrate=settings.baudrate,
            bytesize=settings.bytesize,
            parity=settings.parity,
            stopbits=settings.stopbits,
            timeout=0,
            write_timeout=0,
            exclusive=True,
        )
        port.port = self.path
        # Set before opening: on some boards these lines are the reset button.
        if settings.dtr is not None:
            port.dtr = settings.dtr
        if settings.rts is not None:
            port.rts = settings.rts
        try:
            port.open()
        except (OSError, ValueError) as error:
            raise LinkError(_why_not(self.path, error)) from error
        return port

    def _readable(self) -> None:
        try:
            # Not `Serial.read`: it asks by select, which knows no descriptor beyond 1023, five of them to a port.
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._hear(data, self._loop.time(), None)
        else:
            self._fail("was unplugged")

    def _writable(self) -> None:
        try:
            # Not `Serial.write`: it spins while the kernel is full.
            written = os.write(self._fd, self._unsent)
        except BlockingIOError:
            written = 0
        except OSError:
            self._fail("was unplugged")
            return
        del self._unsent[:written]
        if self._unsent:
            self._loop.add_writer(self._fd, self._writable)
        else:
            self._loop.remove_writer(self._fd)

    def _fail(self, why: str) -> None:
        self._release()
        self._lost(f"{self.path} {why}")

    def _release(self) -> None:
        if self._serial is None:
            return
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        # A device that is gone can refuse even to be closed.
        with contextlib.suppress(OSError):
            self._serial.close()
        self._serial = None
        self._unsent.clear()


class SocketPort(asyncio.Protocol):
    """The same bytes over TCP: a terminal server, ser2net, or a simulator."""

    def __init__(self, host: str, port: int, hear: Hear, lost: Lost) -> None:
        self.name = f"socket://{host}:{port}"
        self._host = host
        self._port = port
        self._hear = hear
        self._lost = lost
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()

    async def open(self) -> None:
        """Connect. Raises `LinkError` where that cannot be done now."""
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._loop.create_connection(lambda: self, self._host, self._port)
        except (OSError, TimeoutError) as error:
            raise LinkError(f"{self.name}: {error or 'no answer'}") from error

    async def close(self) -> None:
        """Disconnect."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()

    def write(self, data: bytes, channel: str | None = None) -> None:
        """Send without waiting."""
        if self._transport is None:
            return
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > UNSENT_BYTES:
            self._fail("does not take what it is sent")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        if self._transport is not None:
            self._hear(data, self._loop.time(), None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the event loop."""
        if self._transport is not None:
            self._fail(str(exc) if exc else "was closed by the other side")

    def _fail(self, why: str) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
        self._lost(f"{self.name} {why}")


def port(target: str, settings: SerialSettings, hear: Hear, lost: Lost) -> Port:
    """The port of this name, a path or ``socket://HOST:PORT``, not yet opened."""
    if target.startswith("socket://"):
        where = urlsplit(target)
        return SocketPort(where.hostname or "", where.port or 0, hear, lost)
    return SerialPort(target, settings, hear, lost)


def bit_by_bit(hear: Hear, listened_at: Callable[[], float]) -> Hear:
    """What has waited to be read, as the machine or we were busy, has come bit by bit, and is given such times.

    Moves that were all made at one time could hardly be told from each other. Within a chunk the true times are not
    known; the last byte has the time at which it was read.
    """

    def take(data: bytes, at: float, channel: str | None) -> None:
        waited = at - listened_at()
        if waited < LATE_S:
            hear(data, at, channel)
            return
        began = at - min(waited, len(data) / BYTES_PER_S)
        for end in range(len(data), 0, -PIECE)[::-1]:
            piece = data[max(0, end - PIECE) : end]
            hear(piece, began + (at - began) * end / len(data), channel)

    return take


def with_options(settings: SerialSettings, options: dict[str, Any]) -> SerialSettings:
    """The settings with what the operator's [table.board.options] say of them."""
    names = ("baudrate", "bytesize", "parity", "stopbits", "dtr", "rts")
    return replace(settings, **{name: options[name] for name in names if name in options})


class Finder:
    """Which ports a configured device may be on now. One for all tables, as each look costs a walk through sysfs."""

    def __init__(self) -> None:
        self._scanned_at = float("-inf")
        self._ports: Sequence[Any] = ()

    def targets(self, configured: str | None, serial: str | None, matches: Iterable[Match]) -> list[str]:
        """Names for `port`, the likeliest first.

        A board of a known serial number is looked for on every port of its kind, after the configured one: it, or the
        adapters of two boards, may have come back under other names.
        """
        found: list[str] = []
        if configured is not None and configured.startswith("usb:"):
            wanted = configured.removeprefix("usb:")
            found += [port.device for port in self._scan() if port.serial_number == wanted]
        elif configured is not None and (configured.startswith("socket://") or Path(configured).exists()):
            found.append(configured)
        if serial is not None and not (configured or "").startswith("socket://"):
            same = {os.path.realpath(target) for target in found}
            for port_info in self._scan():
                if any(_is(port_info, match) for match in matches) and port_info.device not in same:
                    found.append(port_info.device)
        return found

    def _scan(self) -> Sequence[Any]:
        now = time.monotonic()
        if now - self._scanned_at > SCAN_S:
            self._ports = sorted(comports(), key=lambda port: str(port.device))
            self._scanned_at = now
        return self._ports


def _is(port_info: Any, match: Match) -> bool:
    return isinstance(match, Usb) and port_info.vid == match.vid and match.pid in (None, port_info.pid)


def _why_not(path: str, error: OSError | ValueError) -> str:
    """Say in words a person can act on why a port does not open."""
    number = getattr(error, "errno", None)
    if isinstance(error, SerialException) and "exclusively lock" in str(error):
        return f"{path} is in use by another program"
    if isinstance(error, PermissionError) or number == 13:
        return f"{path}: no permission; is the user in the group dialout?"
    if isinstance(error, FileNotFoundError) or number == 2:
        return f"{path} is not there"
    if number == 16:
        return f"{path} is in use by another program"
    return f"{path}: {error}"


def _close_result(opening: asyncio.Task[Serial]) -> None:
    """The port was opened for nobody: whoever wanted it has been cancelled."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
