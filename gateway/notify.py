"""What systemd is told: ready, status, still alive. Nothing where there is no systemd."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping


class Notifier:
    """The unit's notification socket (sd_notify(3))."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET")
        # "@" stands for the zero byte of an abstract socket.
        self._address = "\0" + address[1:] if address and address.startswith("@") else address
        watchdog = int(environment.get("WATCHDOG_USEC", "0"))
        self.interval_s = watchdog / 1e6 / 2 if watchdog else None
        """How often to say that we are alive; None: nobody watches."""

    def ready(self) -> None:
        """Start-up, or reloading, is over."""
        self._send("READY=1")

    def reloading(self) -> None:
        """SIGHUP is being obeyed."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """SIGTERM is being obeyed."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """Hold off the watchdog."""
        self._send("WATCHDOG=1")

    def status(self, text: str) -> None:
        """A line for `systemctl status`."""
        self._send(f"STATUS={text}")

    def _send(self, message: str) -> None:
        if self._address is not None:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to_systemd:
                to_systemd.sendto(message.encode(), self._address)
