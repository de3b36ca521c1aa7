"""A made BlueZ on a private D-Bus: an adapter, boards in the air, and all that goes wrong with them. No hardware.

The tree of objects is plain data, and its methods answer as bluetoothd's do, as far as a central sees them. Real
programs find it by `DBUS_SYSTEM_BUS_ADDRESS`; so the whole way through D-Bus and bleak is the real one.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from gateway.drivers import Ble
from gateway.events import BoardDump, LinkState, Senses
from gateway.protocol import chunks, squareoff
from gateway.registry import DRIVERS
from gateway.simulate.device import CLASSIC, OCCUPANCY, Board, Timed, drawn_board
from gateway.simulate.games import opera, read_scores
from gateway.simulate.habits import PACES, Habits, Pace
from gateway.simulate.score import Score
from gateway.simulate.session import Evening
from gateway.simulate.wire import WireBoard, wire_board
from gateway.simulate.wire_families import FAMILIES, Answering

ADVERTISE_S = 0.05
"""Between two advertisements of a device; real ones take 0.02 to 2 s."""
DRAIN_S = 5.0
"""How long the boards stay after the last move."""
ATT_HEADER = 3
"""What a notification or a write loses of the MTU."""

ROOT = "/org/bluez"
ADAPTER = "org.bluez.Adapter1"
DEVICE = "org.bluez.Device1"
SERVICE = "org.bluez.GattService1"
CHARACTERISTIC = "org.bluez.GattCharacteristic1"
OBJECTS = "org.freedesktop.DBus.ObjectManager"
PROPERTIES = "org.freedesktop.DBus.Properties"

Properties = dict[str, Variant]
Took = Callable[[str, bytes], None]
"""Takes what a central wrote: the characteristic, and the bytes."""

_BUS_CONFIG = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
  </policy>
</busconfig>
"""


@contextlib.contextmanager
def private_bus() -> Iterator[str]:
    """A D-Bus daemon for the length of the block; yields its address for `DBUS_SYSTEM_BUS_ADDRESS`.

    Raises:
        FileNotFoundError: dbus-daemon is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="bluez-") as name:
        directory = Path(name)
        config = directory / "bus.conf"
        config.write_text(_BUS_CONFIG.format(socket=directory / "bus"))
        command = ["dbus-daemon", f"--config-file={config}", "--nofork", "--print-address"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as daemon:
            assert daemon.stdout is not None
            try:
                # The line comes when it listens.
                yield daemon.stdout.readline().strip()
            finally:
                daemon.kill()


@dataclass(frozen=True, slots=True)
class Characteristic:
    """One characteristic of a device's table."""

    uuid: str
    flags: tuple[str, ...]


@dataclass(eq=False)
class Peripheral:
    """A device in the air."""

    address: str
    name: str
    services: Mapping[str, tuple[Characteristic, ...]]
    advertised: tuple[str, ...] = ()
    """Services that its advertisement names."""
    mtu: int = 247
    took: Took = lambda uuid, data: None
    in_range: bool = True
    connect_s: float = 0.0
    """How long a connection takes to be made."""
    drops_connecting: bool = False
    """It goes away before its services are known."""
    refuses_writes: bool = False
    """It answers a write with an ATT error."""
    stuck: bool = False
    """It never answers a write."""
    truncates: bool = False
    """It cuts off what does not fit into one notification, as some firmware does, instead of sending the rest."""
    written: list[tuple[str, bytes, str]] = field(default_factory=list)
    """Characteristic, bytes, and `request` (with response) or `command`."""
    connections: int = 0
    sent: int = 0
    """Bytes notified to somebody who had subscribed."""
    bluez: Bluez | None = field(default=None, repr=False)
    subscribed: set[str] = field(default_factory=set)

    @property
    def connected(self) -> bool:
        """Whether a central has it now."""
        return self.bluez is not None and self.bluez.connected(self)

    def notify(self, uuid: str, data: bytes) -> None:
        """Send on a characteristic; nobody hears it who has not subscribed."""
        if self.bluez is None or uuid not in self.subscribed or not data:
            return
        room = self.mtu - ATT_HEADER
        for piece in [data[:room]] if self.truncates else chunks(data, room):
            self.sent += len(piece)
            self.bluez.notify(self, uuid, piece)

    def drop(self) -> None:
        """Lose the connection, as when it is carried away or switched off."""
        if self.bluez is not None:
            self.bluez.disconnect(self)


def peripheral(match: Ble, address: str, name: str | None = None, **manners: Any) -> Peripheral:
    """A device that has what a registry's `Ble` looks for."""
    write = Characteristic(match.write, ("write", "write-without-response"))
    notify = [Characteristic(uuid, ("notify",)) for uuid in match.notify if uuid != match.write]
    if match.write in match.notify:
        write = Characteristic(match.write, (*write.flags, "notify"))
    manners.setdefault("advertised", (match.service,))
    return Peripheral(address, match.name if name is None else name, {match.service: (*notify, write)}, **manners)


class RefusalError(Exception):
    """A call is answered with a D-Bus error."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name if "." in name else f"org.bluez.Error.{name}"
        self.text = text


class Bluez:
    """bluetoothd with one adapter."""

    def __init__(self, address: str, peripherals: Sequence[Peripheral] = (), adapter: bool = True) -> None:
        """`address` is the bus's; without `adapter` none is plugged in."""
        self.peripherals: list[Peripheral] = []
        self.scans = 0
        """How often a discovery was started."""
        self.connects_at_once = 0
        """The most connections that were being made at one time."""
        self._address = address
        self._bus: MessageBus | None = None
        self._objects: dict[str, dict[str, Properties]] = {}
        self._scanning: set[str] = set()
        self._connecting: dict[str, asyncio.Task[None]] = {}
        self._advertising: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        if adapter:
            self.plug()
        for each in peripherals:
            self.add(each)

    # --- the service itself -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Come up on the bus."""
        self._bus = MessageBus(bus_address=self._address, bus_type=BusType.SYSTEM)
        await self._bus.connect()
        self._bus.add_message_handler(self._called)
        await self._bus.request_name("org.bluez")
        self._advertising = asyncio.create_task(self._advertise())

    async def stop(self) -> None:
        """Go away as a killed process does: without a word to anybody."""
        tasks = [task for task in (self._advertising, *self._tasks) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        bus, self._bus = self._bus, None
        if bus is not None:
            bus.disconnect()
            with contextlib.suppress(EOFError):
                await bus.wait_for_disconnect()  # type: ignore[no-untyped-call]
        powered = self._powered
        for each in self.peripherals:
            each.subscribed.clear()
        self._objects.clear()
        self._scanning.clear()
        self._connecting.clear()
        if powered is not None:
            self.plug(powered)

    async def restart(self) -> None:
        """systemctl restart bluetooth, the hard way."""
        await self.stop()
        await self.start()

    # --- what a person does -----------------------------------------------------------------------------------------

    def add(self, device: Peripheral) -> None:
        """Bring a device into the room."""
        device.bluez = self
        self.peripherals.append(device)

    def plug(self, powered: bool = True) -> None:
        """Plug the adapter in."""
        self._expose(
            f"{ROOT}/hci0",
            ADAPTER,
            {
                "Address": Variant("s", "00:00:00:00:00:01"),
                "Powered": Variant("b", powered),
                "Discovering": Variant("b", False),
                "Roles": Variant("as", ["central"]),
                "UUIDs": Variant("as", []),
            },
        )

    def unplug(self) -> None:
        """Pull the adapter out."""
        self._all_gone()
        self._withdraw(f"{ROOT}/hci0")

    def power(self, on: bool) -> None:
        """Switch the adapter on or off."""
        if not on:
            self._all_gone()
        self._change(f"{ROOT}/hci0", ADAPTER, Powered=Variant("b", on))

    def connected(self, device: Peripheral) -> bool:
        """Whether a central has this device."""
        known = self._objects.get(_path(device), {}).get(DEVICE)
        return known is not None and bool(known["Connected"].value)

    def notify(self, device: Peripheral, uuid: str, data: bytes) -> None:
        """Hand a notification to the subscribers, who are also told where nothing has changed."""
        path = next((path for path, each in self._characteristics(device) if each.uuid == uuid), None)
        if path is not None and self.connected(device):
            self._change(path, CHARACTERISTIC, Value=Variant("ay", data))

    def disconnect(self, device: Peripheral) -> None:
        """The connection is gone."""
        path = _path(device)
        device.subscribed.clear()
        pending = self._connecting.pop(path, None)
        if pending is not None:
            pending.cancel()
        if not self.connected(device):
            return
        self._change(path, DEVICE, Connected=Variant("b", False), ServicesResolved=Variant("b", False))
        for below in [each for each in self._objects if each.startswith(f"{path}/")]:
            self._withdraw(below)

    @property
    def _powered(self) -> bool | None:
        adapter = self._objects.get(f"{ROOT}/hci0")
        return None if adapter is None else bool(adapter[ADAPTER]["Powered"].value)

    def _all_gone(self) -> None:
        self._scanning.clear()
        for device in self.peripherals:
            self.disconnect(device)

    # --- the tree ---------------------------------------------------------------------------------------------------

    def _expose(self, path: str, interface: str, properties: Properties) -> None:
        self._objects.setdefault(path, {})[interface] = properties
        self._signal("/", OBJECTS, "InterfacesAdded", "oa{sa{sv}}", [path, {interface: properties}])

    def _withdraw(self, path: str) -> None:
        interfaces = list(self._objects.pop(path, {}))
        if interfaces:
            self._signal("/", OBJECTS, "InterfacesRemoved", "oas", [path, interfaces])

    def _change(self, path: str, interface: str, **changed: Variant) -> None:
        if path in self._objects:
            self._objects[path][interface].update(changed)
            self._signal(path, PROPERTIES, "PropertiesChanged", "sa{sv}as", [interface, changed, []])

    def _signal(self, path: str, interface: str, member: str, signature: str, body: list[Any]) -> None:
        if self._bus is not None:
            self._bus.send(Message.new_signal(path, interface, member, signature, body))

    # --- calls ------------------------------------------------------------------------------------------------------

    def _called(self, call: Message) -> Message | bool | None:
        if call.message_type != MessageType.METHOD_CALL:
            return None
        if call.interface == OBJECTS and call.member == "GetManagedObjects":
            return Message.new_method_return(call, "a{oa{sa{sv}}}", [self._objects])
        try:
            if call.path not in self._objects:
                raise RefusalError("org.freedesktop.DBus.Error.UnknownObject", f"no object {call.path}")
            return self._methods(call)
        except RefusalError as refusal:
            return Message.new_error(call, refusal.name, refusal.text)

    def _methods(self, call: Message) -> Message | bool | None:
        match (call.interface, call.member):
            case (f, "SetDiscoveryFilter") if f == ADAPTER:
                pass
            case (f, "StartDiscovery") if f == ADAPTER:
                if not self._powered:
                    raise RefusalError("NotReady", "Resource Not Ready")
                self.scans += 1
                self._scanning.add(call.sender or "")
            case (f, "StopDiscovery") if f == ADAPTER:
                if call.sender not in self._scanning:
                    raise RefusalError("Failed", "No discovery started")
                self._scanning.discard(call.sender)
            case (f, "Connect") if f == DEVICE:
                return self._begin_connecting(call)
            case (f, "Disconnect") if f == DEVICE:
                self.disconnect(self._device(call.path or ""))
            case (f, "StartNotify") if f == CHARACTERISTIC:
                device, uuid = self._characteristic(call.path or "")
                device.subscribed.add(uuid)
            case (f, "StopNotify") if f == CHARACTERISTIC:
                device, uuid = self._characteristic(call.path or "")
                device.subscribed.discard(uuid)
            case (f, "WriteValue") if f == CHARACTERISTIC:
                return self._write(call)
            case _:
                return None
        return Message.new_method_return(call)

    def _begin_connecting(self, call: Message) -> Message | bool:
        path = call.path or ""
        device = self._device(path)
        if not self._powered:
            raise RefusalError("NotReady", "Resource Not Ready")
        if path in self._connecting:
            raise RefusalError("InProgress", "Operation already in progress")
        if self.connected(device):
            return Message.new_method_return(call)
        task = self._begin(self._connect(call, device))
        self._connecting[path] = task
        self.connects_at_once = max(self.connects_at_once, len(self._connecting))
        return True

    async def _connect(self, call: Message, device: Peripheral) -> None:
        path = _path(device)
        try:
            await asyncio.sleep(device.connect_s)
            await _until(lambda: device.in_range)
        except asyncio.CancelledError:
            if self._bus is not None:
                self._bus.send(Message.new_error(call, "org.bluez.Error.Failed", "le-connection-abort-by-local"))
            raise
        self._connecting.pop(path, None)
        device.connections += 1
        self._change(path, DEVICE, Connected=Variant("b", True))
        assert self._bus is not None
        self._bus.send(Message.new_method_return(call))
        await asyncio.sleep(0)
        if device.drops_connecting:
            self.disconnect(device)
            return
        self._expose_services(device)
        self._change(path, DEVICE, ServicesResolved=Variant("b", True))

    def _write(self, call: Message) -> Message | bool:
        device, uuid = self._characteristic(call.path or "")
        data, options = bytes(call.body[0]), call.body[1]
        kind = str(options["type"].value) if "type" in options else "request"
        if not self.connected(device):
            raise RefusalError("Failed", "Not connected")
        if device.stuck:
            return True
        if device.refuses_writes:
            raise RefusalError("Failed", "Operation failed with ATT error: 0x0e")
        if kind == "command" and len(data) > device.mtu - ATT_HEADER:
            raise RefusalError("Failed", "Operation failed with ATT error: 0x0d")
        device.written.append((uuid, data, kind))
        # The answer to the write is sent before what the device says about it.
        asyncio.get_running_loop().call_soon(device.took, uuid, data)
        return Message.new_method_return(call)

    # --- devices ----------------------------------------------------------------------------------------------------

    async def _advertise(self) -> None:
        while True:
            await asyncio.sleep(ADVERTISE_S)
            for number, device in enumerate(self.peripherals):
                if self._scanning and self._powered and device.in_range and not self.connected(device):
                    self._see(device, -50 - number)

    def _see(self, device: Peripheral, rssi: int) -> None:
        path = _path(device)
        if path in self._objects:
            self._change(path, DEVICE, RSSI=Variant("n", rssi))
            return
        self._expose(
            path,
            DEVICE,
            {
                "Address": Variant("s", device.address),
                "AddressType": Variant("s", "random"),
                **({"Name": Variant("s", device.name)} if device.name else {}),
                "Alias": Variant("s", device.name or device.address.replace(":", "-")),
                "Adapter": Variant("o", f"{ROOT}/hci0"),
                "UUIDs": Variant("as", list(device.advertised)),
                "RSSI": Variant("n", rssi),
                "Connected": Variant("b", False),
                "Paired": Variant("b", False),
                "ServicesResolved": Variant("b", False),
            },
        )

    def _expose_services(self, device: Peripheral) -> None:
        base = _path(device)
        self._change(base, DEVICE, UUIDs=Variant("as", list(device.services)))
        for number, uuid in enumerate(device.services):
            path = f"{base}/service{_handle(number)}"
            service = {"UUID": Variant("s", uuid), "Device": Variant("o", base), "Primary": Variant("b", True)}
            self._expose(path, SERVICE, service)
        for path, each in self._characteristics(device):
            self._expose(
                path,
                CHARACTERISTIC,
                {
                    "UUID": Variant("s", each.uuid),
                    "Service": Variant("o", path.rpartition("/")[0]),
                    "Flags": Variant("as", list(each.flags)),
                    "MTU": Variant("q", device.mtu),
                    "Value": Variant("ay", b""),
                    "Notifying": Variant("b", False),
                },
            )

    def _characteristics(self, device: Peripheral) -> Iterator[tuple[str, Characteristic]]:
        for number, characteristics in enumerate(device.services.values()):
            service = f"{_path(device)}/service{_handle(number)}"
            for index, each in enumerate(characteristics, 1):
                yield f"{service}/char{_handle(number, index)}", each

    def _device(self, path: str) -> Peripheral:
        return next(device for device in self.peripherals if _path(device) == path)

    def _characteristic(self, path: str) -> tuple[Peripheral, str]:
        device = self._device(path.rsplit("/", 2)[0])
        return device, next(each.uuid for found, each in self._characteristics(device) if found == path)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _path(device: Peripheral) -> str:
    return f"{ROOT}/hci0/dev_{device.address.replace(':', '_')}"


async def _until(condition: Callable[[], bool]) -> None:
    while True:
        if condition():
            return
        await asyncio.sleep(ADVERTISE_S)


def _handle(service: int, characteristic: int = 0) -> str:
    return f"{(service + 1) * 16 + characteristic:04x}"


# --- boards on it -----------------------------------------------------------------------------------------------


class BleBoard:
    """A simulated board behind a peripheral; its game waits for somebody who listens.

    While the connection is lost the hands rest, as players wait for an arbiter.
    """

    def __init__(
        self, device: Peripheral, board: WireBoard, channel: str, observations: Sequence[Timed], speed: float = 1.0
    ) -> None:
        """`channel` is the characteristic that it speaks on; `speed` says how much faster time goes."""
        self.device = device
        self.told = 0
        """How many observations have been played."""
        self.now = 0.0
        """The time of the last of them."""
        self.pause: Callable[[float], Awaitable[None]] = lambda seconds: asyncio.sleep(seconds / speed)
        self.board = board
        self._channel = channel
        self._speed = speed
        self._observations = [timed for timed in observations if not isinstance(timed[1], Senses | LinkState)]
        device.took = lambda uuid, data: self._say(board.take(data))

    @property
    def ended(self) -> bool:
        """Whether the game is over."""
        return self.told == len(self._observations)

    async def play(self) -> None:
        """Play to the end."""
        streaming = asyncio.create_task(self._stream())
        try:
            for at, observation in self._observations:
                await self.pause(at - self.now)
                self.now = at
                await _until(self._heard)
                self._say(self.board.sense(observation))
                self.told += 1
        finally:
            streaming.cancel()

    async def _stream(self) -> None:
        """Tell each scan, if this is a board that does."""
        board = self.board
        while isinstance(board, Answering) and board.period is not None:
            await asyncio.sleep(board.period / self._speed)
            if self._heard():
                self._say(board.scan())

    def _heard(self) -> bool:
        return self.board.listening and self._channel in self.device.subscribed

    def _say(self, data: bytes) -> None:
        self.device.notify(self._channel, data)


CHANNELS = {"squareoff_neo": squareoff.NEO_OCCUPANCY}
"""What a board speaks on, where it is not the first characteristic that the registry names."""

BLE = tuple(
    name
    for name, entry in DRIVERS.items()
    if name in FAMILIES and any(isinstance(match, Ble) for match in entry.matches)
)
"""Drivers whose boards can be simulated here."""


def simulated(
    driver: str, number: int, score: Score, pace: Pace, habits: Habits, seed: int, speed: float = 1.0
) -> BleBoard:
    """A board of `driver` on which a game will be played; `number` makes its name and address."""
    entry = DRIVERS[driver]
    match = next(match for match in entry.matches if isinstance(match, Ble))
    rng = Random(seed)
    performance = Evening([score], pace, habits, rng).perform(10.0)
    model = drawn_board(OCCUPANCY if entry.senses == "occupancy" else CLASSIC, rng)
    observations = Board(model, performance, score.game, rng).trace(None).observations
    first = next(said.pieces for _, said in observations if isinstance(said, BoardDump))
    device = peripheral(match, f"AA:BB:CC:00:{number >> 8:02X}:{number & 255:02X}", f"{match.name} {number}")
    channel = CHANNELS.get(driver, match.notify[0])
    return BleBoard(device, wire_board(driver, score.game, first), channel, observations, speed)


@contextlib.asynccontextmanager
async def made(*devices: Peripheral) -> Any:
    """A bus of our own with a made BlueZ on it, known to this process, for the length of the block."""
    with private_bus() as address:
        before = os.environ.get("DBUS_SYSTEM_BUS_ADDRESS")
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = address
        bluez = Bluez(address, devices)
        await bluez.start()
        try:
            yield bluez
        finally:
            await bluez.stop()
            if before is None:
                del os.environ["DBUS_SYSTEM_BUS_ADDRESS"]
            else:
                os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = before


def run(arguments: argparse.Namespace) -> int:
    """Print the bus's address and each board's, then play."""
    if arguments.speed <= 0 or arguments.tables < 1 or arguments.noise < 0:
        print("simulate: --speed must be above 0, --noise not below it, --tables 1 or more", file=sys.stderr)
        return os.EX_USAGE
    scores = read_scores(arguments.game) if arguments.game else [opera()]
    habits = Habits().noisy(arguments.noise)
    boards = [
        simulated(
            arguments.ble,
            number + 1,
            scores[number % len(scores)],
            PACES[arguments.pace],
            habits,
            arguments.seed + number,
            arguments.speed,
        )
        for number in range(arguments.tables)
    ]
    # Told to stop, the bus goes too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    asyncio.run(_serve(boards))
    return os.EX_OK


async def _serve(boards: Sequence[BleBoard]) -> None:
    async with made(*(board.device for board in boards)):
        print(f"DBUS_SYSTEM_BUS_ADDRESS={os.environ['DBUS_SYSTEM_BUS_ADDRESS']}", flush=True)
        for board in boards:
            print(f"ble:{board.device.address}", flush=True)
        await asyncio.gather(*(board.play() for board in boards))
        await asyncio.sleep(DRAIN_S)
