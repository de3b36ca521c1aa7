"""Settings as frozen values, read from TOML. The only place where a setting gets its default.

See contract section 2; `load` names every mistake at once (file, key path, what was found, what is allowed).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gateway.events import GameKind

Orientation = Literal["auto", "normal", "rotated"]
WhiteSide = Literal["auto", "left", "right"]
Severity = Literal["info", "notice", "alert"]


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
class Config:
    """The whole file."""

    gateway: str
    state_dir: Path
    keep_hours: float
    mqtt: MqttConfig
    tables: tuple[TableConfig, ...]
