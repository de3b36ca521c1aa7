"""The same files over plain HTTP, for programs that fetch an address: GET and HEAD, with ETag, nothing cached.

Answers come from a table of texts in memory; no path is ever joined to a folder. Without `[feed] listen` there is none.
"""

from __future__ import annotations

import hashlib
import html
import http.server
import socket
import threading
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import unquote

import structlog

from gateway.errors import GatewayError

CONTENT_TYPES = {"pgn": "application/x-chess-pgn; charset=utf-8", "pdn": "text/plain; charset=utf-8"}
PLAIN = "text/plain; charset=utf-8"
PAGE = "text/html; charset=utf-8"

HEADERS = {
    "Cache-Control": "no-cache",
    # The games are for everybody, also for a page of another host.
    "Access-Control-Allow-Origin": "*",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
}

log = structlog.get_logger("feed.http")


class ServerError(GatewayError):
    """The files cannot be served."""


class FeedServer:
    """Serves texts until it is stopped."""

    def __init__(self, address: tuple[str, int]) -> None:
        """Raises `ServerError` if the address cannot be used."""
        try:
            self._server = _Server(address)
        except OSError as error:
            raise ServerError(f"[feed] listen: {address[0]}:{address[1]}: {error.strerror}") from error
        self.show({})
        self._thread = threading.Thread(target=self._server.serve_forever, name="feed-http", daemon=True)
        host, port = self._server.server_address[:2]
        name = host.decode() if isinstance(host, bytes | bytearray) else str(host)
        self.url = f"http://{f'[{name}]' if ':' in name else name}:{port}/"

    def start(self) -> None:
        """Serve from now on."""
        self._thread.start()
        log.info("the files are served", url=self.url)

    def show(self, texts: Mapping[str, str]) -> None:
        """These are the files now."""
        index = "".join(f'<li><a href="/{path}">{html.escape(path)}</a></li>\n' for path in sorted(texts))
        page = f"<!doctype html><meta charset=utf-8><title>Games</title>\n<ul>\n{index}</ul>\n"
        # Replaced as a whole: a request sees the old table or the new one.
        self._server.table = {"": (PAGE, page.encode())} | {
            path: (CONTENT_TYPES[path.rpartition(".")[2]], text.encode()) for path, text in texts.items()
        }

    def stop(self) -> None:
        """Take no more requests."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=2)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int]) -> None:
        self.table: Mapping[str, tuple[str, bytes]] = {}
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away or talks nonsense is no event."""
        log.debug("a request was not answered", client=str(client_address), exc_info=True)


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
        path = unquote(self.path.partition("?")[0]).removeprefix("/")
        content_type, data = self.server.table.get(path, (PLAIN, b""))
        if path not in self.server.table:
            self._send(HTTPStatus.NOT_FOUND, {"Content-Type": PLAIN}, b"Not here.\n", body)
            return
        tag = f'"{hashlib.sha256(data).hexdigest()[:20]}"'
        headers = {"Content-Type": content_type, "ETag": tag}
        asked = [part.strip().removeprefix("W/") for part in self.headers.get("If-None-Match", "").split(",")]
        if tag in asked or "*" in asked:
            self._send(HTTPStatus.NOT_MODIFIED, headers, b"", False)
        else:
            self._send(HTTPStatus.OK, headers, data, body)

    def _send(self, status: HTTPStatus, headers: Mapping[str, str], data: bytes, body: bool) -> None:
        self.send_response(status)
        for name, value in (HEADERS | dict(headers)).items():
            self.send_header(name, value)
        if status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Requests are told on request only."""
        log.debug("request", client=self.client_address[0], line=format % args)
