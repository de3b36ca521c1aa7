"""What the tests of the page share: a broker with websockets, the page's server, and headless Chromium before it all.

Chromium is Debian's and is driven by playwright; where one of them is missing the tests are skipped, and say why.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from brokers import Mosquitto, free_port
from playing import Hall, Seat

from gateway.config import WebConfig
from gateway.publish import rfc3339
from gateway.webserver import WebServer

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (dependency group dev)")

PHONE = {"width": 390, "height": 844}
WALL = {"width": 1920, "height": 1080}
WAIT_MS = 8000
# Root has no sandbox, and containers have too little shared memory for the browser.
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"]

# Counts oscillators instead of making a noise, and keeps what the policy refused.
SPY = """
window.tones = 0;
window.refused = [];
addEventListener('securitypolicyviolation', (event) =>
  window.refused.push(event.violatedDirective + ' ' + event.blockedURI));
window.AudioContext = class {
  state = 'running'; currentTime = 0; destination = {};
  resume() {}
  createOscillator() { window.tones++; return { frequency: {}, connect: (next) => next, start() {}, stop() {} }; }
  createGain() {
    return { gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect: (next) => next };
  }
};
"""


def chromium() -> str:
    """Where Debian's Chromium is."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a module, which must not be asynchronous: playwright runs a loop of its own."""
    path = chromium()
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@contextlib.contextmanager
def serving() -> Iterator[WebServer]:
    """The page, which says that the broker is on a port that nobody has yet."""
    server = WebServer(WebConfig(listen="127.0.0.1:0"), "hall", free_port())
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    """One for the tests of a module; every stage has its own broker behind it."""
    with serving() as server:
        yield server


class Stage:
    """A broker, the page's server, and what is opened before them."""

    def __init__(self, directory: Path, browser: Any, server: WebServer) -> None:
        self.browser = browser
        self.server = server
        self.broker = Mosquitto(directory)
        self.websockets = server.broker_port
        self.broker.extra = self.configuration("allow_anonymous true\n")
        self.broker.start()
        self.halls: list[Hall] = []
        self.contexts: list[Any] = []
        self.errors: list[str] = []
        self.hosts: set[str] = set()

    def configuration(self, rights: str) -> str:
        return (
            "per_listener_settings false\n"
            f"{rights}listener {self.websockets} 127.0.0.1\nprotocol websockets\nsocket_domain ipv4\n"
        )

    def hall(self, seats: list[Seat] | None = None, gateway: str = "pi-a") -> Hall:
        """A gateway with these tables, playing."""
        hall = Hall(self.broker.port, seats or [], gateway)
        hall.open()
        self.halls.append(hall)
        return hall

    def page(self, route: str = "", size: dict[str, int] | None = None, **options: Any) -> Any:
        """The page, not logged in yet."""
        context = self.browser.new_context(viewport=size or PHONE, **options)
        context.add_init_script(SPY)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2].split(":")[0]))
        page.goto(f"{self.server.url}/{route}")
        return page

    def opened(self, route: str = "", size: dict[str, int] | None = None, **options: Any) -> Any:
        """The page, logged in and live."""
        page = self.page(route, size, **options)
        log_in(page)
        page.locator(".fresh").wait_for()
        return page

    def freeze(self) -> None:
        """The broker answers nobody, and says nothing."""
        self.broker._process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr]

    def thaw(self) -> None:
        self.broker._process.send_signal(signal.SIGCONT)  # type: ignore[union-attr]

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        self.thaw_if_frozen()
        for hall in self.halls:
            hall.leave()
        self.broker.kill()

    def thaw_if_frozen(self) -> None:
        if self.broker._process is not None:
            self.thaw()


@pytest.fixture
def stage(tmp_path: Path, browser: Any, server: WebServer) -> Iterator[Stage]:
    """An empty hall; after the test nothing must have gone wrong in the page itself."""
    stage = Stage(tmp_path, browser, server)
    yield stage
    stage.close()

    # A broker that is gone is part of the tests; Chromium writes it to the console all the same.
    assert [] == [error for error in stage.errors if "WebSocket" not in error and "net::ERR" not in error]
    assert {"127.0.0.1"} >= stage.hosts


def log_in(page: Any, user: str = "", password: str = "") -> None:
    """As an arbiter with the initials AB."""
    page.locator("input[name=initials]").fill("AB")
    page.locator("input[name=user]").fill(user)
    page.locator("input[name=password]").fill(password)
    page.locator("form.login button.strong").click()


def until(condition: Callable[[], Any], page: Any, timeout_s: float = 8.0) -> None:
    """Wait until `condition()` holds, letting the page work meanwhile."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"not in {timeout_s} s"
        page.wait_for_timeout(50)


# --- messages made by hand, for what no board could be made to say in time ----------------------------------------


def stamp(ago_s: float = 0.0) -> str:
    return rfc3339(time.time() - ago_s)


def alert(
    table: str, number: int, irregularity: str = "illegal_move", severity: str = "alert", **keys: Any
) -> dict[str, Any]:
    """One item of the `alerts` topic."""
    return {
        "alert_id": f"pi-a.{table}.a{number}",
        "irregularity": irregularity,
        "severity": severity,
        "side": "white",
        "ply": 1,
        "since": stamp(),
        "articles": ["FIDE 2023 7.5.1"],
        "message": f"Table {table}: White made an illegal move, Kh3, and completed it.",
        "evidence": {"squares": ["h3"]},
        **keys,
    }


def say_table(hall: Hall, table: str, running: str = "white", white: float = 600.0, **link: Any) -> None:
    """A table as a gateway would tell of it, all of it retained."""
    hall.say(
        f"table/{table}/link",
        {
            "v": 1,
            "time": stamp(),
            "board": "up",
            "clock": "up",
            "gateway": "pi-a",
            "driver": "dgt",
            "serial": None,
            "battery": None,
            "last_frame": stamp(),
            "since": stamp(60),
            "detail": None,
            **link,
        },
    )
    fen = "4r1k1/5ppp/8/8/8/6K1/5PPP/8 b - - 0 24"
    hall.say(f"table/{table}/position", {"v": 1, "time": stamp(), "fen": fen, "turn": "black", "orientation": "normal"})
    hall.say(
        f"table/{table}/game",
        {
            "v": 1,
            "time": stamp(),
            "game_id": f"{table}-20260501T100000Z",
            "game": "chess",
            "phase": "play",
            "regulations": "fide-blitz",
            "time_control": "180+2",
            "white": "Okafor",
            "black": "Visser",
            "event": None,
            "round": "3",
            "start_fen": fen,
            "orientation": "normal",
            "moves": [],
            "result": None,
            "reason": None,
        },
    )
    say_clock(hall, table, running, white)
    say_alerts(hall, table)


def say_clock(hall: Hall, table: str, running: str = "white", white: float = 600.0, ago_s: float = 0.0) -> None:
    payload = {"v": 1, "time": stamp(ago_s), "white": white, "black": 600, "running": running, "flags": []}
    hall.say(f"table/{table}/clock", {**payload, "lever": None, "battery_low": False})


def say_alerts(hall: Hall, table: str, *alerts: dict[str, Any]) -> None:
    hall.say(f"arbiter/{table}/alerts", {"v": 1, "time": stamp(), "alerts": list(alerts)})
