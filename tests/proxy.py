"""Between a gateway and its broker: a way that is slow, or that answers in the broker's place."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

PUBLISH, PUBACK = 0x30, 0x40
CHUNK = 512


@dataclass
class Way:
    """How the way is just now."""

    port: int = 0
    rate: float | None = None
    """Bytes a second towards the broker; None: as fast as it goes."""
    swallow: Callable[[str], bool] = lambda topic: False
    """Given a topic of a publication: whether it gets lost on the way."""
    swallowed: int = 0
    refuse: Callable[[str], int | None] = lambda topic: None
    """Given a topic of a publication: the code that it is answered with in the broker's place, or None."""
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def cut(self) -> None:
        """End all connections at once."""
        for writer in self.writers:
            writer.transport.abort()


@contextlib.asynccontextmanager
async def proxy(broker: int) -> AsyncIterator[Way]:
    """A port of this machine that leads to the broker's."""
    way = Way()

    async def there(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, back: asyncio.StreamWriter) -> None:
        while True:
            packet, topic, identifier = await _packet(reader)
            if topic is not None and way.swallow(topic):
                way.swallowed += 1
                continue
            code = None if topic is None else way.refuse(topic)
            if code is not None:
                back.write(bytes((PUBACK, 3)) + identifier + bytes((code,)))
                continue
            for start in range(0, len(packet), CHUNK):
                writer.write(packet[start : start + CHUNK])
                await writer.drain()
                if way.rate is not None:
                    await asyncio.sleep(len(packet[start : start + CHUNK]) / way.rate)

    async def back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", broker)
            way.writers += [writer, far_writer]
            ways = [there(reader, far_writer, writer), back(far_reader, writer)]
            _, running = await asyncio.wait(map(asyncio.ensure_future, ways), return_when=asyncio.FIRST_COMPLETED)
            for task in running:
                task.cancel()
            far_writer.close()
        writer.close()

    # A small buffer, or the kernel would take a whole backlog at once.
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=CHUNK)
    way.port = server.sockets[0].getsockname()[1]
    try:
        yield way
    finally:
        server.close()


async def _packet(reader: asyncio.StreamReader) -> tuple[bytes, str | None, bytes]:
    """The next packet; of a publication with QoS 1 also its topic and identifier."""
    head = await reader.readexactly(1)
    size = shift = 0
    while True:
        head += await reader.readexactly(1)
        size |= (head[-1] & 0x7F) << shift
        shift += 7
        if head[-1] < 0x80:
            break
    body = await reader.readexactly(size)
    if head[0] & 0xF0 != PUBLISH or not head[0] & 0x06:
        return head + body, None, b""
    end = 2 + int.from_bytes(body[:2])
    return head + body, body[2:end].decode(), body[end : end + 2]
