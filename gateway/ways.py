"""The ways to a device: where it may be now, and the port of such a place, on whichever kind of link it hangs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gateway.drivers import Hear, Lost, Port, SerialSettings, hid, serial, uses_radio
from gateway.registry import Entry

if TYPE_CHECKING:
    from gateway.drivers.ble import Radio

Targets = Callable[[], list[str]]
"""Where the device may be now, the likeliest first."""
Make = Callable[[str, Hear, Lost], Port]
"""The port of one of these names, not yet opened."""


class Ways:
    """One for all ports of a process: they share what was found out about the computer, and the radio."""

    def __init__(self, listened_at: Callable[[], float] | None = None) -> None:
        """`listened_at`: what is read now cannot have been read before; None: everything is read at once."""
        self._listened_at = listened_at
        self._finder = serial.Finder()
        self._radio: Radio | None = None

    def to(
        self, entry: Entry, port: str | None, number: str | None, options: Mapping[str, Any], owner: str
    ) -> tuple[Targets, Make]:
        """How to reach a device.

        Args:
            entry: what kind of device it is.
            port: as configured.
            number: the serial number that it is looked for by, if any.
            options: the operator's own settings for it.
            owner: for people; no two ports share it.
        """
        if hid.is_meant(port):
            return lambda: hid.targets(port, entry.matches), hid.HidPort
        settings = serial.with_options(entry.serial or SerialSettings(), dict(options))
        radio = self._the_radio() if uses_radio(port, number, entry.matches) else None

        def targets() -> list[str]:
            found = self._finder.targets(port, number, entry.matches)
            return found if radio is None else found + radio.targets(port, number, entry.matches)

        def make(target: str, hear: Hear, lost: Lost) -> Port:
            if radio is not None and radio.owns(target):
                return radio.port(target, entry.matches, owner, hear, lost)
            return serial.port(target, settings, self._timed(hear), lost)

        return targets, make

    async def close(self) -> None:
        """Let go of the radio."""
        if self._radio is not None:
            await self._radio.close()

    def _timed(self, hear: Hear) -> Hear:
        return hear if self._listened_at is None else serial.bit_by_bit(hear, self._listened_at)

    def _the_radio(self) -> Radio:
        """Loaded where a device is on it only: 5 MB, 0.3 s."""
        from gateway.drivers import ble  # noqa: PLC0415

        self._radio = self._radio or ble.Radio()
        return self._radio
