"""The feed while it runs: joins the broker, the relay, the files, HTTP and lichess."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable

import aiomqtt
import structlog
from paho.mqtt.packettypes import PacketTypes

from gateway.feed import lichess, texts
from gateway.feed.files import Folder
from gateway.feed.games import Game
from gateway.feed.kept import Kept
from gateway.feed.relay import Relay, is_of
from gateway.feed.server import FeedServer
from gateway.feed.settings import FeedConfig, LichessConfig
from gateway.mqtt_client import end, password, properties_of, tls_context

SESSION_EXPIRY_S = 24 * 3600
"""How long the broker keeps for us what we miss."""
KEEPALIVE_S = 10
CONNECT_S = 10.0
AGAIN_S = (0.5, 10.0)
SHOW_S = 1.0
"""Files change at most so often."""
BACKLOG = 100_000

log = structlog.get_logger("feed")


class Feed:
    """One feed."""

    def __init__(self, config: FeedConfig, now: Callable[[], float] = time.time) -> None:
        """Take up what was kept. Raises OSError or `ServerError`."""
        self.config = config
        self.connected = False
        self._now = now
        self._relay = Relay(config.delay * 60, confirmed_only=config.moves == "confirmed")
        self._writer = texts.Writer(texts.Site(config.event, config.site, config.players))
        self._folder = Folder(config.dir)
        self._kept = Kept(config.state_dir)
        self._full = False
        self._shown: dict[str, str] = {}
        self._versions: list[tuple[Game, int]] = []
        self._found: dict[str, str] = {}
        self._waits: dict[Game, str] = {}
        self._server = None if config.address is None else FeedServer(config.address)
        self._push = None if config.lichess is None else _Push(config.lichess)
        for line in self._kept.lines():
            self._relay.recall(line)
        self._tell()

    @property
    def url(self) -> str | None:
        """Where the files are served."""
        return None if self._server is None else self._server.url

    async def run(self, stop: asyncio.Event) -> None:
        """Feed until told to stop."""
        if self._server is not None:
            self._server.start()
        listening = asyncio.create_task(self._listen())
        pushing = asyncio.create_task(self._push.run(self._now)) if self._push is not None else None
        tasks = [task for task in (listening, pushing) if task is not None]
        tended = self._now()
        try:
            while not stop.is_set():
                for task in tasks:
                    if task.done():
                        task.result()
                await self._show()
                if self._now() - tended > 3600:
                    tended = self._now()
                    self._tend()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), SHOW_S)
        finally:
            await end(*tasks)
            self._kept.close()
            if self._server is not None:
                await asyncio.to_thread(self._server.stop)

    # --- the broker ---------------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Hear the hall for ever."""
        pause, mqtt = AGAIN_S[0], self.config.mqtt
        said = ""
        while True:
            try:
                async with aiomqtt.Client(
                    mqtt.host,
                    mqtt.port,
                    identifier=f"board-gateway-feed-{self.config.id}",
                    username=mqtt.username,
                    password=await asyncio.to_thread(password, mqtt),
                    tls_context=await asyncio.to_thread(tls_context, mqtt),
                    protocol=aiomqtt.ProtocolVersion.V5,
                    clean_start=False,
                    properties=properties_of(PacketTypes.CONNECT, SessionExpiryInterval=SESSION_EXPIRY_S),
                    keepalive=KEEPALIVE_S,
                    timeout=CONNECT_S,
                ) as client:
                    client.pending_calls_threshold = BACKLOG
                    for topic in ("game", "event/+"):
                        await client.subscribe(f"{mqtt.root}/table/+/{topic}", qos=1)
                    log.info("connected", broker=f"{mqtt.host}:{mqtt.port}")
                    self.connected, pause, said = True, AGAIN_S[0], ""
                    async for message in client.messages:
                        self._hear(str(message.topic), bytes(message.payload), bool(message.retain))
            except (aiomqtt.MqttError, OSError) as error:
                if str(error) != said:
                    said = str(error)
                    log.warning(
                        "no broker; tried again until there is one", broker=f"{mqtt.host}:{mqtt.port}", why=said
                    )
            self.connected = False
            await asyncio.sleep(pause)
            pause = min(pause * 2, AGAIN_S[1])

    def _hear(self, topic: str, payload: bytes, retained: bool) -> None:
        table, _, rest = topic.removeprefix(f"{self.config.mqtt.root}/table/").partition("/")
        if payload and table:
            self._keep(self._relay.hear(table, rest, payload, self._now(), retained=retained))

    def _keep(self, lines: list[bytes]) -> None:
        """A full disk is told, and is no reason to stop: what is not kept is made up for after a restart."""
        try:
            self._kept.add(lines)
            self._full = False
        except OSError as error:
            if not self._full:
                log.error("what is heard cannot be kept", file=str(self._kept.path), why=error.strerror)
            self._full = True

    # --- what is told -------------------------------------------------------------------------------------------

    def _tell(self) -> dict[str, str]:
        """All files as they may be seen now."""
        self._keep(self._relay.advance(self._now()))
        notes, self._relay.notes = self._relay.notes, []
        for note in notes:
            log.warning(note)
        games = list(self._relay.games())
        versions = [(game, game.version) for game in games]
        if versions == self._versions:
            return self._found
        found = self._writer.texts(games)
        self._versions, self._found = versions, found
        for game in games:
            waits = self._writer.of(game).waits
            if waits and self._waits.get(game) != waits:
                log.warning(f"table {game.table} {waits}; correct it, or it stays so in the lists", game=game.id)
            if waits:
                self._waits[game] = waits
            else:
                self._waits.pop(game, None)
        if self._push is not None:
            self._push.show(self._writer, games, self._now())
        return found

    async def _show(self) -> None:
        found = self._tell()
        with contextlib.suppress(OSError):
            self._kept.sync()
        if found != self._shown:
            self._shown = found
            if self._server is not None:
                self._server.show(found)
            try:
                await asyncio.to_thread(self._folder.show, found)
            except OSError as error:
                log.error("a file cannot be written; tried again", file=error.filename, why=error.strerror)
                self._shown = {}

    def _tend(self) -> None:
        """Give up rounds in which nothing has happened for `keep_days`; their files stay."""
        since = self._now() - self.config.keep_days * 86400
        site = self._writer.site
        games = list(self._relay.games())
        alive = {texts.folder(game, site) for game in games if game.changed >= since}
        old = [game for game in games if texts.folder(game, site) not in alive]
        if old:
            gone = {texts.folder(game, site) for game in old}
            self._folder.let([path for path in self._shown if path.rpartition("/")[0] in gone])
            self._relay.forget(old)
        self._kept.only(lambda line: is_of(line, {game.id for game in games if game not in old and game.id}, since))


class _Push:
    """Every round that is pushed to lichess."""

    def __init__(self, config: LichessConfig) -> None:
        self.config = config
        self._rounds = {name: lichess.Schedule() for name in config.rounds}
        self._cut: set[str] = set()

    def show(self, writer: texts.Writer, games: list[Game], now: float) -> None:
        """These are the games now."""
        for name, schedule in self._rounds.items():
            chosen = [
                game
                for game in games
                if game.names["round"] == name
                and game.record.game != "draughts"
                and self.config.event in (None, game.names["event"] or writer.site.event)
            ]
            mains = [written.main for written in writer.lists(chosen)]
            if len(mains) > lichess.MOST_GAMES and name not in self._cut:
                self._cut.add(name)
                log.error(
                    f"round {name} has {len(mains)} games; lichess takes {lichess.MOST_GAMES}, the rest is left out"
                )
            if mains:
                schedule.show("\n".join(mains[: lichess.MOST_GAMES]), now)

    async def run(self, now: Callable[[], float]) -> None:
        """Push what is due, for ever."""
        while True:
            for name, schedule in self._rounds.items():
                text = schedule.ready(now())
                if text is None:
                    continue
                answer = await asyncio.to_thread(self._post, name, text)
                for line in schedule.answered(text, answer, now()):
                    log.warning(f"lichess, round {name}: {line}")
            await asyncio.sleep(0.25)

    def _post(self, name: str, text: str) -> lichess.Answer:
        try:
            token = self.config.token_file.read_text().strip()
        except OSError as error:
            return lichess.Answer(0, reason=f"{self.config.token_file}: {error.strerror}")
        return lichess.post(self.config.url, self.config.rounds[name], token, text)
