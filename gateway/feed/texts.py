"""Games as files: which folder, which name, what is in it. Pure.

A round has a folder. In it is a file for each game, written as the gateway writes its own (a game with an illegal ply
or a position that was set goes on in a second part), and one for all games in the order of the tables. That one is
for programs, which refuse what PGN cannot say: each game is in it once, and stops before such a break.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gateway.feed.games import Game
from gateway.feed.players import Player, key
from gateway.record import Record

LIVE_S = 12 * 3600.0
"""A round without any change for so long before the newest one is not running any more."""

FORMS = ("pgn", "pdn")
_ASSIGNED = ("white", "black", "round")
"""Whose game is to be seen before its first move."""


@dataclass(frozen=True, slots=True)
class Site:
    """What tags say where no assignment does."""

    event: str | None = None
    site: str | None = None
    players: Mapping[str, Player] = field(default_factory=dict)
    """By `players.key`."""


@dataclass(frozen=True, slots=True)
class Written:
    """One game as text."""

    game: Game
    whole: str
    """With all parts."""
    main: str
    """One game only, up to the first break."""
    waits: str | None
    """Why `main` stops before the end, for the operator."""


def form(game: Game) -> str:
    """The ending of its files."""
    return "pdn" if game.record.game == "draughts" else "pgn"


def slug(text: str) -> str:
    """A name that every file system and web server takes: ``Open 2026, A`` is ``open-2026-a``."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60] or "unnamed"


def folder(game: Game, site: Site) -> str:
    """The folder of its round; of its day where no round is assigned."""
    event = slug(game.names["event"] or site.event or "games")
    number = game.names["round"]
    if number:
        return f"{event}/round-{slug(number)}"
    return f"{event}/{datetime.fromtimestamp(game.began, UTC):%Y-%m-%d}"


class Writer:
    """Writes games, each again only when it has changed."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._written: dict[Game, tuple[int, Written]] = {}

    def of(self, game: Game) -> Written:
        """The game as it is now."""
        known = self._written.get(game)
        if known is None or known[0] != game.version:
            known = self._written[game] = game.version, _written(game, self.site)
        return known[1]

    def texts(self, games: Iterable[Game]) -> dict[str, str]:
        """Every file of these games: path below the feed's folder, and what is in it."""
        games = [game for game in games if game.ply or game.over or any(game.names[key] for key in _ASSIGNED)]
        self._written = {game: known for game, known in self._written.items() if game in set(games)}
        folders: dict[str, list[Game]] = {}
        for game in games:
            folders.setdefault(folder(game, self.site), []).append(game)
        found: dict[str, str] = {}
        for name, members in folders.items():
            found |= self._folder(name, members)
        for ending in FORMS:
            running = [found[f"{name}/games.{ending}"] for name in live(folders) if f"{name}/games.{ending}" in found]
            if running:
                found[f"live/games.{ending}"] = "\n".join(running)
        return found

    def lists(self, games: Iterable[Game]) -> list[Written]:
        """The games that are told to programs, in the order of the tables: no game that was begun anew."""
        games = sorted(games, key=order)
        last = {game.table: game for game in games}
        return [self.of(game) for game in games if not _abandoned(game, last[game.table])]

    def _folder(self, name: str, games: list[Game]) -> dict[str, str]:
        found: dict[str, str] = {}
        listed = self.lists(games)
        for game in games:
            if all(written.game is not game for written in listed):
                found[f"{name}/abandoned-{_label(game)}.{form(game)}"] = self.of(game).whole
        count: dict[str, int] = {}
        for written in listed:
            game = written.game
            count[game.table] = count.get(game.table, 0) + 1
            label = _label(game) if not game.names["round"] else game.table
            more = f"-{count[game.table]}" if game.names["round"] and count[game.table] > 1 else ""
            found[f"{name}/game-{label}{more}.{form(game)}"] = written.whole
        for ending in FORMS:
            mains = [written.main for written in listed if form(written.game) == ending]
            if mains:
                found[f"{name}/games.{ending}"] = "\n".join(mains)
        return found


def order(game: Game) -> tuple[int, str, float]:
    """Tables by number, then by name; a table's games by time."""
    number = re.match(r"\d+", game.table)
    return int(number[0]) if number else 1 << 30, game.table, game.began


def live(folders: Mapping[str, list[Game]]) -> list[str]:
    """The folder of each event's newest round, where it is still running."""
    newest: dict[str, tuple[float, str]] = {}
    for name, games in folders.items():
        event = name.partition("/")[0]
        newest[event] = max(newest.get(event, (0.0, "")), (max(game.began for game in games), name))
    changed = {name: max(game.changed for game in folders[name]) for _, name in newest.values()}
    latest = max(changed.values(), default=0.0)
    return sorted(name for name, at in changed.items() if at >= latest - LIVE_S)


def _label(game: Game) -> str:
    return game.id or game.table


def _abandoned(game: Game, last: Game) -> bool:
    """In one round of names a game without result, after which another was begun at the same table."""
    return bool(game.names["round"]) and game is not last and game.result == "*"


# --- one game ---------------------------------------------------------------------------------------------------


def _written(game: Game, site: Site) -> Written:
    record = game.record
    record.tags = _tags(game, site)
    whole = _text(record, game.result)
    stop = _first_break(record)
    if stop is None:
        return Written(game, whole, whole, game.stuck)
    main, why = stop
    main.tags = record.tags
    return Written(game, whole, _text(main, game.result), why)


def _text(record: Record, result: str) -> str:
    return record.pdn(result) if record.game == "draughts" else record.pgn(result)


def _first_break(record: Record) -> tuple[Record, str] | None:
    """The record up to where no text of one game can follow, and why; None if there is no such place."""
    illegal = next((entry for entry in record.entries if not entry.move.legal), None)
    placed = next((step for step in record.placed if step.ply), None)
    start = record.placed[0] if record.placed and not record.placed[0].ply else None
    if illegal is None and placed is None and start is None:
        return None
    last = record.ply
    why = ""
    if illegal is not None:
        last = illegal.ply - 1
        why = f"waits at ply {illegal.ply}: {illegal.move.notation} is not legal and stands"
    if placed is not None and placed.ply <= last:
        last = placed.ply
        why = f"waits after ply {placed.ply}: another position was set"
    state = record.state()
    state["steps"] = [step for step in state["steps"] if "move" in step and step["move"]["ply"] <= last]
    if start is not None:
        state["start_fen"] = start.position.fen()
    return Record.restore(state), why


def _tags(game: Game, site: Site) -> dict[str, str]:
    names = game.names
    began = datetime.fromtimestamp(game.began, UTC)
    number = names["round"]
    if number and re.fullmatch(r"\d+", number) and re.fullmatch(r"\d+", game.table):
        number = f"{number}.{game.table}"
    tags = {
        "Event": names["event"] or site.event,
        "Site": site.site,
        "Date": f"{began:%Y.%m.%d}" if game.id else None,
        "Round": number,
        "White": names["white"],
        "Black": names["black"],
        "Board": game.table,
        **_of_player("White", names["white"], site, form(game)),
        **_of_player("Black", names["black"], site, form(game)),
        "TimeControl": names["time_control"] if names["time_control"] != "?" else None,
        "UTCDate": f"{began:%Y.%m.%d}" if game.id else None,
        "UTCTime": f"{began:%H:%M:%S}" if game.id else None,
        "GameId": game.id,
    }
    if game.over:
        if game.readings is not None:
            tags |= {"WhiteClock": _clock(game.readings.white), "BlackClock": _clock(game.readings.black)}
        tags["Termination"] = "unterminated" if game.result == "*" else "normal"
    return {name: value for name, value in tags.items() if value}


def _of_player(side: str, name: str | None, site: Site, ending: str) -> dict[str, str]:
    """Title, rating and the like, by the names that PGN and PDN have for them."""
    player = site.players.get(key(name or ""), Player())
    rating = "Rating" if ending == "pdn" else "Elo"
    return {
        f"{side}Title": player.title,
        f"{side}{rating}": player.rating,
        f"{side}FideId": player.fide_id,
        f"{side}Team": player.team,
    }


def _clock(seconds: float) -> str:
    whole = max(0, int(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
