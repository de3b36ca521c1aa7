"""The feed's own file: `[mqtt]` as a gateway's, `[feed]`, and `[feed.lichess]`. TOML, checked as a whole.

It is a file of its own because the feed belongs to the hall and not to a gateway: it usually runs beside the broker, on
a machine without a board, with an account that may only read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from gateway.config import MqttConfig, TlsConfig
from gateway.errors import ConfigError
from gateway.feed import players
from gateway.feed.players import Player
from gateway.sections import Section, number, one_of, shown, text
from gateway.settings import FILE, MQTT_KEYS, TLS_KEYS, WEB_KEYS

MQTT_READ: Final = {key: MQTT_KEYS[key] for key in ("host", "port", "root", "username", "password_file")}
FOLDER: Final = text('an absolute path such as "/srv/feed"', r"/[^\x00-\x1f]*")
FEED_KEYS: Final = {
    "id": text("1 to 32 of a-z 0-9 -", r"[a-z0-9-]{1,32}"),
    "dir": FOLDER,
    "state_dir": FOLDER,
    "delay": number(0, 60, "minutes, 0 to 60"),
    "moves": one_of(("confirmed", "seen")),
    "event": text("a text in quotes"),
    "site": text("a text in quotes"),
    "players": FILE,
    "listen": WEB_KEYS["listen"],
    "keep_days": number(1, 366, "days, 1 to 366"),
}
LICHESS_KEYS: Final = {
    "token_file": FILE,
    "url": text('an address such as "https://lichess.org"', r"https?://[^/\s]+"),
    "event": text("a text in quotes"),
}
ROUND_ID: Final = text("the 8 letters and digits at the end of the round's address, in quotes", r"[A-Za-z0-9]{8}")


@dataclass(frozen=True, slots=True)
class LichessConfig:
    """[feed.lichess]; present means that rounds are pushed."""

    token_file: Path
    rounds: Mapping[str, str]
    """Our round -> the id of the round at lichess."""
    url: str = "https://lichess.org"
    event: str | None = None
    """Only games of this event; None: all."""


@dataclass(frozen=True, slots=True)
class FeedConfig:
    """The whole file."""

    mqtt: MqttConfig
    dir: Path
    delay: float
    """Minutes."""
    id: str = "feed"
    state_dir: Path = Path("/var/lib/board-gateway-feed")
    moves: Literal["confirmed", "seen"] = "confirmed"
    event: str | None = None
    site: str | None = None
    players: Mapping[str, Player] = field(default_factory=dict)
    """What the file of that name says of each, by `players.key`."""
    listen: str | None = None
    keep_days: float = 7.0
    lichess: LichessConfig | None = field(default=None)

    @property
    def address(self) -> tuple[str, int] | None:
        """Host and port to listen on; None: no HTTP."""
        if self.listen is None:
            return None
        host, _, port = self.listen.rpartition(":")
        return host.strip("[]"), int(port)


def load(path: Path, credentials: Path | None = None) -> FeedConfig:
    """Read the feed's file.

    Args:
        path: the file.
        credentials: where secret files without a folder are looked up (systemd's $CREDENTIALS_DIRECTORY); without it,
            beside the file.

    Raises:
        OSError: it cannot be read.
        ConfigError: it holds mistakes; all of them are named.
    """
    mistakes: list[str] = []
    try:
        top = Section(tomllib.loads(path.read_bytes().decode()), "", lambda said: mistakes.append(f"{path}: {said}"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError([f"{path}: found no valid TOML: {problem}"]) from problem
    secrets = credentials or path.absolute().parent
    top.read({}, tables=("mqtt", "feed"))
    mqtt = _mqtt(top.table("mqtt"), secrets)
    section = top.table("feed")
    said = section.read(FEED_KEYS, tables=("lichess",))
    for key, why in (
        ("dir", FEED_KEYS["dir"].words),
        ("delay", "minutes, 0 to 60; it must be said, for 15 is the rule of many events, and 0 shows games at once"),
    ):
        if key not in section:
            section.mistake(key, "none", why)
    if "dir" in said and "state_dir" in said and Path(said["state_dir"]).is_relative_to(said["dir"]):
        section.mistake("state_dir", "a folder inside dir", "another one: it holds what may not be seen yet")
    lichess = _lichess(section.table("lichess"), secrets) if "lichess" in section else None
    if "players" in said:
        try:
            file = path.absolute().parent / said["players"]
            said["players"] = players.read(file.read_text(encoding="utf-8-sig"), str(file))
        except ConfigError as error:
            mistakes += error.mistakes
        except (OSError, UnicodeDecodeError) as error:
            section.mistake("players", shown(said["players"]), f"a file in UTF-8 that can be read ({error})")
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    for key in ("dir", "state_dir"):
        if key in said:
            said[key] = Path(said[key])
    return FeedConfig(mqtt=mqtt, lichess=lichess, **said)


def _mqtt(section: Section, secrets: Path) -> MqttConfig:
    said = section.read(MQTT_READ, tables=("tls",))
    tls = section.table("tls").read(TLS_KEYS)
    if "key_file" in tls and "cert_file" not in tls:
        section.table("tls").mistake("key_file", "it without cert_file", "both or neither")
    if "password_file" in said:
        said["password_file"] = secrets / said["password_file"]
    files = {key: secrets / name for key, name in tls.items()}
    return MqttConfig(**said, tls=TlsConfig(**files) if "tls" in section else None)


def _lichess(section: Section, secrets: Path) -> LichessConfig | None:
    said = section.read(LICHESS_KEYS, tables=("rounds",))
    rounds = section.table("rounds")
    ids = rounds.read(dict.fromkeys(rounds.values, ROUND_ID))
    if "token_file" not in section:
        section.mistake("token_file", "none", "the name of a file that holds the token")
    if not rounds.values:
        section.mistake("rounds", "none", 'a table such as "1" = "AbCdEfGh", one line for each round')
    url = urlsplit(said.get("url", "https://"))
    if url.scheme == "http" and url.hostname not in ("localhost", "127.0.0.1", "::1"):
        section.mistake("url", "http", "https, for the token goes with every push")
    if "token_file" not in said:
        return None
    return LichessConfig(**{**said, "token_file": secrets / said["token_file"]}, rounds=ids)
