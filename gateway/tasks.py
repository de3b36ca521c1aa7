"""The end of asyncio tasks, whatever they hang on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any

CANCEL_AGAIN_S = 0.2


async def ended(tasks: Iterable[asyncio.Task[Any]], timeout_s: float) -> set[asyncio.Task[Any]]:
    """Cancel tasks, and wait for their end; return those that have not ended in this time.

    More than once: `asyncio.wait_for` of Python 3.11, which aiomqtt uses, loses a cancellation that comes together with
    its result.
    """
    tasks = set(tasks)
    running, until = {task for task in tasks if not task.done()}, time.monotonic() + timeout_s
    while running and time.monotonic() < until:
        for task in running:
            task.cancel()
        running = (await asyncio.wait(running, timeout=CANCEL_AGAIN_S))[1]
    for task in tasks - running:
        if not task.cancelled():
            # Taken note of, or asyncio would complain that nobody has.
            task.exception()
    return running
