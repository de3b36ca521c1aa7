"""The page's own server: a fixed table of files, and nothing else."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.config import WebConfig, WebTlsConfig
from gateway.webserver import ROOT, WebError, WebServer, export, files


@pytest.fixture
def server() -> Iterator[WebServer]:
    """On any free port."""
    server = WebServer(WebConfig("127.0.0.1:0", "wss://broker.hall.lan:9001"), "hall")
    server.start()
    yield server
    server.stop()


def ask(server: WebServer, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer, answer.read()


def test_every_file_has_its_type_and_the_policy(server: WebServer) -> None:
    """Modules are refused by browsers without a type; the policy is on each answer."""
    types = {
        "/": "text/html",
        "/main.js": "text/javascript",
        "/style.css": "text/css",
        "/vendor/pieces/wk.svg": "image/svg+xml",
    }
    for path, content_type in types.items():
        answer, body = ask(server, path)

        assert 200 == answer.status
        assert answer.headers["Content-Type"].startswith(content_type)
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert len(body) == int(answer.headers["Content-Length"])


@pytest.mark.parametrize(
    "path",
    ["/../webserver.py", "/%2e%2e/config.py", "//etc/passwd", "/vendor", "/vendor/", "/index.html/", "/..", "/x"],
)
def test_what_is_not_in_the_table_does_not_exist(server: WebServer, path: str) -> None:
    """No path is ever joined to a folder."""
    answer, _ = ask(server, path)

    assert 404 == answer.status


def test_a_page_that_is_known_is_not_sent_again(server: WebServer) -> None:
    """By its tag; and always asked for, so that nobody works with the page of yesterday."""
    first, _ = ask(server, "/main.js")
    again, body = ask(server, "/main.js", **{"If-None-Match": first.headers["ETag"]})

    assert "no-cache" == first.headers["Cache-Control"]
    assert (304, b"") == (again.status, body)


def test_it_is_packed_for_those_who_can_unpack(server: WebServer) -> None:
    """gzip, and the same inside."""
    plain, body = ask(server, "/style.css")
    packed, data = ask(server, "/style.css", **{"Accept-Encoding": "gzip, br"})

    assert "gzip" == packed.headers["Content-Encoding"] and plain.headers["Content-Encoding"] is None
    assert body == gzip.decompress(data)


def test_only_reading_is_possible(server: WebServer) -> None:
    """HEAD has no body; nothing can be sent."""
    head, body = ask(server, "/", "HEAD")
    post, _ = ask(server, "/", "POST")

    assert (200, b"") == (head.status, body)
    assert 501 == post.status


def test_the_settings_hold_no_secret(server: WebServer) -> None:
    """What the page must know, and nothing else."""
    _, body = ask(server, "/hall.json")

    known = {"root", "broker_url", "broker_port", "languages", "docs", "zone", "version"}

    assert known == json.loads(body).keys()
    assert "wss://broker.hall.lan:9001" == json.loads(body)["broker_url"]


def test_the_first_load_is_small() -> None:
    """All that a first visit fetches, packed: at most 200 kB."""
    first = [
        file.packed or file.body
        for name, file in files(WebConfig(docs=False), "hall").items()
        if name and not name.endswith((".md", "LICENSE")) and (not name.startswith("i18n/") or name == "i18n/en.json")
    ]

    assert sum(map(len, first)) < 200_000


def test_a_silent_client_stops_nobody(server: WebServer) -> None:
    """Somebody connects and says nothing."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))):
        answer, _ = ask(server, "/")

    assert 200 == answer.status


def test_a_port_that_is_taken_is_named(server: WebServer) -> None:
    """The mistake says which key."""
    with pytest.raises(WebError, match=r"\[web\] listen"):
        WebServer(WebConfig(server.url.removeprefix("http://")), "hall")


def test_tls(tmp_path: Path) -> None:
    """With a certificate the page comes by https."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    made = subprocess.run([*words.split(), "-keyout", str(key), "-out", str(cert)], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("openssl cannot make a certificate here")
    server = WebServer(WebConfig("127.0.0.1:0", None, WebTlsConfig(cert, key)), "hall")
    server.start()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection(server.url.removeprefix("https://"), timeout=5, context=context)
    connection.request("GET", "/")
    status = connection.getresponse().status
    connection.close()
    server.stop()

    assert server.url.startswith("https://")
    assert 200 == status


def test_a_missing_certificate_is_a_mistake(tmp_path: Path) -> None:
    """Said at the start, not at the first visit."""
    tls = WebTlsConfig(tmp_path / "none.pem", tmp_path / "none.key")

    with pytest.raises(WebError, match=r"\[web.tls\]"):
        WebServer(WebConfig("127.0.0.1:0", None, tls), "hall")


def test_the_folder_can_be_exported(tmp_path: Path) -> None:
    """The same files for another web server."""
    export(tmp_path, WebConfig(docs=False), "hall")
    exported = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}

    ours = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file()}

    assert exported == {name for name in ours if not name.startswith("docs/")} | {"hall.json"}


def test_the_handbook_is_served_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At /docs/, unless the configuration says no; the page links it only if it is there."""
    for name in ("index.html", "docs/index.html", "docs/pictures/wall.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    monkeypatch.setattr("gateway.webserver.ROOT", tmp_path)
    with_docs, without = files(WebConfig(), "hall"), files(WebConfig(docs=False), "hall")

    assert {"", "index.html", "hall.json", "docs/", "docs/index.html", "docs/pictures/wall.png"} == set(with_docs)
    assert {"", "index.html", "hall.json"} == set(without)
    assert [True, False] == [json.loads(table["hall.json"].body)["docs"] for table in (with_docs, without)]
    assert ("image/png", None) == (
        with_docs["docs/pictures/wall.png"].content_type,
        with_docs["docs/pictures/wall.png"].packed,
    )
