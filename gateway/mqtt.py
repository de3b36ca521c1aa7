"""The broker connection, and only that: MQTT 5, every publication confirmed, everything in order after each connect.

On each connect: status, retained state from memory, then events as the outbox has them. Nothing that a subscriber
relies on is forgotten because of the broker: a refused or unanswered event stays in the outbox, retained state stays
in memory, and the connection is tried again for ever, with one log line per change of state.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

import aiomqtt
import msgspec
import structlog
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from gateway.config import MqttConfig
from gateway.journal import Journal, JournalError
from gateway.mqtt_client import REFUSED, TOO_LARGE, WINDOW, ConfirmingClient, password, properties_of, tls_context
from gateway.outbox import Outbox
from gateway.publish import Message
from gateway.store import Entry, Lane
from gateway.tasks import ended

KEEPALIVE_S = 10
CONNECT_TIMEOUT_S = 5.0
SESSION_EXPIRY_S = 3600
RECONNECT_S = (0.5, 5.0)
TAKEN_OVER_S = (30.0, 120.0)
SUSPICION_S = 1.0
"""How long another gateway with our id has to say that it is there."""
LEAVE_S = 1.0
TASKS_END_S = 2.0
REFUSED_RETAINED_S = 30.0
BOUND_S = 600.0
"""How long packets as large as one that ended a connection are held back."""
READ_AGAIN_S = 2.0
OVERDUE_S = 0.5
"""How long retained state lets events go first."""
FROM_BEFORE = 0.0
"""Since when state is not at the broker that a new connection begins with: all of it goes before any event."""
COMMAND_BYTES = 64 * 1024
COMMANDS_PER_S = 5.0
COMMANDS_BURST = 20.0

log = structlog.get_logger("mqtt")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A command as it came over the wire."""

    table: str
    payload: bytes
    response_topic: str | None
    correlation: bytes | None


class _Bucket:
    """Lets through a burst, then a steady rate."""

    def __init__(self) -> None:
        self._left = COMMANDS_BURST
        self._at = 0.0

    def take(self, at: float) -> bool:
        self._left = min(COMMANDS_BURST, self._left + (at - self._at) * COMMANDS_PER_S)
        self._at = at
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Connection:
    """The gateway's one connection to the broker."""

    def __init__(
        self,
        config: MqttConfig,
        gateway: str,
        journal: Journal,
        *,
        online: Message,
        offline: Message,
        on_command: Callable[[Incoming], None],
    ) -> None:
        """`online` and `offline` are the two publications of the gateway's status; `offline` is also the Will."""
        self.config = config
        self.connected = False
        self.trouble: str | None = "not connected yet"
        """Why nothing, or not everything, is published now; None: all is well."""
        self.refused = 0
        self.connects = 0
        self.commands_dropped = 0
        # A name for this process: sharing one, two gateways would push each other out without ever hearing why.
        self._identifier = f"board-gateway-{gateway}-{secrets.token_hex(4)}"
        self._journal = journal
        self._outbox = Outbox(journal.lanes())
        self._online = online
        self._offline = offline
        self._on_command = on_command
        self._tables: set[str] = set()
        self._buckets: dict[str, _Bucket] = {}
        self._client: ConfirmingClient | None = None
        self._inflight = 0
        self._retained: dict[str, Message] = {}
        self._dirty: dict[str, float] = {}
        """Topics whose state the broker does not have, oldest first, and since when."""
        # A reply that is lost with the connection is not repeated: the sender repeats the command's id instead.
        self._replies: deque[tuple[Message, bytes | None]] = deque(maxlen=1000)
        self._again: deque[Entry] = deque()
        self._again_low = asyncio.Event()
        self._reads: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._settled = asyncio.Event()
        """Set when nothing is in flight and nothing could be offered."""
        self._said: set[str] = set()
        self._suspicion = False
        self._event_next = False
        """An event goes before the next state, though that is overdue."""
        self._bound: int | None = None
        """Bytes of a packet, learned from what the broker has cut a connection for."""
        self._bound_until = 0.0

    # --- what the daemon hands over --------------------------------------------------------------------------------

    @property
    def backlog(self) -> int:
        """Events that the broker has not acknowledged."""
        return self._outbox.backlog

    def offer(self, entries: Iterable[Entry]) -> None:
        """Publish events that are in the journal."""
        self._outbox.add(entries)
        self._pump()

    def retain(self, messages: Iterable[Message]) -> None:
        """Publish retained state, now and after each connect; of several states of one topic only the last matters."""
        for message in messages:
            self._retained[message.topic] = message
            self._dirty.setdefault(message.topic, time.monotonic())
        self._pump()

    def reply(self, message: Message, correlation: bytes | None = None) -> None:
        """Publish the answer to a command."""
        self._replies.append((message, correlation))
        self._pump()

    async def resend(self, lane: Lane, first: int, last: int) -> None:
        """Offer journalled events again, unchanged, behind what is new."""
        while first <= last:
            entries = await self._journal.read(lane, first, last)
            if not entries:
                return
            self._again.extend(entries)
            first = entries[-1].seq + 1
            self._pump()
            self._again_low.clear()
            if len(self._again) > WINDOW:
                await self._again_low.wait()

    def serve(self, tables: Iterable[str]) -> None:
        """Take commands for these tables, and forget the state of all others."""
        self._tables = set(tables)
        self._buckets = {table: self._buckets.get(table, _Bucket()) for table in self._tables}
        own = (
            f"{self.config.root}/gateway/",
            *(f"{self.config.root}/{a}/{t}/" for a in ("table", "arbiter") for t in self._tables),
        )
        for topic in [topic for topic in self._retained if not topic.startswith(own)]:
            del self._retained[topic]
            self._dirty.pop(topic, None)
        if self._client is not None and self.connected:
            self._spawn(self._subscribe_anew(self._client))

    # --- the connection --------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Keep a connection until `stop`."""
        backoff = RECONNECT_S[0]
        while not self._stopping.is_set():
            began = time.monotonic()
            why, taken_over = await self._session()
            if self._stopping.is_set():
                return
            self._say_gone(why, taken_over)
            if time.monotonic() - began > RECONNECT_S[1]:
                backoff = RECONNECT_S[0]
            shortest, longest = TAKEN_OVER_S if taken_over else RECONNECT_S
            backoff = min(max(backoff * 2, shortest), longest)
            with contextlib.suppress(TimeoutError):
                # Jitter, so that forty gateways do not come back to a restarted broker in one moment.
                await asyncio.wait_for(self._stopping.wait(), backoff * random.uniform(0.5, 1.0))

    async def stop(self, timeout_s: float) -> None:
        """Publish what waits, as far as the time allows; then `run` says offline, disconnects and returns."""
        if self._client is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._drained()
        self._stopping.set()

    async def _drained(self) -> None:
        """Wait until the broker has answered everything."""
        while True:
            self._settled.clear()
            self._pump()
            await self._settled.wait()
            if self.backlog == 0:
                return
            # What is left is being read, or waits for a pause to be over.
            await asyncio.sleep(0.05)

    async def _session(self) -> tuple[str, bool]:
        """One connection from beginning to end; return why it ended, and whether somebody took it over."""
        client: ConfirmingClient | None = None
        try:
            client = await self._connect()
            await self._serve(client)
            why = "closed"
        except (aiomqtt.MqttError, OSError) as error:
            why = str(error)
        finally:
            self._client = None
            self.connected = False
            if client is not None:
                self._learn_bound(client)
                client.abandon()
            self._inflight = 0
            self._outbox.lost()
        return why, client is not None and client.taken_over

    def _learn_bound(self, client: ConfirmingClient) -> None:
        """One packet that the broker chokes on must not keep us out for ever: such sizes are held back for a while."""
        if client.choked_on is not None:
            self._bound, self._bound_until = client.choked_on - 1, time.monotonic() + BOUND_S
            log.error("the broker cuts the connection for a packet; such are held back", bytes=client.choked_on)

    async def _connect(self) -> ConfirmingClient:
        config = self.config
        properties = properties_of(
            PacketTypes.CONNECT, SessionExpiryInterval=SESSION_EXPIRY_S, MaximumPacketSize=2 * COMMAND_BYTES
        )
        client = ConfirmingClient(
            config.host,
            config.port,
            identifier=self._identifier,
            protocol=aiomqtt.ProtocolVersion.V5,
            username=config.username,
            password=await asyncio.to_thread(password, config),
            tls_context=await asyncio.to_thread(tls_context, config),
            will=aiomqtt.Will(self._offline.topic, self._offline.payload, 1, retain=True),
            clean_start=False,
            properties=properties,
            keepalive=KEEPALIVE_S,
            timeout=CONNECT_TIMEOUT_S,
            max_queued_incoming_messages=100,
        )
        client.pending_calls_threshold = 1000
        try:
            await client.__aenter__()
        except BaseException:
            # aiomqtt leaves the socket open when the broker says no, or nothing.
            client.abandon()
            raise
        if self._bound is not None and time.monotonic() < self._bound_until:
            client.largest = self._bound if client.largest is None else min(client.largest, self._bound)
        return client

    async def _serve(self, client: ConfirmingClient) -> None:
        listening = asyncio.create_task(self._listen(client))
        stopping = asyncio.create_task(self._stopping.wait())
        gone = asyncio.create_task(client.lost())
        tasks = [listening, stopping, gone]
        try:
            await self._begin(client, gone)
            while not stopping.done():
                if gone.done():
                    raise aiomqtt.MqttError(gone.result())
                if listening.done():
                    listening.result()
                self._outbox.wake(time.monotonic())
                self._pump()
                await asyncio.wait(tasks, timeout=self._patience(), return_when=asyncio.FIRST_COMPLETED)
            await self._leave(client)
        finally:
            await ended(tasks, TASKS_END_S)

    async def _begin(self, client: ConfirmingClient, gone: asyncio.Task[str]) -> None:
        """Say that we are here, make sure that nobody else is, and let everything go."""
        self._suspicion = False
        await self._subscribe(client)
        code = await client.confirm(self._online)
        if self._suspicion:
            # Either our own last life, or another gateway, which will insist when it hears us.
            await asyncio.wait([gone], timeout=SUSPICION_S)
        if code is None or gone.done():
            raise aiomqtt.MqttError(await client.lost())
        self._dirty = dict.fromkeys(self._retained, FROM_BEFORE)
        self._client = client
        self._say_connected(code)

    async def _leave(self, client: ConfirmingClient) -> None:
        """Say offline ourselves: after a clean disconnect the broker does not publish the Will."""
        self._client = None
        client.timeout = LEAVE_S
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(client.confirm(self._offline), LEAVE_S)
        await client.__aexit__(None, None, None)

    def _patience(self) -> float:
        deadline = self._outbox.deadline
        return 1.0 if deadline is None else min(1.0, max(0.01, deadline - time.monotonic()))

    def _say_connected(self, code: int) -> None:
        self.connected = True
        self.connects += 1
        self.trouble = None if code < REFUSED else f"the broker refuses {self._online.topic} ({code:#04x})"
        self._said.clear()
        log.info("connected to the broker", host=self.config.host, port=self.config.port, backlog=self.backlog)

    def _say_gone(self, why: str, taken_over: bool) -> None:
        if taken_over:
            why = f"another gateway with this id was here first ({self._online.topic})"
        self.trouble = f"no broker: {why}"
        if why not in self._said:
            self._said.add(why)
            log.warning("no broker", host=self.config.host, port=self.config.port, why=why)

    # --- publishing ------------------------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Offer whatever may be offered now."""
        client = self._client
        if client is None:
            return
        now = time.monotonic()
        try:
            while self._inflight < client.window and self._offer_one(client, now):
                self._inflight += 1
        except aiomqtt.MqttError:
            # `_serve` learns of it from the client itself, and sends everything unanswered again.
            self._client = None
            return
        for lane, first in self._outbox.wanted():
            self._spawn(self._refill(lane, first))
        if self._inflight == 0 and not self._dirty and not self._replies:
            self._settled.set()

    def _offer_one(self, client: ConfirmingClient, now: float) -> bool:
        since = next(iter(self._dirty.values()), now)
        if self._replies:
            self._offer_reply(client)
        elif since == FROM_BEFORE:
            self._offer_retained(client)
        elif now - since > OVERDUE_S and not self._event_next:
            # By turns: in a hall that is busy all the time some state is always overdue.
            self._event_next = True
            self._offer_retained(client)
        elif (entry := self._outbox.next(now)) is not None:
            self._event_next = False
            client.offer(Message(entry.topic, entry.payload, False), lambda code: self._event_answered(entry, code))
        elif self._dirty:
            self._offer_retained(client)
        elif self._again:
            self._offer_again(client)
        else:
            return False
        return True

    def _offer_reply(self, client: ConfirmingClient) -> None:
        message, correlation = self._replies[0]
        properties = None
        if correlation is not None:
            properties = properties_of(PacketTypes.PUBLISH, CorrelationData=correlation)
        client.offer(message, lambda code: self._answered(message.topic, code), properties)
        self._replies.popleft()

    def _offer_retained(self, client: ConfirmingClient) -> None:
        topic = next(iter(self._dirty))
        client.offer(self._retained[topic], lambda code: self._retained_answered(topic, code))
        del self._dirty[topic]

    def _offer_again(self, client: ConfirmingClient) -> None:
        entry = self._again[0]
        client.offer(Message(entry.topic, entry.payload, False), lambda code: self._answered(entry.topic, code))
        self._again.popleft()
        if len(self._again) <= WINDOW:
            self._again_low.set()

    def _answered(self, topic: str, code: int | None) -> None:
        if code is None:
            return
        self._inflight -= 1
        if code >= REFUSED:
            self._say_refused(topic, code)
        self._pump()

    def _retained_answered(self, topic: str, code: int | None) -> None:
        if code is not None and code >= REFUSED:
            asyncio.get_running_loop().call_later(REFUSED_RETAINED_S, self._retain_again, topic)
        self._answered(topic, code)

    def _retain_again(self, topic: str) -> None:
        if topic in self._retained:
            self._dirty.setdefault(topic, time.monotonic())
            self._pump()

    def _event_answered(self, entry: Entry, code: int | None) -> None:
        if code is None:
            return
        if code >= REFUSED:
            self._outbox.refused(entry, time.monotonic())
        else:
            delivered = self._outbox.accepted(entry)
            if delivered is not None:
                self._journal.acknowledge(entry.lane, delivered)
                if self.trouble is not None and not self._outbox.held_up:
                    self.trouble = None
                    self._said.clear()
                    log.info("the broker takes everything again")
        self._answered(entry.topic, code)

    def _say_refused(self, topic: str, code: int) -> None:
        self.refused += 1
        # The name of a size that is too large belongs to another packet.
        packet = PacketTypes.DISCONNECT if code == TOO_LARGE else PacketTypes.PUBACK
        self.trouble = f"the broker refuses {topic} ({ReasonCode(packet, identifier=code)})"
        if topic not in self._said:
            self._said.add(topic)
            log.error("the broker refuses a publication; it is kept and tried again", topic=topic, code=f"{code:#04x}")

    async def _refill(self, lane: Lane, first: int) -> None:
        try:
            entries = await self._journal.read(lane, first)
        except JournalError:
            await asyncio.sleep(READ_AGAIN_S)
            self._outbox.fill(lane, None)
        else:
            self._outbox.fill(lane, entries)
        self._pump()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._reads.add(task)
        task.add_done_callback(self._reads.discard)

    # --- listening -------------------------------------------------------------------------------------------------

    async def _subscribe_anew(self, client: ConfirmingClient) -> None:
        """Other tables are served. A connection that is lost meanwhile subscribes when it is there again."""
        with contextlib.suppress(aiomqtt.MqttError):
            await self._subscribe(client)

    async def _subscribe(self, client: ConfirmingClient) -> None:
        """To commands for our own tables, and to our own status, which nobody else should publish."""
        status = SubscribeOptions(qos=0)
        command = SubscribeOptions(qos=1, retainHandling=SubscribeOptions.RETAIN_DO_NOT_SEND)
        topics = [self._online.topic]
        if self.config.commands:
            topics += [f"{self.config.root}/arbiter/{table}/command" for table in sorted(self._tables)]
        codes = await client.subscribe([(topic, command if topic != topics[0] else status) for topic in topics])
        for topic, code in zip(topics, codes, strict=True):
            if isinstance(code, ReasonCode) and code.value >= REFUSED and topic not in self._said:
                self._said.add(topic)
                log.warning("the broker refuses a subscription", topic=topic, code=str(code))

    async def _listen(self, client: ConfirmingClient) -> None:
        async for message in client.messages:
            topic = str(message.topic)
            payload = bytes(message.payload)
            if topic == self._online.topic:
                self._hear_status(client, payload, message.retain)
            elif not message.retain:
                self._hear_command(topic.split("/")[-2], payload, message.properties)

    def _hear_status(self, client: ConfirmingClient, payload: bytes, retained: bool) -> None:
        """Somebody published our status: we ourselves, the broker our Will, or a second gateway with our id."""
        since = _since(payload)
        if payload == self._online.payload:
            return
        if since is None:
            # The Will of a connection that we had given up: we are here.
            if not retained:
                self.retain([self._online])
        elif retained:
            self._suspicion = True
        elif since < (_since(self._online.payload) or ""):
            client.give_up()
        else:
            # We were here first, and say so; the other one gives way.
            self.retain([self._online])
            if since not in self._said:
                self._said.add(since)
                log.error("another gateway has this id; it is told to give way", client=self._identifier, since=since)

    def _hear_command(self, table: str, payload: bytes, properties: Properties | None) -> None:
        if table not in self._tables:
            return
        response_topic = getattr(properties, "ResponseTopic", None)
        if response_topic is not None and (not response_topic or set(response_topic) & set("+#\0")):
            response_topic = None
        correlation = getattr(properties, "CorrelationData", None)
        if len(payload) > COMMAND_BYTES:
            error = f"a command has at most {COMMAND_BYTES} bytes"
        elif not self._buckets[table].take(time.monotonic()):
            error = f"more than {COMMANDS_PER_S:g} commands a second"
        else:
            self._on_command(Incoming(table, payload, response_topic, correlation))
            return
        self.commands_dropped += 1
        topic = response_topic or f"{self.config.root}/arbiter/{table}/reply"
        answer = msgspec.json.encode({"id": None, "ok": False, "error": error})
        self.reply(Message(topic, answer, False), correlation)


def _since(status: bytes) -> str | None:
    """Since when the gateway of this status is online; None if it is offline, or this is no status."""
    try:
        decoded = msgspec.json.decode(status, type=dict[str, Any])
    except msgspec.DecodeError:
        return None
    since = decoded.get("since")
    return since if isinstance(since, str) and decoded.get("state") == "online" else None
