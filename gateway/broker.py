"""A private mosquitto as a child of the daemon: `[mqtt] embedded = true`.

For a demo, or a hall of one Pi without a broker of its own. It listens on this machine only, keeps its retained state
under the state directory, is started again when it dies, and never outlives the daemon, not even one killed with -9.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import shutil
import signal
import socket
import time
from pathlib import Path

import structlog

from gateway.config import WebConfig
from gateway.errors import LinkError

RESTART_S = (0.5, 10.0)
START_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 3.0
ADDRESS = "127.0.0.1"
WEBSOCKETS_PORT = 9001
"""Where the page looks for the broker if nobody tells it."""

MISSING = (
    "[mqtt] embedded = true needs the mosquitto broker, which is not installed:"
    " sudo apt-get install mosquitto (its own service may be off: sudo systemctl disable --now mosquitto)"
)

# Saving on every change would rewrite the whole store each time; the journal closes the gap of the 30 seconds.
# The queue bound is for slow subscribers: with the default of 1,000 what is beyond is dropped silently.
# The listener for pages in a browser is bound to IPv4, since 2.0.11 otherwise takes every address, and is never the
# only one, with which it would stop.
CONFIGURATION = """\
listener {port} {address}
listener {websockets} {web_address}
protocol websockets
socket_domain ipv4
{web_tls}allow_anonymous true
persistence true
persistence_location {directory}/
autosave_interval 30
max_queued_messages 100000
max_inflight_messages 100
log_dest stderr
log_type error
log_type warning
connection_messages false
{user}"""

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)

log = structlog.get_logger("broker")


class BrokerError(LinkError):
    """The private broker cannot be run."""


def binary() -> str:
    """Where mosquitto is; Debian puts it where a user's path does not look. Raises `BrokerError`."""
    found = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise BrokerError(MISSING)
    return found


class EmbeddedBroker:
    """One mosquitto and its keeper."""

    def __init__(
        self, state_dir: Path, port: int, websockets: int = WEBSOCKETS_PORT, web: WebConfig | None = None
    ) -> None:
        """`port` and `websockets` are used if they are free, else any others.

        Args:
            state_dir: of the gateway; the broker keeps its state in a folder under it.
            port: for gateways and subscribers on this machine.
            websockets: for pages in a browser.
            web: how the page is served: whoever reaches the page reaches the broker, and with TLS if it has TLS.
        """
        self.directory = state_dir / "mosquitto"
        self.port = port
        self.websockets = websockets
        self.web_address = ADDRESS if web is None else _ipv4(web.address[0])
        self._tls = None if web is None else web.tls
        self.restarts = 0
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Run until `stop`; returns when it takes connections. Raises `BrokerError`."""
        await self._launch()
        log.info(
            "private broker started",
            address=ADDRESS,
            port=self.port,
            websockets=f"{self.web_address}:{self.websockets}",
            state=str(self.directory),
        )
        self._keeper = asyncio.create_task(self._keep())

    async def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Let it save its state and end, in this time."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), timeout_s)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _keep(self) -> None:
        backoff = RESTART_S[0]
        while self._process is not None:
            began = time.monotonic()
            complaint = await self._wait(self._process)
            log.error("private broker ended", status=self._process.returncode, said=complaint)
            if time.monotonic() - began > RESTART_S[1]:
                backoff = RESTART_S[0]
            await asyncio.sleep(backoff)
            backoff = min(backoff * 2, RESTART_S[1])
            with contextlib.suppress(BrokerError):
                await self._launch()
                self.restarts += 1
                log.info("private broker started again", port=self.port)

    async def _wait(self, process: asyncio.subprocess.Process) -> str:
        """Pass on what it complains about until it ends; return its last words."""
        last = ""
        assert process.stderr is not None
        async for line in process.stderr:
            last = line.decode(errors="replace").strip()
            log.debug("private broker", said=last)
        await process.wait()
        return last

    async def _launch(self) -> None:
        command = binary()
        self.port, self.websockets = await asyncio.to_thread(self._configure)
        daemon = os.getpid()

        def die_with_daemon() -> None:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != daemon:
                os._exit(1)

        process = await asyncio.create_subprocess_exec(
            command,
            "-c",
            str(self.directory / "mosquitto.conf"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            preexec_fn=die_with_daemon,
            # Ctrl-C in a terminal is for the daemon, which then has a last word to publish.
            start_new_session=True,
        )
        self._process = process
        until = time.monotonic() + START_TIMEOUT_S
        while process.returncode is None and time.monotonic() < until:
            with contextlib.suppress(OSError):
                # The websockets come last, and until then another broker could take their port unnoticed.
                for address, port in ((ADDRESS, self.port), (self.web_address, self.websockets)):
                    _, writer = await asyncio.open_connection(address, port)
                    writer.close()
                return
            await asyncio.sleep(0.02)
        complaint = ""
        if process.returncode is None:
            process.kill()
        else:
            complaint = await self._wait(process)
        raise BrokerError(f"the private broker does not start: {complaint or 'it takes no connections'}")

    def _configure(self) -> tuple[int, int]:
        """Write the configuration; return the ports in it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        port = self.port if _is_free(self.port) else _free_port()
        websockets = self.websockets if _is_free(self.websockets, self.web_address) else _free_port()
        # Started by root it would become the user `mosquitto`, to whom our directory is closed.
        user = "user root\n" if os.geteuid() == 0 else ""
        text = CONFIGURATION.format(
            port=port,
            address=ADDRESS,
            websockets=websockets,
            web_address=self.web_address,
            web_tls="" if self._tls is None else f"certfile {self._tls.cert_file}\nkeyfile {self._tls.key_file}\n",
            directory=self.directory.resolve(),
            user=user,
        )
        (self.directory / "mosquitto.conf").write_text(text)
        return port, websockets


def _ipv4(host: str) -> str:
    """The address for browsers; mosquitto's websockets serve one family, and a name is left to it."""
    if host == "::":
        return "0.0.0.0"
    return ADDRESS if ":" in host else host


def _is_free(port: int, address: str = ADDRESS) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port: int = probe.getsockname()[1]
    return port
