"""The terminal itself: a second screen that leaves the first as it was, and only what has changed is written."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Mapping

from gateway.config import MqttConfig
from gateway.mqtt_client import end
from gateway.terminal.listen import listen
from gateway.terminal.render import Frame, render
from gateway.terminal.text import Look
from gateway.terminal.view import Hall, Told

PAINT_S = 0.25
ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
LEAVE = "\x1b[?25h\x1b[?1049l"


def look(environment: Mapping[str, str], encoding: str) -> Look:
    """What this terminal can show. The console of a Pi without a desktop has no chessmen in its font."""
    unicode = encoding.lower().startswith("utf") and environment.get("TERM") != "linux"
    return Look("NO_COLOR" not in environment, unicode)


def is_screen(environment: Mapping[str, str]) -> bool:
    """Whether standard output can be drawn on."""
    return sys.stdout.isatty() and environment.get("TERM", "dumb") != "dumb"


async def show(source: MqttConfig, frame: Frame, stop: asyncio.Event, plain: bool, table: str | None = None) -> Hall:
    """Show what a subscriber to `source` receives until `stop` is set; return what was received.

    Args:
        source: the broker.
        frame: what the screen says of itself.
        stop: ends it; the key q sets it too.
        plain: a line for each event instead of a screen.
        table: the only one that is shown; None: all.
    """
    hall = Hall(source.root, time.time())
    listener = asyncio.create_task(listen(hall, source, _print if plain else lambda told: None, table))
    try:
        if plain:
            await _until(stop, listener, None)
        else:
            with _screen(stop):
                await _paint(hall, frame, stop, listener)
    finally:
        await end(listener)
    return hall


def _print(told: Told) -> None:
    moment = time.strftime("%H:%M:%S", time.localtime(told.time))
    mark = {"alert": "ALERT: ", "notice": "notice: "}.get(told.weight, "")
    print(f"{moment}  table {told.table}  {mark}{told.text}", flush=True)


async def _paint(hall: Hall, frame: Frame, stop: asyncio.Event, listener: asyncio.Task[None]) -> None:
    size, shown = (0, 0), []  # type: tuple[int, int], list[str]
    style = look(os.environ, sys.stdout.encoding)
    while not stop.is_set():
        hall.at = time.time()
        now = shutil.get_terminal_size()
        lines = render(hall, frame, now.columns, now.lines, style)
        if size != (now.columns, now.lines):
            size, shown = (now.columns, now.lines), [""] * now.lines
            sys.stdout.write("\x1b[2J")
        changed = [
            f"\x1b[{row};1H{new}" for row, (new, old) in enumerate(zip(lines, shown, strict=True), 1) if new != old
        ]
        sys.stdout.write("".join(changed))
        sys.stdout.flush()
        shown = lines
        await _until(stop, listener, PAINT_S)


async def _until(stop: asyncio.Event, listener: asyncio.Task[None], seconds: float | None) -> None:
    """Wait for the end or this long. Raises what has ended the listener, which is a bug."""
    waiting = asyncio.create_task(stop.wait())
    await asyncio.wait([waiting, listener], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if listener.done():
        listener.result()


@contextlib.contextmanager
def _screen(stop: asyncio.Event) -> Iterator[None]:
    """The second screen, without echo and cursor; the terminal is left as it was found."""
    sys.stdout.write(ENTER)
    with _keys(lambda: stop.set()):
        try:
            yield
        finally:
            sys.stdout.write(LEAVE)
            sys.stdout.flush()


@contextlib.contextmanager
def _keys(leave: Callable[[], None]) -> Iterator[None]:
    """Hear the key q while standard input is a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    loop = asyncio.get_running_loop()

    def heard() -> None:
        if b"q" in os.read(descriptor, 64):
            leave()

    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, heard)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
