"""Boards on Bluetooth Low Energy, by bleak and BlueZ: notifications as chunks, with their time and characteristic.

A radio does one thing well at a time. So all ports share one `Radio`: whoever looks for a device listens to the same
scan, a scan gives way to a connection that is to be made, and connections are made one after the other.

A device is known by its address. A name, or what a registry entry says of its devices, leads to an address when
exactly one device in the air fits; after that the port follows this device and no other. The names of half of all
boards can be changed by any app, and two boards of one name are no rarity: then nothing is guessed.

bleak keeps what BlueZ has told it until the bus dies, and does not notice that BlueZ itself has died. The radio does,
and takes bleak's bus down, after which bleak tells every port and begins afresh.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bleak import BleakAdapter, BleakClient, BleakScanner
from bleak.backends.bluezdbus.manager import get_global_bluez_manager
from bleak.backends.characteristic import BleakGATTCharacteristic
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from bleak.exc import (
    BleakBluetoothNotAvailableError,
    BleakBluetoothNotAvailableReason,
    BleakDBusError,
    BleakDeviceNotFoundError,
    BleakError,
)
from dbus_fast import BusType, DBusFastError, Message
from dbus_fast.aio import MessageBus

from gateway.drivers import RADIO, Ble, Hear, Lost, Match, uses_radio
from gateway.errors import LinkError

SEARCH_S = 6.0
"""How long a device is listened for; idle boards advertise once in two seconds at the worst."""
CHOICE_S = 2.0
"""How much longer it is listened for another one that fits as well."""
FRESH_S = 3.0
"""A device that was heard this lately is still there."""
KNOWN_S = 60.0
"""A device that was heard this lately is worth a try where a serial number decides."""
ANSWER_S = 5.0
"""How long BlueZ may take to answer what needs no radio; bleak would wait for ever."""
CONNECT_S = 15.0
SUBSCRIBE_S = 5.0
WRITE_S = 5.0
DISCONNECT_S = 3.0
UNSENT_BYTES = 16 * 1024
"""What may wait for a device that does not take it."""

ADDRESS, NAME = RADIO

ANYBODYS = frozenset({"6e400001-b5a3-f393-e0a9-e50e24dcca9e", "0000ffe0-0000-1000-8000-00805f9b34fb"})
"""Services of ready-made serial modules: they prove nothing, and no device is written to for having one of them."""

_NOT_HEARD = -127
"""bleak's signal strength of a device that has changed in BlueZ and was not heard in the air."""

_TROUBLE = (BleakError, DBusFastError, OSError, EOFError, TimeoutError, AssertionError, LookupError)
"""What bleak raises when something is not there; it asserts and looks up what BlueZ may have withdrawn meanwhile."""

_UNAVAILABLE = {
    BleakBluetoothNotAvailableReason.NO_BLUETOOTH: "there is no Bluetooth adapter",
    BleakBluetoothNotAvailableReason.NO_BLE_CENTRAL_ROLE: "the Bluetooth adapter knows no Bluetooth Low Energy",
    BleakBluetoothNotAvailableReason.POWERED_OFF: "Bluetooth is switched off",
    BleakBluetoothNotAvailableReason.DENIED_BY_SYSTEM: "no permission to use Bluetooth",
}
_NO_BLUEZ = "the Bluetooth service is not running"
_REFUSED = {
    "org.freedesktop.DBus.Error.ServiceUnknown": _NO_BLUEZ,
    "org.freedesktop.DBus.Error.NameHasNoOwner": _NO_BLUEZ,
    "org.freedesktop.DBus.Error.NoReply": _NO_BLUEZ,
    "org.freedesktop.DBus.Error.AccessDenied": "no permission to use Bluetooth; is the user in the group bluetooth?",
    "org.bluez.Error.NotReady": _UNAVAILABLE[BleakBluetoothNotAvailableReason.POWERED_OFF],
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A device that was heard in the air, or that is connected already."""

    address: str
    name: str
    """Empty where it tells none."""
    services: frozenset[str]
    """Those that it advertises."""
    rssi: int | None
    """Signal strength, dBm; None of a device that is connected."""
    at: float
    """When it was last heard."""
    device: BLEDevice

    @property
    def connected(self) -> bool:
        """Whether this computer, some program on it, has it already."""
        return self.rssi is None


def fits(seen: Seen, match: Match) -> bool:
    """Whether a device is one of those that `match` describes."""
    if not isinstance(match, Ble):
        return False
    if match.name and seen.name.startswith(match.name):
        return True
    return match.service in seen.services and match.service not in ANYBODYS


async def scan(seconds: float, services: Iterable[str] = ()) -> list[Seen]:
    """All devices in the air, the nearest first, and those connected already that have one of `services`.

    Raises:
        LinkError: Bluetooth cannot be used now.
    """
    radio = Radio()
    try:
        connected = await radio.connected(services)
        await radio.look(seconds, lambda: False)
    finally:
        await radio.close()
    heard = [seen for seen in radio.seen() if seen.address not in {each.address for each in connected}]
    return connected + sorted(heard, key=lambda seen: -(seen.rssi or 0))


class Radio:
    """The adapter of this computer, for all ports: who is in the air, and whose turn it is."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}
        self._owners: dict[str, str] = {}
        """Address -> the port that has it, or is about to."""
        self._followed: dict[tuple[str, str], str] = {}
        """Port, target -> the address that it led to."""
        self._names: dict[str, str] = {}
        """Address -> its name when it was followed: a connected device is silent."""
        self._air = asyncio.Lock()
        self._pause = asyncio.Event()
        self._to_connect = 0
        self._seekers: list[Callable[[], bool]] = []
        self._scan: asyncio.Task[None] | None = None
        self._scanning_since = float("inf")
        self._bus: MessageBus | None = None
        self._errands: set[asyncio.Task[None]] = set()

    def targets(self, configured: str | None, serial: str | None, matches: Sequence[Match]) -> list[str]:
        """Names for `port`, the likeliest first.

        A board of a known serial number and no address may be any of its kind: each that is free is tried in turn.
        """
        if not uses_radio(configured, serial, matches):
            return []
        if configured not in (None, ADDRESS):
            return [configured]
        known = [seen for seen in self.seen(KNOWN_S) if any(fits(seen, match) for match in matches)]
        free = sorted(seen.address for seen in known if seen.address not in self._owners)
        return [ADDRESS + address for address in free] if serial is not None and free else [ADDRESS]

    def owns(self, target: str) -> bool:
        """Whether this is the name of a port on the radio."""
        return target.startswith(RADIO)

    def port(self, target: str, matches: Iterable[Match], owner: str, hear: Hear, lost: Lost) -> BlePort:
        """The port of this name, not yet opened. See `BlePort`."""
        return BlePort(target, matches, self, owner, hear, lost)

    def seen(self, within_s: float = float("inf")) -> list[Seen]:
        """What was heard lately."""
        since = asyncio.get_running_loop().time() - within_s
        return [seen for seen in self._seen.values() if seen.at >= since]

    async def connected(self, services: Iterable[str]) -> list[Seen]:
        """Devices that have one of these services and are connected to this computer.

        They do not advertise. A gateway that was killed leaves its boards so.
        """
        wanted = sorted(set(services))
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._watch()
                adapter = await BleakAdapter.get()
                devices = await adapter.get_connected_devices(wanted) if wanted else []
        except _TROUBLE as error:
            raise LinkError(why_not(error)) from error
        now = asyncio.get_running_loop().time()
        return [Seen(each.address, each.name or "", frozenset(wanted), None, now, each) for each in devices]

    async def look(self, seconds: float, enough: Callable[[], bool]) -> None:
        """Listen for so long, or until `enough()` is true, which is asked whenever something was heard.

        Raises:
            LinkError: Bluetooth cannot be used now.
        """
        self._seekers.append(enough)
        try:
            async with asyncio.timeout(seconds) as limit:
                while not enough():
                    if self._scan is None or self._scan.done():
                        self._scan = asyncio.create_task(self._listen())
                        self._scan.add_done_callback(_ended)
                    await asyncio.shield(self._scan)
        except _TROUBLE as error:
            if not limit.expired():
                raise LinkError(why_not(error)) from error
        finally:
            self._seekers.remove(enough)
            if not self._seekers:
                self._pause.set()

    async def connect(self, device: BLEDevice, dropped: Callable[[], None]) -> BleakClient:
        """Connect, when it is this device's turn. Raises what bleak raises."""
        self._to_connect += 1
        self._pause.set()
        try:
            async with self._air:
                client = BleakClient(device, disconnected_callback=lambda _: dropped(), timeout=CONNECT_S)
                await client.connect()
                return client
        finally:
            self._to_connect -= 1

    def claim(self, seen: Seen, owner: str, target: str) -> None:
        """Take a device for a port. Raises `LinkError` where another port has it."""
        if self._owners.setdefault(seen.address, owner) != owner:
            raise LinkError(f"{target}: {seen.address} is in use by the {self._owners[seen.address]}")

    def follow(self, seen: Seen, owner: str, target: str) -> None:
        """From now on `target` means this device to this port."""
        self._followed[owner, target] = seen.address
        self._names[seen.address] = seen.name

    def release(self, address: str, owner: str) -> None:
        """The port has it no longer; what was heard of it before says nothing any more."""
        if self._owners.get(address) == owner:
            del self._owners[address]
            self._seen.pop(address, None)

    async def find(self, target: str, owner: str, matches: Sequence[Match]) -> Seen:
        """The device that `target` means to this port. Raises `LinkError` if there is none, or not one alone."""
        address = self._followed.get((owner, target))
        if address is None and target.startswith(ADDRESS) and target != ADDRESS:
            address = target.removeprefix(ADDRESS).upper()
        connected = await self.connected(match.service for match in matches if isinstance(match, Ble))
        if address is None:
            return await self._find_only(target, owner, matches, connected)
        standing = next((seen for seen in connected if seen.address == address), None)
        return standing or await self._find_address(target, address)

    async def _find_address(self, target: str, address: str) -> Seen:
        def there() -> bool:
            # BlueZ tells of a device once in a scan, and again when its signal has changed much.
            since = min(asyncio.get_running_loop().time() - FRESH_S, self._scanning_since)
            return address in self._seen and self._seen[address].at >= since

        await self.look(SEARCH_S, there)
        if not there():
            where = "" if address in target.upper() else f" ({address})"
            raise LinkError(f"{target}{where} is not in range, is switched off, or is in use by another device")
        return self._seen[address]

    async def _find_only(self, target: str, owner: str, matches: Sequence[Match], connected: Sequence[Seen]) -> Seen:
        """The only device of a name, or the only free one of a kind; connected ones are in the choice."""
        name = target.removeprefix(NAME) if target.startswith(NAME) else None

        def found() -> list[Seen]:
            known = [*connected, *self.seen(SEARCH_S)]
            if name is not None:
                return [seen for seen in known if seen.name == name]
            kind = [seen for seen in known if any(fits(seen, match) for match in matches)]
            return [seen for seen in kind if self._owners.get(seen.address, owner) == owner]

        await self.look(SEARCH_S, lambda: bool(found()))
        if not found():
            what = "no board of this kind" if name is None else f"no board named {name}"
            raise LinkError(f"{what} is in range, switched on and free")
        await self.look(CHOICE_S, lambda: False)
        choice = found()
        addresses = {seen.address for seen in choice}
        if name is not None:
            addresses |= {other for other, known in self._names.items() if known == name}
        if len(addresses) > 1 or not choice:
            what = "boards of this kind are" if name is None else f"boards named {name} are"
            raise LinkError(
                f"{len(addresses)} {what} in range: {', '.join(sorted(addresses))}; "
                f'say which by port = "{ADDRESS}ADDRESS"'
            )
        return choice[0]

    async def _listen(self) -> None:
        """Scan until a connection is to be made, or nobody looks any more."""
        async with self._air:
            if self._to_connect:
                return
            self._pause.clear()
            # The phones of a hall come and go under ever new addresses.
            self._seen = {seen.address: seen for seen in self.seen(KNOWN_S)}
            scanner = BleakScanner(self._heard)
            async with asyncio.timeout(ANSWER_S):
                await self._watch()
                await scanner.start()
            self._scanning_since = asyncio.get_running_loop().time()
            try:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._pause.wait(), SEARCH_S)
            finally:
                self._scanning_since = float("inf")
                async with asyncio.timeout(ANSWER_S):
                    await scanner.stop()

    def _heard(self, device: BLEDevice, advertised: AdvertisementData) -> None:
        if advertised.rssi == _NOT_HEARD:
            return
        name = advertised.local_name or device.name or ""
        services = frozenset(uuid.lower() for uuid in advertised.service_uuids)
        now = asyncio.get_running_loop().time()
        self._seen[device.address] = Seen(device.address, name, services, advertised.rssi, now, device)
        if any(enough() for enough in self._seekers):
            self._pause.set()

    # --- the life of BlueZ ------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Stop watching over BlueZ."""
        if self._scan is not None:
            self._scan.cancel()
            await asyncio.gather(self._scan, return_exceptions=True)
        bus, self._bus = self._bus, None
        if bus is not None:
            bus.disconnect()
        for task in self._errands:
            task.cancel()

    async def _watch(self) -> None:
        """Hear of it when BlueZ goes away."""
        if self._bus is not None and self._bus.connected:
            return
        # What it says of a lost bus is said by the ports, in one line each.
        logging.getLogger("bleak").setLevel(logging.ERROR)
        bus = MessageBus(bus_type=BusType.SYSTEM)
        try:
            await bus.connect()
            bus.add_message_handler(self._told)
            rule = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'"
            await bus.call(
                Message(
                    destination="org.freedesktop.DBus",
                    path="/org/freedesktop/DBus",
                    interface="org.freedesktop.DBus",
                    member="AddMatch",
                    signature="s",
                    body=[rule],
                )
            )
        except BaseException:
            bus.disconnect()
            raise
        # Two ports may have come here at once.
        if self._bus is not None and self._bus.connected:
            bus.disconnect()
        else:
            self._bus = bus

    def _told(self, message: Message) -> None:
        if message.member == "NameOwnerChanged" and message.body[0] == "org.bluez" and not message.body[2]:
            self._seen.clear()
            task = asyncio.create_task(_forget())
            self._errands.add(task)
            task.add_done_callback(self._errands.discard)


async def _forget() -> None:
    """Take bleak's bus down, so that it gives up what a BlueZ that is gone has told it."""
    # Where the bus is down already, this is done already.
    with contextlib.suppress(*_TROUBLE):
        manager = await get_global_bluez_manager()
        if manager._bus is not None:
            manager._bus.disconnect()


class BlePort:
    """A device on Bluetooth Low Energy. See `gateway.drivers.Port`."""

    def __init__(self, target: str, matches: Iterable[Match], radio: Radio, owner: str, hear: Hear, lost: Lost) -> None:
        """Describe it.

        Args:
            target: ``ble:ADDRESS``, ``ble-name:NAME``, or ``ble:`` for the only one of its kind.
            matches: how such devices are made; the first whose characteristics are all there is used.
            radio: shared by all ports.
            owner: whose port it is, for people; no two ports share it.
            hear: takes what arrives.
            lost: takes why the device is gone.
        """
        self.target = target
        self._matches = tuple(match for match in matches if isinstance(match, Ble))
        self._radio = radio
        self._owner = owner
        self._hear = hear
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._client: BleakClient | None = None
        self._match: Ble | None = None
        self._address: str | None = None
        self._dropped = False
        self._open = False
        self._early: list[tuple[bytes, float, str]] | None = None
        """What came before the opener knows that the port is open."""
        self._unsent: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self._unsent_bytes = 0
        self._sending: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Find it, connect, and listen. Raises `LinkError` where that cannot be done now."""
        self._dropped = False
        self._early = []
        try:
            await self._connect()
        except _TROUBLE as error:
            await self.close()
            raise LinkError(f"{self.target}: {why_not(error)}") from error
        except BaseException:
            await self.close()
            raise
        self._open = True
        self._loop.call_soon(self._hand_over)
        self._sending = asyncio.create_task(self._send())

    async def close(self) -> None:
        """Disconnect; a port that is closed already is left so."""
        self._open = False
        sending, self._sending = self._sending, None
        if sending is not None:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        self._unsent = asyncio.Queue()
        self._unsent_bytes = 0
        client, self._client = self._client, None
        try:
            if client is not None:
                # A BlueZ that is gone, or hangs, cannot be told; bleak lets go of its own side all the same.
                with contextlib.suppress(*_TROUBLE):
                    async with asyncio.timeout(DISCONNECT_S):
                        await client.disconnect()
        finally:
            address, self._address = self._address, None
            if address is not None:
                self._radio.release(address, self._owner)

    def write(self, data: bytes, channel: str | None = None) -> None:
        """Send without waiting."""
        if not self._open or self._match is None:
            return
        self._unsent_bytes += len(data)
        if self._unsent_bytes > UNSENT_BYTES:
            self._fail("does not take what it is sent")
        else:
            self._unsent.put_nowait((channel or self._match.write, data))

    async def _connect(self) -> None:
        seen = await self._radio.find(self.target, self._owner, self._matches)
        self._radio.claim(seen, self._owner, self.target)
        self._address = seen.address
        client = self._client = await self._radio.connect(seen.device, self._drop)
        self._match = self._layout(client)
        async with asyncio.timeout(SUBSCRIBE_S):
            for uuid in self._match.notify:
                await client.start_notify(uuid, self._notified)
        if self._dropped:
            raise LinkError(f"{self.target}: the connection was lost at once")
        self._radio.follow(seen, self._owner, self.target)

    def _layout(self, client: BleakClient) -> Ble:
        """Which of the known layouts the device has."""
        has = {characteristic.uuid for characteristic in client.services.characteristics.values()}
        for match in self._matches:
            if {*match.notify, match.write} <= has:
                return match
        raise LinkError(f"{self.target} is not such a board: it lacks the characteristics")

    def _notified(self, characteristic: BleakGATTCharacteristic, data: bytearray) -> None:
        chunk = (bytes(data), self._loop.time(), characteristic.uuid)
        if self._early is not None:
            self._early.append(chunk)
        elif self._open:
            self._hear(*chunk)

    def _hand_over(self) -> None:
        early, self._early = self._early, None
        for chunk in early or ():
            if self._open:
                self._hear(*chunk)

    def _drop(self) -> None:
        self._dropped = True
        self._fail("lost the connection")

    async def _send(self) -> None:
        while True:
            channel, data = await self._unsent.get()
            try:
                await self._write(channel, data)
            except _TROUBLE as error:
                # Where it dropped meanwhile, that has been said.
                self._fail(f"does not take what it is sent: {why_not(error)}")
                return
            self._unsent_bytes -= len(data)

    async def _write(self, channel: str, data: bytes) -> None:
        assert self._client is not None
        assert self._match is not None
        characteristic = self._client.services.get_characteristic(channel)
        if characteristic is None:
            raise BleakError(f"there is no characteristic {channel}")
        ways = characteristic.properties
        response = "write" in ways if self._match.with_response else "write-without-response" not in ways
        size = characteristic.max_write_without_response_size
        for start in range(0, len(data), size):
            async with asyncio.timeout(WRITE_S):
                await self._client.write_gatt_char(characteristic, data[start : start + size], response=response)

    def _fail(self, why: str) -> None:
        if self._open:
            self._open = False
            self._lost(f"{self.target} {why}")


def _ended(scan: asyncio.Task[None]) -> None:
    """Those who looked know why; there may be none left."""
    if not scan.cancelled():
        scan.exception()


def why_not(error: BaseException) -> str:
    """Say in words a person can act on what is wrong."""
    match error:
        case BleakBluetoothNotAvailableError():
            return _UNAVAILABLE.get(error.reason, "Bluetooth cannot be used")
        case BleakDBusError():
            return _REFUSED.get(error.dbus_error, error.dbus_error_details or error.dbus_error)
        case BleakDeviceNotFoundError():
            return "it went away"
        case TimeoutError():
            return "no answer"
        case OSError() | EOFError() | DBusFastError():
            return "the system bus (D-Bus) cannot be reached"
        case BleakError():
            return str(error)
        case _:
            return "it went away"
