"""The arbiter's page over HTTP: a fixed table of files, read at the start, in a thread of its own.

No path is ever joined to a folder: what is not in the table does not exist. The page talks to the broker by itself, so
nothing of the hall passes through here, and a server that is gone takes no open page with it.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import http.server
import json
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path

import structlog

from gateway import __version__
from gateway.broker import WEBSOCKETS_PORT
from gateway.config import WebConfig
from gateway.errors import GatewayError

ROOT = Path(__file__).with_name("web")
SETTINGS = "hall.json"
INDEX = "index.html"
HANDBOOK = "docs/"
"""Made by `scripts/handbook` when a package is built; a checkout has none."""
AGAIN_S = 10.0

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".md": "text/plain; charset=utf-8",
}
PLAIN = "text/plain; charset=utf-8"

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; object-src 'none'; base-uri 'none';"
        " form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # Asked again each time, and answered with 304: a page of yesterday must not judge games of today.
    "Cache-Control": "no-cache",
}

log = structlog.get_logger("web")


class WebError(GatewayError):
    """The page cannot be served."""


@dataclass(frozen=True, slots=True)
class File:
    """One file as it is sent."""

    body: bytes
    packed: bytes | None
    """By gzip; None where that gains nothing."""
    content_type: str
    tag: str


def files(config: WebConfig, root: str, broker_port: int = WEBSOCKETS_PORT) -> dict[str, File]:
    """Every file of the page by its path, and the hall's settings.

    Args:
        config: how it is served.
        root: what all topics begin with.
        broker_port: where the page looks beside itself if the configuration names no broker.
    """
    paths = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*")) if path.is_file()}
    if not config.docs:
        paths = {name: path for name, path in paths.items() if not name.startswith(HANDBOOK)}
    table = {name: _file(name, path.read_bytes()) for name, path in paths.items()}
    table[SETTINGS] = _file(SETTINGS, _settings(config, root, broker_port, f"{HANDBOOK}{INDEX}" in table))
    for folder in ("", HANDBOOK):
        if folder + INDEX in table:
            table[folder] = table[folder + INDEX]
    return table


def _file(name: str, body: bytes) -> File:
    tag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    suffix = Path(name).suffix
    # A picture is packed already: the same bytes are kept once.
    packed = None if suffix == ".png" else gzip.compress(body, mtime=0)
    return File(body, packed, CONTENT_TYPES.get(suffix, PLAIN), tag)


def _settings(config: WebConfig, root: str, broker_port: int, docs: bool) -> bytes:
    """What the page must know of the hall. Never a credential: everybody on the network can read it."""
    values = {
        "root": root,
        "broker_url": config.broker_url,
        "broker_port": broker_port,
        "languages": config.languages,
        "docs": docs,
        "zone": _zone(),
        "version": __version__,
    }
    return json.dumps(values).encode()


def _zone() -> str | None:
    """The hall's time zone by its name; None where the system does not tell it."""
    target = Path("/etc/localtime").resolve().as_posix()
    _, found, name = target.partition("/zoneinfo/")
    return name if found else None


def export(directory: Path, config: WebConfig, root: str) -> int:
    """Write the same folder for another web server; return how many files it has."""
    table = {name: file for name, file in files(config, root).items() if name and not name.endswith("/")}
    for name, file in table.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.body)
    return len(table)


class WebServer:
    """Serves the page until it is stopped."""

    def __init__(self, config: WebConfig, root: str, broker_port: int = WEBSOCKETS_PORT) -> None:
        """`broker_port` is where the page looks beside itself if the configuration names no broker.

        Raises:
            WebError: the address cannot be had, or a file of [web.tls] cannot be used.
        """
        self.broker_port = broker_port
        self._server = _Server(config, files(config, root, broker_port))
        self._thread = threading.Thread(target=self._server.serve_forever, name="web", daemon=True)
        host, port = config.address
        name = f"[{host}]" if ":" in host else host
        self.url = f"{'https' if config.tls else 'http'}://{name}:{port or self._server.server_address[1]}"

    def start(self) -> None:
        """Serve from now on."""
        self._thread.start()
        log.info("the page is served", url=self.url)

    def stop(self) -> None:
        """Take no more requests; open pages go on by themselves."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=2)


class PageKeeper:
    """Serves the page for as long as `run` runs.

    An address that cannot be had (yet: at boot the network may come later) is said and tried again; no board waits
    for it.
    """

    def __init__(self, config: WebConfig, root: str, broker_port: int = WEBSOCKETS_PORT) -> None:
        self.trouble: str | None = None
        """Why the page is not served."""
        self._make = partial(WebServer, config, root, broker_port)

    async def run(self) -> None:
        """Serve until cancelled."""
        server = await self._server()
        try:
            server.start()
            await asyncio.get_running_loop().create_future()
        finally:
            await asyncio.to_thread(server.stop)

    async def _server(self) -> WebServer:
        while True:
            try:
                server = await asyncio.to_thread(self._make)
            except WebError as error:
                if str(error) != self.trouble:
                    log.error("the page is not served", why=str(error))
                self.trouble = str(error)
                await asyncio.sleep(AGAIN_S)
            else:
                self.trouble = None
                return server


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, config: WebConfig, table: Mapping[str, File]) -> None:
        self.table = table
        host, port = config.address
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._tls: ssl.SSLContext | None = None
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise WebError(f"[web] listen = {config.listen!r}: {error.strerror}") from error
        if config.tls is not None:
            try:
                self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                self._tls.load_cert_chain(config.tls.cert_file, config.tls.key_file)
            except OSError as error:
                self.server_close()
                raise WebError(f"[web.tls] {config.tls.cert_file}: {error}") from error

    def finish_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        """Shake hands in the request's own thread, so that a client that says nothing stops nobody."""
        request.settimeout(_Handler.timeout)
        if self._tls is None:
            super().finish_request(request, client_address)
            return
        with self._tls.wrap_socket(request, server_side=True) as secure:
            super().finish_request(secure, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away or talks nonsense is no event."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "board-gateway"
    sys_version = ""
    timeout = 15

    def do_GET(self) -> None:
        """Send a file."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Send its headers."""
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0].removeprefix("/")
        file = self.server.table.get(path)
        if file is None:
            self._send(HTTPStatus.NOT_FOUND, {"Content-Type": PLAIN}, b"Not here.\n", body)
            return
        headers = {"Content-Type": file.content_type, "ETag": file.tag, "Vary": "Accept-Encoding"}
        if self.headers.get("If-None-Match") == file.tag:
            self._send(HTTPStatus.NOT_MODIFIED, headers, b"", False)
        elif file.packed is not None and "gzip" in self.headers.get("Accept-Encoding", ""):
            self._send(HTTPStatus.OK, headers | {"Content-Encoding": "gzip"}, file.packed, body)
        else:
            self._send(HTTPStatus.OK, headers, file.body, body)

    def _send(self, status: HTTPStatus, headers: Mapping[str, str], data: bytes, body: bool) -> None:
        self.send_response(status)
        for name, value in (HEADERS | dict(headers)).items():
            self.send_header(name, value)
        if status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Requests are nobody's business."""
