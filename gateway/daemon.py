"""The composition root: joins ports, tables, journal and broker; starts them, watches over them, stops them.

Every loop has its own supervisor. What fails by a bug is said with its traceback, counted, and begun again after a
pause, and nothing else stops for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import structlog

from gateway import __version__, capture, health, metrics
from gateway.broker import ADDRESS, WEBSOCKETS_PORT, EmbeddedBroker
from gateway.config import Config, TableConfig
from gateway.errors import ConfigError, GatewayError
from gateway.events import Device, LinkState
from gateway.journal import Journal
from gateway.link import Link, Told
from gateway.live import BROKEN, Clock, LiveTable
from gateway.mqtt import Connection, Incoming
from gateway.notify import Notifier
from gateway.ports import Keeper
from gateway.protocol import Address
from gateway.publish import VERSION, Message, encode, rfc3339
from gateway.registry import DRIVERS
from gateway.tasks import ended
from gateway.turns import Turns
from gateway.ways import Ways
from gateway.webserver import PageKeeper

HEALTH_S = 10.0
TEND_S = 1.0
COMPRESS_S = 20.0
AGAIN_S = (1.0, 60.0)
"""Pause before a loop that failed is begun again."""
STOP_S = 4.5
PORTS_S = 1.0
"""For ports to close."""
LEAVE_S = 0.3
COLLECT = (20_000, 20, 20)
"""How many objects are made before cycles are looked for, and how seldom among those that have lasted."""

log = structlog.get_logger("daemon")

Reload = Callable[[], Config]
"""Reads the configuration again. Raises `ConfigError`."""


@dataclass(frozen=True, slots=True)
class PortPlan:
    """One port and the tables behind it: of a board, of several on a bus, or of a clock."""

    driver: str
    device: Device
    port: str | None
    tables: tuple[TableConfig, ...]

    @property
    def ids(self) -> list[str]:
        """The tables', in their order."""
        return [table.id for table in self.tables]

    @property
    def name(self) -> str:
        """For logs and people; no two plans of a configuration share it."""
        tables = ", ".join(self.ids)
        return f"{self.device} of table {tables}" + (f" ({self.port})" if self.port else "")


class Daemon:
    """One gateway."""

    def __init__(self, config: Config, reload: Reload | None = None, notifier: Notifier | None = None) -> None:
        self.config = config
        self.failures = 0
        """Loops that ended by a bug, of ports and tables too."""
        self.tables: dict[str, LiveTable] = {}
        self._reload = reload
        self._notifier = notifier or Notifier({})
        self._turns = Turns()
        self._ways = Ways(self._turns.listened_at)
        self._plans: dict[str, PortPlan] = {}
        self._keepers: dict[str, Keeper] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._errands: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()
        self._exit_code = os.EX_OK
        self._process = health.Process()
        self._broker: EmbeddedBroker | None = None
        self._page: PageKeeper | None = None
        self._metrics_trouble: str | None = None
        self._said = ""

    # --- from start to stop ----------------------------------------------------------------------------------------

    async def run(self) -> int:
        """Serve until SIGTERM, SIGINT or `stop`; return the exit code. Raises `GatewayError` if it cannot start."""
        with _only_one(self.config.state_dir):
            await self.start()
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.stop)
            loop.add_signal_handler(signal.SIGHUP, self.reload)
            try:
                await self._stop.wait()
            finally:
                await self.shut_down()
        return self._exit_code

    def stop(self) -> None:
        """Ask `run` to end."""
        self._stop.set()

    async def start(self) -> None:
        """Open the journal, take up every table where it was, and begin to serve."""
        # Of the unit: it outlives this process, and no boot.
        volatile = os.environ.get("RUNTIME_DIRECTORY")
        self._journal = Journal(
            self.config.state_dir / "journal.sqlite3", self.config.keep_hours, Path(volatile) if volatile else None
        )
        await self._journal.open()
        if self.config.mqtt.embedded:
            self._broker = EmbeddedBroker(self.config.state_dir, self.config.mqtt.port, web=self.config.web)
            await self._broker.start()
        self.clock = Clock(max((self._saved_at(table.id) for table in self.config.tables), default=0.0))
        self.connection = self._connection()
        self._apply(self.config.tables)
        self._supervise("turns", self._turns.listen)
        self._supervise("broker", self.connection.run)
        self._supervise("health", self._keep_health)
        self._supervise("watchdog", self._watch)
        self._supervise("upkeep", self._keep_up)
        self._supervise("captures", self._keep_small)
        if self.config.web is not None:
            port = WEBSOCKETS_PORT if self._broker is None else self._broker.websockets
            self._page = PageKeeper(self.config.web, self.config.mqtt.root, port)
            self._supervise("web", self._page.run)
        self._notifier.ready()
        log.info("gateway started", gateway=self.config.gateway, version=__version__, tables=len(self.tables))

    async def shut_down(self) -> None:
        """Close the ports, publish what waits, say offline: all within five seconds."""
        self._notifier.stopping()
        until = time.monotonic() + STOP_S

        def left(reserve_s: float) -> float:
            return max(0.1, until - reserve_s - time.monotonic())

        for task in self._errands:
            task.cancel()
        # All at once: a device on the radio can take a second to let go.
        await self._ended([self._tasks.pop(name) for name in self._keepers], PORTS_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left(3.0)):
                await asyncio.gather(self._ways.close(), *(table.stop() for table in self.tables.values()))
        if self.connection.connected:
            await self.connection.stop(left(2.0))
            await asyncio.wait([self._tasks["broker"]], timeout=left(1.0))
        await self._ended(self._tasks.values(), left(0.8))
        await self._journal.close(left(0.3))
        if self._broker is not None:
            await self._broker.stop(left(0.0))
        log.info("gateway stopped", outbox=self.connection.backlog)

    async def _ended(self, tasks: Iterable[asyncio.Task[None]], timeout_s: float) -> None:
        for task in await ended(tasks, timeout_s):
            log.error("a loop does not end", loop=task.get_name())

    def reload(self) -> None:
        """SIGHUP: take over changed tables; those that have not changed are not touched."""
        if self._reload is None:
            return
        self._notifier.reloading()
        try:
            config = self._reload()
        except (ConfigError, OSError) as error:
            log.error("the configuration is not taken over", why=str(error))
        else:
            if replace(config, tables=()) != replace(self.config, tables=()):
                log.warning("[gateway], [mqtt] and [web] are taken over at the next start only")
            self.config = replace(self.config, tables=config.tables)
            self._errand(self._change(config.tables))
        self._notifier.ready()

    # --- tables and ports ------------------------------------------------------------------------------------------

    async def _change(self, configured: tuple[TableConfig, ...]) -> None:
        wanted = {table.id: table for table in configured}
        plans = {plan.name: plan for plan in plan_ports(configured)}
        for name in [name for name, plan in self._plans.items() if plans.get(name) != plan]:
            await self._end(name)
        for name in [name for name, table in self.tables.items() if wanted.get(name) != table.config]:
            await self.tables.pop(name).stop()
        self._apply(configured)
        log.info("tables taken over", tables=sorted(self.tables))

    def _apply(self, configured: tuple[TableConfig, ...]) -> None:
        """Begin every table and port of the configuration that is not there yet."""
        for config in configured:
            if config.id not in self.tables:
                table = LiveTable(
                    config,
                    self.config.gateway,
                    self.clock,
                    self._turns,
                    self._journal,
                    self.connection,
                    self.config.state_dir / "captures",
                    self._table_broke,
                    self._links,
                )
                self.tables[config.id] = table
                table.start()
        self.connection.serve(self.tables)
        for plan in plan_ports(configured):
            if plan.name not in self._keepers:
                self._begin(plan)

    def _begin(self, plan: PortPlan) -> None:
        self._plans[plan.name] = plan
        self._keepers[plan.name] = self._keeper(plan)
        self._supervise(plan.name, lambda: self._keep(plan))

    async def _keep(self, plan: PortPlan) -> None:
        """Serve a port; when its link has failed by a bug, go on with a fresh one."""
        try:
            await self._keepers[plan.name].run()
        except Exception:
            self._keepers[plan.name] = self._keeper(plan)
            raise

    async def _end(self, name: str) -> None:
        del self._plans[name], self._keepers[name]
        await self._ended([self._tasks.pop(name)], STOP_S)

    def _keeper(self, plan: PortPlan) -> Keeper:
        entry = DRIVERS[plan.driver]
        first = plan.tables[0]
        device = first.board if plan.device == "board" else first.clock
        seats: dict[Address, Any] = {
            table.board.bus_address if plan.device == "board" else None: (table.id, table.game) for table in plan.tables
        }
        serials = {table.id: table.board.serial for table in plan.tables if table.board.serial is not None}
        if plan.device == "clock":
            serials = {}
        wanted = next(iter(serials.values()), None) if None in seats else None
        targets, make = self._ways.to(entry, plan.port, wanted, device.options, plan.name)

        def note(direction: Literal["rx", "tx"], data: bytes, channel: str | None, at: float) -> None:
            for table in plan.tables:
                if table.id in self.tables:
                    self.tables[table.id].note(direction, plan.device, data, channel, at + self.clock.offset)

        return Keeper(
            plan.name,
            Link(entry, seats, serials, device.options),
            targets,
            make,
            self._tell,
            note,
        )

    def _tell(self, told: list[Told], at: float) -> None:
        for name, observation in told:
            if name in self.tables:
                self.tables[name].observe(observation, at + self.clock.offset)

    def _command(self, incoming: Incoming) -> None:
        self.tables[incoming.table].command(incoming)

    def _links(self, table: str) -> dict[Device, Any]:
        """What the links of a table's devices keep, for its capture."""
        serving = [(plan, self._keepers[plan.name].link) for plan in self._plans.values() if table in plan.ids]
        return {plan.device: link.state(table, self.clock.now() - self.clock.offset) for plan, link in serving}

    def _table_broke(self, name: str) -> None:
        """A table begins again; so do its ports, so that its devices are told of anew."""
        self.failures += 1
        for plan in self._plans.values():
            if name in plan.ids:
                self._errand(self._restart(plan, self.tables[name]))

    async def _restart(self, plan: PortPlan, table: LiveTable) -> None:
        if plan.name not in self._keepers:
            return
        await self._end(plan.name)
        table.observe(LinkState(plan.device, False, BROKEN), self.clock.now())
        await asyncio.sleep(table.pause_s)
        if plan.name not in self._keepers and self.tables.get(table.config.id) is table and not self._stop.is_set():
            self._begin(plan)

    # --- watching over it all --------------------------------------------------------------------------------------

    def _supervise(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._tasks[name] = asyncio.create_task(self._supervised(name, work), name=name)

    async def _supervised(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        pause = AGAIN_S[0]
        while True:
            began = time.monotonic()
            try:
                await work()
                return
            except Exception as bug:
                self.failures += 1
                log.error("a loop failed", loop=name, failures=self.failures, exc_info=bug)
            if time.monotonic() - began > AGAIN_S[1]:
                pause = AGAIN_S[0]
            await asyncio.sleep(pause)
            pause = min(pause * 2, AGAIN_S[1])

    def _errand(self, work: Coroutine[Any, Any, None]) -> None:
        """Something that is done once, beside everything else."""
        task = asyncio.create_task(work)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    async def _keep_health(self) -> None:
        topic = f"{self.config.mqtt.root}/gateway/{self.config.gateway}/health"
        while True:
            links = {
                name: counters for keeper in self._keepers.values() for name, counters in keeper.link.counters.items()
            }
            epoch = self.clock.epoch + self.clock.offset
            payload = health.payload(self._process, self.connection.backlog, links, self.problems(), time.time(), epoch)
            self.connection.retain([Message(topic, encode(payload), True)])
            if self.config.metrics_file is not None:
                await self._write_metrics(self.config.metrics_file, metrics.text(self.config.gateway, payload))
            await asyncio.sleep(HEALTH_S)

    async def _write_metrics(self, path: Path, text: str) -> None:
        try:
            await asyncio.to_thread(metrics.write, path, text)
        except OSError as error:
            if self._metrics_trouble is None:
                log.error("the file for Prometheus is not written", file=str(path), why=error.strerror)
            self._metrics_trouble = f"{path} is not written: {error.strerror}"
        else:
            self._metrics_trouble = None

    async def _keep_up(self) -> None:
        """Captures to the disk, the wall clock's jumps, and the line for `systemctl status`."""
        while True:
            await asyncio.sleep(TEND_S)
            moved = self.clock.jump()
            if moved:
                log.warning("the wall clock has jumped; only stamps of later events change", seconds=round(moved, 1))
            for table in self.tables.values():
                if moved:
                    table.wall_clock_moved()
                table.tend_capture()
            status = self.status()
            if status != self._said:
                self._said = status
                self._notifier.status(status)

    async def _keep_small(self) -> None:
        """Compress captures that are closed, one after the other."""
        folder = self.config.state_dir / "captures"
        while True:
            await asyncio.sleep(COMPRESS_S)
            in_use = [table.capture_file for table in self.tables.values() if table.capture_file is not None]
            found = await asyncio.to_thread(capture.closed, folder, in_use)
            if found is None:
                continue
            try:
                await asyncio.to_thread(capture.compress, found)
            except OSError as error:
                log.warning("a capture cannot be compressed", file=str(found), why=str(error))

    async def _watch(self) -> None:
        """Feed the watchdog while every loop is alive; without the journal's thread there is no going on."""
        while True:
            if not self._journal.alive:
                log.critical("the journal's thread has died")
                self._exit_code = os.EX_SOFTWARE
                self.stop()
            if not any(task.done() for task in self._tasks.values()):
                self._notifier.alive()
            await asyncio.sleep(self._notifier.interval_s or HEALTH_S)

    def problems(self) -> list[str]:
        """What is wrong now, in sentences."""
        page = None if self._page is None else self._page.trouble
        found = [self.connection.trouble, self._journal.trouble, self._journal.damage, page, self._metrics_trouble]
        return [problem for problem in found if problem is not None]

    def status(self) -> str:
        """One line on how it is."""
        up = sum(keeper.up for keeper in self._keepers.values())
        broker = "connected" if self.connection.connected else "no broker"
        return f"{up} of {len(self._keepers)} ports answer, {broker}, {self.connection.backlog} events wait"

    # --- parts -----------------------------------------------------------------------------------------------------

    def _saved_at(self, table: str) -> float:
        state = self._journal.state(table)
        return 0.0 if state is None else float(state["at"])

    def _connection(self) -> Connection:
        mqtt = self.config.mqtt
        if self._broker is not None:
            mqtt = replace(mqtt, host=ADDRESS, port=self._broker.port, username=None, password_file=None, tls=None)
        topic = f"{mqtt.root}/gateway/{self.config.gateway}/status"

        def status(state: str, since: str | None) -> Message:
            payload: Mapping[str, Any] = {"v": VERSION, "state": state, "version": __version__, "since": since}
            return Message(topic, encode(payload), True)

        return Connection(
            mqtt,
            self.config.gateway,
            self._journal,
            online=status("online", rfc3339(time.time())),
            offline=status("offline", None),
            on_command=self._command,
        )


def plan_ports(tables: tuple[TableConfig, ...]) -> list[PortPlan]:
    """The ports of a configuration, each with its tables; tables on a bus share one."""
    buses: dict[tuple[str, str | None], list[TableConfig]] = {}
    plans = []
    for table in tables:
        if table.board.bus_address is not None:
            buses.setdefault((table.board.driver, table.board.port), []).append(table)
        else:
            plans.append(PortPlan(table.board.driver, "board", table.board.port, (table,)))
        if table.clock.driver not in ("board", "none"):
            plans.append(PortPlan(table.clock.driver, "clock", table.clock.port, (table,)))
    plans += [PortPlan(driver, "board", port, tuple(members)) for (driver, port), members in buses.items()]
    return plans


@contextlib.contextmanager
def _only_one(state_dir: Path) -> Any:
    """Hold the state directory for ourselves. Raises `GatewayError` where another gateway has it."""
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        try:
            lock = (state_dir / "lock").open("a")
        except OSError:
            # A disk that has become read-only: whatever was made there can still be held.
            lock = (state_dir / "lock").open()
    except OSError as error:
        raise GatewayError(f"{state_dir}: the state directory cannot be used: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise GatewayError(f"{state_dir}: another gateway is running with this state directory") from error
        yield


def run(config: Config, reload: Reload | None = None) -> int:
    """Run the gateway until it is told to stop; return the exit code. Raises `GatewayError` if it cannot start."""

    # What is loaded stays, and readings of a game hold no cycles: a look through all of them takes a tenth of a second
    # with many tables, in which nobody is heard.
    gc.freeze()
    gc.set_threshold(*COLLECT)

    async def serve() -> int:
        code = await Daemon(config, reload, Notifier()).run()
        # Everything is closed. A thread that still waits for a broker or a port must not hold up the end.
        leave = threading.Timer(LEAVE_S, os._exit, [code])
        leave.daemon = True
        leave.start()
        return code

    return asyncio.run(serve())
