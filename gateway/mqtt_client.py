"""aiomqtt with the broker's answer to every publication, and what a connection needs from the disk.

`aiomqtt.Client.publish` takes a refusal for success and waits ten seconds for a broker that has died.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiomqtt
from paho.mqtt.client import Client as Paho
from paho.mqtt.client import ConnectFlags, DisconnectFlags
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from gateway.config import MqttConfig
from gateway.publish import Message

WINDOW = 100
"""Publications without an answer, where the broker takes so many; Mosquitto's own default is 20."""
REFUSED = 0x80
TOO_LARGE = 0x95
CHOKED = (0x82, TOO_LARGE)
"""How a connection ends for a packet: mosquitto answers what exceeds its `message_size_limit` against the protocol."""
PACKET_BYTES = 16
"""What a publication has beside topic, payload and properties, at most."""
LEAST_BYTES = 1024
"""No broker is thought to refuse packets for their size that are smaller."""
SESSION_TAKEN_OVER = 0x8E
CANCEL_AGAIN_S = 0.5

# Paho tells of every broken socket again ("Bad file descriptor"), after we have said it once in our own words.
_paho_log = logging.getLogger("gateway.paho")
_paho_log.addHandler(logging.NullHandler())
_paho_log.propagate = False

Answered = Callable[[int | None], None]
"""Takes the broker's reason code, or None if the connection was lost before it came."""


class ConfirmingClient(aiomqtt.Client):
    """One connection; of no use after it has ended."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Whoever offers keeps to `window`; Paho's own would look through all that is in flight at each answer.
        super().__init__(*args, logger=_paho_log, max_inflight_messages=0, **kwargs)
        self._answers: dict[int, Answered] = {}
        self._sizes: dict[int, int] = {}
        self._choked = False
        self.window = WINDOW
        self.largest: int | None = None
        """Bytes of a packet that the broker takes; None: it sets no bound."""
        self.taken_over = False

    def offer(self, message: Message, answered: Answered, properties: Properties | None = None) -> None:
        """Publish with QoS 1; `answered` is called exactly once. Raises `aiomqtt.MqttError` without a connection."""
        if self._disconnected.done():
            raise aiomqtt.MqttError("not connected")
        size = PACKET_BYTES + len(message.topic.encode()) + len(message.payload)
        if self.largest is not None and size > self.largest:
            # The broker would cut the connection, each time anew.
            self._loop.call_soon(answered, TOO_LARGE)
            return
        info = self._client.publish(message.topic, message.payload, 1, message.retain, properties)
        if info.rc:
            raise aiomqtt.MqttCodeError(info.rc, "could not publish")
        self._answers[info.mid] = answered
        self._sizes[info.mid] = size

    async def confirm(self, message: Message) -> int | None:
        """Publish and wait for the answer; None if the connection is lost before."""
        answer: asyncio.Future[int | None] = self._loop.create_future()
        self.offer(message, lambda code: None if answer.done() else answer.set_result(code))
        either: list[asyncio.Future[Any]] = [answer, self._disconnected]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None

    async def lost(self) -> str:
        """Wait until the connection is gone; return why."""
        await asyncio.wait([self._disconnected])
        error = self._disconnected.exception()
        return str(error) if error else "closed"

    @property
    def choked_on(self) -> int | None:
        """Bytes of the packet that the broker has cut the connection for, as it seems; None: it has not."""
        largest = max(self._sizes.values(), default=0)
        return largest if self._choked and largest > LEAST_BYTES else None

    def give_up(self) -> None:
        """End the connection from our side, without the broker publishing our Will."""
        self.taken_over = True
        self._client.disconnect()
        if not self._disconnected.done():
            self._disconnected.set_result(None)

    def abandon(self) -> None:
        """Close the socket whatever state it is in, and say to all who wait for an answer that none will come."""
        self._client._reset_sockets()
        if self._misc_task is not None:
            self._misc_task.cancel()
        if self._disconnected.done():
            self._disconnected.exception()
        answers, self._answers = self._answers, {}
        for answered in answers.values():
            answered(None)

    def _on_connect(
        self,
        client: Paho,
        userdata: Any,
        flags: ConnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if properties is not None:
            self.window = min(WINDOW, getattr(properties, "ReceiveMaximum", WINDOW))
            self.largest = getattr(properties, "MaximumPacketSize", None)
        super()._on_connect(client, userdata, flags, reason_code, properties)

    def _on_socket_register_write(self, client: Paho, userdata: Any, sock: Any) -> None:
        # Asked from another thread while connecting. When the loop comes to it the socket can be closed, and its
        # number be a board's.
        self._loop.call_soon_threadsafe(self._watch_for_room, client, sock)

    def _watch_for_room(self, client: Paho, sock: Any) -> None:
        if sock.fileno() >= 0:
            self._loop.add_writer(sock.fileno(), self._write, client)

    def _write(self, client: Paho) -> None:
        try:
            client.loop_write()
        except OSError as error:
            if not self._disconnected.done():
                self._disconnected.set_exception(error)

    def _on_publish(
        self, client: Paho, userdata: Any, mid: int, reason_code: ReasonCode, properties: Properties
    ) -> None:
        answered = self._answers.pop(mid, None)
        self._sizes.pop(mid, None)
        if answered is not None:
            answered(reason_code.value)

    def _on_disconnect(
        self,
        client: Paho,
        userdata: Any,
        flags: DisconnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        self.taken_over |= reason_code.value == SESSION_TAKEN_OVER
        self._choked |= reason_code.value in CHOKED
        super()._on_disconnect(client, userdata, flags, reason_code, properties)


def properties_of(packet: int, **values: Any) -> Properties:
    """MQTT 5 properties of a packet, by the names of the standard."""
    properties = Properties(packet)  # type: ignore[no-untyped-call]
    for name, value in values.items():
        setattr(properties, name, value)
    return properties


def password(config: MqttConfig) -> str | None:
    """The password from its file, or the credential `mqtt.password` of the unit; None without one."""
    path = config.password_file
    if path is None and config.username is not None and "CREDENTIALS_DIRECTORY" in os.environ:
        path = Path(os.environ["CREDENTIALS_DIRECTORY"], "mqtt.password")
        if not path.exists():
            return None
    return None if path is None else path.read_text().rstrip("\r\n")


def tls_context(config: MqttConfig) -> ssl.SSLContext | None:
    """What [mqtt.tls] asks for. Raises OSError (which ssl.SSLError is) if a file is missing or wrong."""
    if config.tls is None:
        return None
    context = ssl.create_default_context(cafile=config.tls.ca_file)
    if config.tls.cert_file is not None:
        context.load_cert_chain(config.tls.cert_file, config.tls.key_file)
    return context


async def end(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks that may hold a connection, and wait for their end, however they end.

    `asyncio.wait_for` of Python 3.11, which aiomqtt uses, loses a cancellation that comes together with its result.
    """
    alive = {task for task in tasks if not task.done()}
    while alive:
        for task in alive:
            task.cancel()
        _, alive = await asyncio.wait(alive, timeout=CANCEL_AGAIN_S)
