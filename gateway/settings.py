"""What each key of the configuration may hold, and what must be known of a driver to judge its keys."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, Protocol, get_args

from gateway.catalogue import CATALOGUE, Severity
from gateway.events import GameKind
from gateway.sections import Allowed, boolean, integer, list_of, number, one_of, text
from gateway.time_control import TimeControl


class OptionSpec(Protocol):
    """One option that a driver declares."""

    @property
    def name(self) -> str:
        """Its key."""

    @property
    def default(self) -> bool | int | float | str:
        """Its value where nothing is said; the type of it is the type it must have."""

    @property
    def lowest(self) -> float | None:
        """The least that a number may be."""


class DriverSpec(Protocol):
    """What the configuration must know of a driver; the registry's entries are of this shape."""

    @property
    def device(self) -> Literal["board", "clock"]:
        """What it drives: a board, or a clock with a port of its own."""

    @property
    def games(self) -> Collection[str]:
        """The games that can be played on the board."""

    @property
    def clock(self) -> bool:
        """Whether a clock can be read through the board."""

    @property
    def bus(self) -> bool:
        """Whether several tables may share its port, each with its address."""

    @property
    def options(self) -> Iterable[OptionSpec]:
        """The keys of [table.board.options] or [table.clock.options]."""


Drivers = Mapping[str, DriverSpec]


REGULATIONS = ("fide-standard", "fide-rapid", "fide-blitz", "fmjd-standard", "fmjd-rapid", "fmjd-blitz")
LANGUAGES = ("en", "nl", "de", "fr")
"""Those that the page speaks."""
HIGHEST_PORT = 65535
HIGHEST_ADDRESS = 0x3FFF
"""Bus addresses have 14 bits."""

PORT = text(
    'a device such as "/dev/serial/by-id/usb-...", "socket://HOST:PORT", "usb:SERIAL", "hid:SERIAL",'
    ' "ble:AA:BB:CC:DD:EE:FF" or "ble-name:TEXT"',
    # `hid:` alone is the only such board there is.
    r"/.+|socket://(\[[0-9A-Fa-f:.]+\]|[^:/\s]+):\d{1,5}|(usb|ble-name):.+|hid:.*"
    r"|ble:[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}",
)
FILE = text("the name of a file")


def _time_control() -> Allowed:
    words = 'PGN notation such as "5400+30", "40/5400+30:1800+30", "5400d5", "-" (none) or "?" (unknown)'
    is_text = text(words)

    def read(value: Any) -> str:
        found = str(is_text.read(value))
        try:
            TimeControl.parse(found)
        except ValueError as problem:
            raise ValueError(f"{words} ({problem})") from problem
        return found

    return Allowed(words, read)


GATEWAY_KEYS = {
    "id": text("1 to 32 of a-z 0-9 -", r"[a-z0-9-]{1,32}"),
    "state_dir": text('an absolute path such as "/var/lib/board-gateway"', r"/[^\x00-\x1f]*"),
    "keep_hours": number(0, 24 * 366, "hours, 0 to 8784"),
    "metrics_file": text(
        'an absolute path such as "/var/lib/prometheus/node-exporter/gateway.prom"', r"/[^\x00-\x1f]*"
    ),
}
MQTT_KEYS = {
    "host": text("a host name or address", r"\S+"),
    "port": integer(1, HIGHEST_PORT),
    "root": text("a topic prefix without + and #", r"[^+#/\x00-\x1f]+(/[^+#/\x00-\x1f]+)*"),
    "username": text("a user name"),
    "password_file": FILE,
    "commands": boolean(),
    "embedded": boolean(),
}
TLS_KEYS = {"ca_file": FILE, "cert_file": FILE, "key_file": FILE}
WEB_KEYS = {
    "listen": text(
        'an address and a port such as "127.0.0.1:8080", "0.0.0.0:8080" or "[::]:8080"',
        r"(\[[0-9A-Fa-f:.]+\]|[^:/\s\[\]]+):\d{1,5}",
    ),
    "languages": list_of(LANGUAGES, f"a list of {', '.join(LANGUAGES)}"),
    "docs": boolean(),
    "broker_url": text('a websocket address such as "wss://broker.hall.lan:9001"', r"wss?://[^/\s]+(/\S*)?"),
}
WEB_TLS_KEYS = {"cert_file": FILE, "key_file": FILE}
TABLE_KEYS = {
    "id": text("1 to 32 of A-Z a-z 0-9 _ - in quotes", r"[A-Za-z0-9_-]{1,32}"),
    "game": one_of(get_args(GameKind)),
    "regulations": one_of(REGULATIONS),
    "time_control": _time_control(),
    "delay_style": one_of(("wait", "bronstein")),
    "default_time": integer(0, 24 * 60, "minutes, 0 to 1440"),
}
DEFAULTS_KEYS = {key: allowed for key, allowed in TABLE_KEYS.items() if key != "id"}
BOARD_KEYS = {
    "driver": text("the name of a driver"),
    "port": PORT,
    "serial": text("the board's serial number in quotes"),
    "bus_address": integer(0, HIGHEST_ADDRESS),
    "orientation": one_of(("auto", "normal", "rotated")),
}
CLOCK_KEYS = {
    "driver": text("the name of a driver"),
    "port": PORT,
    "white_side": one_of(("auto", "left", "right")),
}
RULES_KEYS = {
    "supervision": boolean(),
    "guidelines_iii": boolean(),
    "minimum_moves": integer(0, 1000),
    "scores_kept": boolean(),
    "accept_time_control": boolean(),
    "enable": list_of(CATALOGUE, "a list of ids of the catalogue of irregularities"),
    "disable": list_of(CATALOGUE, "a list of ids of the catalogue of irregularities"),
}
RULE_KEYS = {
    "debounce_s": number(0, 3600, "seconds, 0 to 3600"),
    "severity": one_of(get_args(Severity)),
}


def options_of(spec: DriverSpec) -> dict[str, Allowed]:
    """Return what each option of the driver may hold."""
    return {option.name: _option(option.default, option.lowest) for option in spec.options}


def _option(default: bool | int | float | str, lowest: float | None) -> Allowed:
    least = -math.inf if lowest is None else lowest
    bound = "" if lowest is None else f", {lowest:g} or more"
    match default:
        case bool():
            return boolean()
        case int():
            return integer(least, math.inf, f"a whole number{bound}")
        case float():
            return number(least, math.inf, f"a number{bound}")
        case str():
            return text("a text in quotes")
