"""Keeps one port open and its link fed, whatever happens to the cable. Knows neither the kind of port nor frames.

Opened, lost, another device, no answer, not there: all end in the same loop, which looks for the device again after a
pause that grows. The link says what that means to its tables; here is one log line per change of state.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Literal

import structlog

from gateway.drivers import Hear, Lost, Port
from gateway.errors import LinkError
from gateway.events import LinkState
from gateway.link import Link, Told

REOPEN_S = (0.25, 5.0)

log = structlog.get_logger("port")

Make = Callable[[str, Hear, Lost], Port]
Targets = Callable[[], list[str]]
Tell = Callable[[list[Told], float], None]
Note = Callable[[Literal["rx", "tx"], bytes, str | None, float], None]
"""For the capture: bytes that came or went."""


class Keeper:
    """One port of the configuration."""

    def __init__(self, name: str, link: Link, targets: Targets, make: Make, tell: Tell, note: Note) -> None:
        """`targets` says where the device may be now; `make` makes the port of such a name."""
        self.name = name
        self.link = link
        self._targets = targets
        self._make = make
        self._tell = tell
        self._note = note
        self._loop = asyncio.get_running_loop()
        self._port: Port | None = None
        self._done = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._bug: Exception | None = None
        self._why: str | None = None
        self._latest = float("-inf")
        self._said: set[str] = set()
        self._turn = 0
        self.up = False
        """Whether a device answers now."""
        self._answered = False

    async def run(self) -> None:
        """Serve until cancelled. Raises what went wrong in the link, which is a bug."""
        shortest, longest = REOPEN_S
        backoff = shortest
        try:
            while True:
                self._answered = False
                await self._once()
                backoff = shortest if self._answered else min(backoff * 2, longest)
                # Jitter, so that tables that look for their boards on the same ports do not meet on each.
                await asyncio.sleep(backoff * random.uniform(0.6, 1.0))
        finally:
            await self._close()
            self._tell(self.link.closed(self._loop.time(), "the gateway has stopped serving it"), self._loop.time())

    async def _once(self) -> None:
        """Open where the device may be, and stay as long as it is there."""
        targets = self._targets()
        if not targets:
            self._gone(f"{self.name} is not there")
            return
        target = targets[self._turn % len(targets)]
        self._why = None
        self._done.clear()
        port = self._make(target, self._hear, self._lose)
        try:
            await port.open()
        except LinkError as error:
            self._turn += 1
            self._gone(str(error))
            return
        self._port = port
        self.link.opened(self._loop.time())
        try:
            await self._attend()
        finally:
            await self._close()
        if self.link.wrong_device:
            self._turn += 1
        # What the link has said itself (another board, no answer) stands.
        self._gone(self._why)

    async def _attend(self) -> None:
        """Stay until the port is of no more use. Raises what went wrong in the link, if that is the reason."""
        self._guarded(self._send)
        await self._done.wait()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._bug is not None:
            raise self._bug

    def _hear(self, data: bytes, at: float, channel: str | None) -> None:
        # What was read late may have come before a timer that has rung since.
        self._latest = max(self._latest, at)
        self._guarded(lambda: self._receive(data, self._latest, channel))

    def _receive(self, data: bytes, at: float, channel: str | None) -> None:
        told = self.link.receive(data, at, channel)
        # A capture has the states before the bytes that led to them: see `Link.receive`.
        self._heard([each for each in told if isinstance(each[1], LinkState)], at)
        self._note("rx", data, channel, at)
        self._heard([each for each in told if not isinstance(each[1], LinkState)], at)
        self._send()

    def _ring(self) -> None:
        self._timer = None
        # In the pass after the next: if we have been stopped meanwhile, what has come is read before.
        self._loop.call_soon(self._loop.call_soon, self._guarded, self._tick)

    def _tick(self) -> None:
        now = self._loop.time()
        if self._port is None:
            return
        self._latest = now
        deadline = self.link.deadline
        # The timer may have been set for a deadline that has moved since.
        if deadline is not None and deadline <= now:
            self._heard(self.link.tick(now), now)
        self._send()

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do a step of the link. A bug in it ends this port's loop, where it is dealt with, and nobody else's."""
        try:
            work()
        except Exception as bug:
            self._bug = bug
            self._done.set()

    def _send(self) -> None:
        for data, channel in self.link.outgoing():
            if self._port is not None:
                self._note("tx", data, channel, self._loop.time())
                self._port.write(data, channel)
        if self.link.failed or self.link.wrong_device:
            self._done.set()
            return
        deadline = self.link.deadline
        if deadline is not None and (self._timer is None or deadline < self._timer.when()):
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(deadline, self._ring)

    def _heard(self, told: list[Told], at: float) -> None:
        for _, said in told:
            if isinstance(said, LinkState):
                self._say(said)
        if told:
            self._tell(told, at)

    def _lose(self, why: str) -> None:
        self._why = why
        self._done.set()

    def _gone(self, why: str | None) -> None:
        now = self._loop.time()
        told = self.link.closed(now, why)
        if why is not None and not told:
            self._say(LinkState(self.link.entry.device, False, why))
        self._heard(told, now)

    def _say(self, state: LinkState) -> None:
        self.up = state.up
        if state.up:
            self._answered = True
            self._said.clear()
            log.info("answers", port=self.name, device=state.device)
        elif (detail := state.detail or "closed") not in self._said:
            self._said.add(detail)
            log.warning("no device", port=self.name, device=state.device, why=detail)

    async def _close(self) -> None:
        port, self._port = self._port, None
        if port is not None:
            await port.close()
