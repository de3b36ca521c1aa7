"""How tables share the one thread, and since when nobody has listened.

A game is sometimes hard to read, and plies of which many are read at one time are the hardest. So a table works for a
moment, then ports and broker have their turn, then the next table. If one worked to its end, all others would be read
late, many plies at one time, and so the next ones, for ever.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

SLICE_S = 0.02
"""How long tables work between two looks at the ports; what cannot be divided takes longer."""
PULSE_S = 0.1

Work = Callable[[], bool]
"""Does a little; returns whether there is more to do."""


class Turns:
    """Of one gateway, in the event loop's thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Work] = deque()
        self._soon = False
        self._listened_at = self._loop.time()

    def ask(self, work: Work) -> None:
        """Be called soon, and again as long as there is more to do."""
        self._waiting.append(work)
        if not self._soon:
            self._soon = True
            self._loop.call_soon(self._work)

    def listened_at(self) -> float:
        """What is read now cannot have been read before, by the event loop's clock; exact to `PULSE_S`."""
        return self._listened_at

    async def listen(self) -> None:
        """Keep `listened_at`, for ever."""
        while True:
            at = self._loop.time()
            # We may have been stopped since the loop last looked at the ports. It does so now, and what it finds then
            # is read before the second pass.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self._listened_at = at
            await asyncio.sleep(PULSE_S)

    def _work(self) -> None:
        until = time.monotonic() + SLICE_S
        while self._waiting and time.monotonic() < until:
            work = self._waiting.popleft()
            if work():
                self._waiting.append(work)
        self._soon = bool(self._waiting)
        if self._soon:
            self._loop.call_soon(self._work)
