"""Settings as frozen values, read from TOML. The only place where a setting gets its default.

`load` reads the hall's file (contract section 2), `table_from` one resolved [[table]] as a capture's header holds it,
and `table_to` writes that. All name every mistake at once: file, key path, what was found, what is allowed.

[rules] and [defaults] are read as layers under each [[table]]: keys of the nearer layer win, `enable` and `disable`
add up, and where they contradict each other the nearer layer wins too.
"""

from __future__ import annotations

import platform
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gateway.catalogue import CATALOGUE, Kind, Severity
from gateway.errors import ConfigError
from gateway.events import GameKind
from gateway.sections import Allowed, Section, one_of, shown
from gateway.settings import (
    BOARD_KEYS,
    CLOCK_KEYS,
    DEFAULTS_KEYS,
    GATEWAY_KEYS,
    HIGHEST_PORT,
    LANGUAGES,
    MQTT_KEYS,
    PORT,
    REGULATIONS,
    RULE_KEYS,
    RULES_KEYS,
    TABLE_KEYS,
    TLS_KEYS,
    WEB_KEYS,
    WEB_TLS_KEYS,
    Drivers,
    DriverSpec,
    options_of,
)

Orientation = Literal["auto", "normal", "rotated"]
WhiteSide = Literal["auto", "left", "right"]


@dataclass(frozen=True, slots=True)
class BoardConfig:
    """[table.board]"""

    driver: str
    port: str | None = None
    serial: str | None = None
    bus_address: int | None = None
    orientation: Orientation = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClockConfig:
    """[table.clock]"""

    driver: str = "board"
    """`board`, `none`, or a clock driver with a port of its own."""
    port: str | None = None
    white_side: WhiteSide = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RuleConfig:
    """[rules.ID]: what one irregularity's catalogue entry is overridden with."""

    debounce_s: float | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class RulesConfig:
    """[rules], merged with [table.rules]."""

    supervision: bool | None = None
    """None: true for standard, false for rapid and blitz."""
    guidelines_iii: bool = False
    minimum_moves: int = 0
    scores_kept: bool | None = None
    """None: true for standard, false for rapid and blitz."""
    accept_time_control: bool = False
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    kinds: Mapping[str, RuleConfig] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TableConfig:
    """One resolved [[table]]: [defaults] and [rules] merged in."""

    id: str
    game: GameKind
    board: BoardConfig
    clock: ClockConfig = ClockConfig()
    regulations: str = "fide-standard"
    time_control: str = "?"
    delay_style: Literal["wait", "bronstein"] = "wait"
    default_time: int | None = None
    """Minutes a player may come late; None: not said (0 in FIDE, 60 in FMJD)."""
    rules: RulesConfig = RulesConfig()


@dataclass(frozen=True, slots=True)
class TlsConfig:
    """[mqtt.tls]; present means TLS."""

    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None


@dataclass(frozen=True, slots=True)
class MqttConfig:
    """[mqtt]"""

    host: str = "localhost"
    port: int = 1883
    root: str = "hall"
    username: str | None = None
    password_file: Path | None = None
    commands: bool = True
    embedded: bool = False
    tls: TlsConfig | None = None


@dataclass(frozen=True, slots=True)
class WebTlsConfig:
    """[web.tls]; present means https."""

    cert_file: Path
    key_file: Path


@dataclass(frozen=True, slots=True)
class WebConfig:
    """[web]; present means that the arbiter's page is served."""

    listen: str = "127.0.0.1:8080"
    broker_url: str | None = None
    """The broker's websockets as a phone reaches them; None: beside the page, on port 9001."""
    tls: WebTlsConfig | None = None
    languages: tuple[str, ...] = LANGUAGES
    """Those to choose from; the first is for phones that speak none of them."""
    docs: bool = True
    """Serve the handbook too, where it is installed."""

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on; IPv6 without its brackets."""
        host, _, port = self.listen.rpartition(":")
        return host.strip("[]"), int(port)


@dataclass(frozen=True, slots=True)
class Config:
    """The whole file."""

    gateway: str
    state_dir: Path
    keep_hours: float
    mqtt: MqttConfig
    tables: tuple[TableConfig, ...]
    web: WebConfig | None = None
    metrics_file: Path | None = None
    """Where the health is written for Prometheus; None: nowhere."""


# --- what follows from them -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Effective:
    """How one kind of irregularity is treated at one table."""

    enabled: bool
    severity: Severity
    debounce_s: float


def effective(kind: Kind, rules: RulesConfig, game: GameKind, regulations: str) -> Effective:
    """Return the catalogue's values for this game, as far as the settings do not override them.

    Game and regulations are told apart from the table because an assignment may change them.
    """
    override = rules.kinds.get(kind.id, RuleConfig())
    return Effective(
        enabled=kind.applies(game, regulations)
        and kind.id not in rules.disable
        and (kind.enabled or kind.id in rules.enable),
        severity=override.severity or kind.severity_under(regulations),
        debounce_s=kind.debounce_under(regulations) if override.debounce_s is None else override.debounce_s,
    )


Layer = dict[str, Any]
"""What one [[table]], [defaults] or [rules] says, as far as it is right; nested like the file."""


# --- reading ----------------------------------------------------------------------------------------------------


def load(path: Path, drivers: Drivers, credentials: Path | None = None) -> Config:
    """Read the configuration.

    Args:
        path: the file.
        drivers: the known drivers by name.
        credentials: where names of secret files without a folder are looked up (systemd's $CREDENTIALS_DIRECTORY);
            without it, beside the configuration.

    Raises:
        OSError: the file cannot be read.
        ConfigError: it holds mistakes; all of them are named.
    """
    mistakes: list[str] = []

    def note(mistake: str) -> None:
        mistakes.append(f"{path}: {mistake}")

    try:
        top = Section(tomllib.loads(path.read_bytes().decode()), "", note)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError([f"{path}: found no valid TOML: {problem}"]) from problem
    top.read({}, tables=("gateway", "mqtt", "defaults", "table", "rules", "web"))
    gateway = top.table("gateway").read(GATEWAY_KEYS)
    config = Config(
        gateway=gateway.get("id") or _host_name(),
        state_dir=Path(gateway.get("state_dir", "/var/lib/board-gateway")),
        keep_hours=gateway.get("keep_hours", 24.0),
        mqtt=_mqtt(top.table("mqtt"), credentials or path.absolute().parent),
        tables=_tables(top, drivers),
        web=_web(top.table("web"), path.absolute().parent) if "web" in top else None,
        metrics_file=Path(gateway["metrics_file"]) if "metrics_file" in gateway else None,
    )
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    return config


def table_from(values: Mapping[str, Any], drivers: Drivers) -> TableConfig:
    """Read a resolved [[table]], as the header of a capture holds it; missing keys take their defaults.

    Raises:
        ConfigError: it holds mistakes; all of them are named.
    """
    mistakes: list[str] = []
    section = Section(values, "table", mistakes.append)
    table = _table(section, _layer(section, TABLE_KEYS), drivers)
    if mistakes or table is None:
        raise ConfigError(mistakes)
    return table


def table_to(table: TableConfig) -> dict[str, Any]:
    """Write a resolved [[table]]: plain values that `table_from` reads back; what was not said is left out."""
    rules: dict[str, Any] = {
        "supervision": table.rules.supervision,
        "guidelines_iii": table.rules.guidelines_iii,
        "minimum_moves": table.rules.minimum_moves,
        "scores_kept": table.rules.scores_kept,
        "accept_time_control": table.rules.accept_time_control,
        "enable": list(table.rules.enable),
        "disable": list(table.rules.disable),
    }
    for name, rule in table.rules.kinds.items():
        rules[name] = _said({"debounce_s": rule.debounce_s, "severity": rule.severity})
    board, clock = table.board, table.clock
    return {
        "id": table.id,
        "game": table.game,
        "regulations": table.regulations,
        "time_control": table.time_control,
        "delay_style": table.delay_style,
        **_said({"default_time": table.default_time}),
        "board": _said(
            {
                "driver": board.driver,
                "port": board.port,
                "serial": board.serial,
                "bus_address": board.bus_address,
                "orientation": board.orientation,
                "options": dict(board.options),
            }
        ),
        "clock": _said(
            {
                "driver": clock.driver,
                "port": clock.port,
                "white_side": clock.white_side,
                "options": dict(clock.options),
            }
        ),
        "rules": _said(rules),
    }


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is null or empty."""
    return {key: value for key, value in values.items() if value is not None and value not in ([], {})}


def _host_name() -> str:
    """Return the host name as far as it may be a gateway's id."""
    return re.sub(r"[^a-z0-9]+", "-", platform.node().lower()).strip("-")[:32] or "gateway"


def _mqtt(section: Section, folder: Path) -> MqttConfig:
    said = section.read(MQTT_KEYS, tables=("tls",))
    if said.get("embedded"):
        for key in ("host", "username", "password_file", "tls"):
            if key in section:
                section.mistake(key, "it beside embedded = true", "only one of the two: the private broker is local")
    tls = section.table("tls").read(TLS_KEYS)
    if "key_file" in tls and "cert_file" not in tls:
        section.table("tls").mistake("key_file", "it without cert_file", "both or neither")
    if "password_file" in said:
        said["password_file"] = folder / said["password_file"]
    return MqttConfig(
        **said, tls=TlsConfig(**{key: folder / name for key, name in tls.items()}) if "tls" in section else None
    )


def _web(section: Section, folder: Path) -> WebConfig:
    config = WebConfig(**section.read(WEB_KEYS, tables=("tls",)))
    if not config.languages:
        section.mistake("languages", "none", WEB_KEYS["languages"].words)
    if config.address[1] > HIGHEST_PORT:
        section.mistake("listen", shown(config.listen), WEB_KEYS["listen"].words)
    if "tls" not in section:
        return config
    tls = section.table("tls")
    said = tls.read(WEB_TLS_KEYS)
    for key in WEB_TLS_KEYS:
        if key not in tls:
            tls.mistake(key, "none", WEB_TLS_KEYS[key].words)
    if said.keys() != WEB_TLS_KEYS.keys():
        return config
    return replace(config, tls=WebTlsConfig(**{key: folder / name for key, name in said.items()}))


def _tables(top: Section, drivers: Drivers) -> tuple[TableConfig, ...]:
    """Read all tables, each over the common layers, and look for what two of them may not share."""
    common = _merged(
        {"rules": _rules(top.table("rules"))},
        _layer(top.table("defaults"), DEFAULTS_KEYS),
    )
    sections = top.tables("table", lambda n, values: shown(values["id"]) if "id" in values else str(n))
    if not sections and "table" not in top:
        top.mistake("table", "none", "one or more [[table]]")
    read = [(section, _table(section, _merged(common, _layer(section, TABLE_KEYS)), drivers)) for section in sections]
    _look_for_one_id_twice(sections)
    _look_for_one_board_twice([(section, table) for section, table in read if table is not None])
    return tuple(table for _, table in read if table is not None)


def _layer(section: Section, keys: Mapping[str, Allowed]) -> Layer:
    """Read one [[table]] or [defaults]; options are left for later, when the driver is known."""
    layer: Layer = section.read(keys, tables=("board", "clock", "rules"))
    for name, device_keys in (("board", BOARD_KEYS), ("clock", CLOCK_KEYS)):
        device = section.table(name)
        layer[name] = device.read(device_keys, tables=("options",))
        layer[name]["options"] = device.table("options").values
    layer["rules"] = _rules(section.table("rules"))
    return layer


def _rules(section: Section) -> Layer:
    """Read one [rules]; `enable` and `disable` become one mapping, so that layers add up."""
    layer: Layer = section.read(RULES_KEYS, CATALOGUE, "or an id of the catalogue of irregularities")
    enable, disable = layer.pop("enable", ()), layer.pop("disable", ())
    for name in enable:
        if name in disable:
            section.mistake("disable", f"{shown(name)}, which is in enable too", "only one of the two")
    layer["switched"] = {**dict.fromkeys(enable, True), **dict.fromkeys(disable, False)}
    layer["kinds"] = {name: section.table(name).read(RULE_KEYS) for name in CATALOGUE if name in section}
    return layer


def _merged(far: Layer, near: Layer) -> Layer:
    """Put the nearer layer over the farther one, table by table; another driver takes no options of the first."""
    merged = dict(far)
    if near.get("driver", far.get("driver")) != far.get("driver"):
        merged.pop("options", None)
    for key, value in near.items():
        merged[key] = _merged(merged.get(key, {}), value) if isinstance(value, dict) else value
    return merged


def _table(section: Section, layer: Layer, drivers: Drivers) -> TableConfig | None:
    """Turn the merged layers into a table, judging what only the whole can show; None where that is impossible."""
    said = {key: value for key, value in layer.items() if key in TABLE_KEYS}
    if "id" not in section:
        section.mistake("id", "none", TABLE_KEYS["id"].words)
    game: GameKind = said.setdefault("game", "chess")
    federation = "fmjd" if game == "draughts" else "fide"
    regulations = said.setdefault("regulations", f"{federation}-standard")
    game_is_wrong = "game" in section and "game" not in layer
    if not regulations.startswith(federation) and not game_is_wrong:
        fitting = ", ".join(name for name in REGULATIONS if name.startswith(federation))
        section.mistake("regulations", f"{shown(regulations)} with game {shown(game)}", fitting)
    board = _board(section.table("board"), layer["board"], game, drivers)
    clock = _clock(section.table("clock"), layer["clock"], drivers[board.driver] if board else None, drivers)
    if board is None or "id" not in said:
        return None
    return TableConfig(board=board, clock=clock, rules=_rules_config(layer["rules"]), **said)


def _board(section: Section, said: Layer, game: GameKind, drivers: Drivers) -> BoardConfig | None:
    boards = {name: spec for name, spec in drivers.items() if spec.device == "board"}
    spec = _spec(section, said, boards)
    if spec is None:
        return None
    if game not in spec.games:
        fitting = [name for name, other in boards.items() if game in other.games]
        section.mistake("driver", f"{shown(said['driver'])} with game {shown(game)}", ", ".join(fitting))
    if "bus_address" in said and not spec.bus:
        section.mistake("bus_address", f"it with driver {shown(said['driver'])}", "only for boards on a shared bus")
    options = Section(said["options"], section.at("options"), section.note).read(options_of(spec))
    return BoardConfig(**{**said, "options": options})


def _clock(section: Section, said: Layer, board: DriverSpec | None, drivers: Drivers) -> ClockConfig:
    """Read the clock; by default it is read through the board where the board can."""
    through_board = board is None or board.clock
    clocks = {name: spec for name, spec in drivers.items() if spec.device == "clock"}
    driver = said.setdefault("driver", "board" if through_board else "none")
    options: dict[str, Any] = {}
    if driver in ("board", "none"):
        if driver == "board" and not through_board:
            section.mistake(
                "driver", '"board", but no clock can be read through this board', ", ".join(["none", *clocks])
            )
        if "port" in said:
            section.mistake("port", f"it with driver {shown(driver)}", "only with a clock driver of its own")
    elif spec := _spec(section, said, clocks, "board", "none"):
        options = Section(said["options"], section.at("options"), section.note).read(options_of(spec))
        if "port" not in said:
            section.mistake("port", "none", PORT.words)
    return ClockConfig(**{**said, "options": options})


def _spec(section: Section, said: Layer, drivers: Drivers, *others: str) -> DriverSpec | None:
    """Return the named driver; a wrong or missing name is a mistake."""
    allowed = one_of((*others, *drivers))
    try:
        return drivers[allowed.read(said.get("driver"))]
    except ValueError as problem:
        found = shown(said["driver"]) if "driver" in said else "none"
        section.mistake("driver", found, str(problem) or allowed.words)
        return None


def _rules_config(said: Layer) -> RulesConfig:
    switched = said.pop("switched")
    return RulesConfig(
        **{
            **said,
            "enable": tuple(name for name, on in switched.items() if on),
            "disable": tuple(name for name, on in switched.items() if not on),
            "kinds": {name: RuleConfig(**rule) for name, rule in said["kinds"].items()},
        }
    )


def _look_for_one_id_twice(sections: Sequence[Section]) -> None:
    ids = [section.values.get("id") for section in sections]
    for place, section in enumerate(sections):
        if "id" in section and ids.index(ids[place]) < place:
            section.mistake("id", f"{shown(ids[place])} a second time", "each id once")


def _look_for_one_board_twice(tables: Sequence[tuple[Section, TableConfig]]) -> None:
    """Note boards that are not said, and boards that could not be told apart."""
    serials: dict[str, str] = {}
    ports: dict[str, dict[int | None, str]] = {}
    for section, table in tables:
        board, config = section.table("board"), table.board
        if config.port is None and config.serial is None and "port" not in board and "serial" not in board:
            board.mistake("port", "neither port nor serial", PORT.words)
        if config.serial is not None:
            serial = config.serial.lstrip("0")
            if serial in serials:
                board.mistake(
                    "serial", f"{shown(config.serial)}, the board of table {serials[serial]}", "another board"
                )
            serials.setdefault(serial, table.id)
        if config.port is not None:
            on_port = ports.setdefault(config.port, {})
            address = config.bus_address
            if on_port and (address is None or None in on_port or address in on_port):
                found = f"{'none' if address is None else address} on the port of table {', '.join(on_port.values())}"
                board.mistake("bus_address", found, "a bus address of its own for each table on that port")
            on_port.setdefault(address, table.id)
