"""Titles, ratings and teams: read from what pairing programs export, and told in the tags."""

from __future__ import annotations

import io
from pathlib import Path

import chess.pgn
import pytest
from test_relay import Hall

from gateway.errors import ConfigError
from gateway.feed.players import Player, key, read
from gateway.feed.relay import Relay
from gateway.feed.settings import load
from gateway.feed.texts import Site, Writer

TABLE = "name,title,rating,fide_id,team\n"


def test_columns_come_in_any_order_and_others_are_left_alone() -> None:
    """Commas, semicolons or tabs; names without regard to case and spaces."""
    expected = {key("vos,  anna"): Player("WGM", "2301", "", "")}

    assert expected == read("Rating;No;Name;Title\n2301;7;Vos, Anna;WGM\n", "p.csv")
    assert expected == read("title\tname\trating\nWGM\tVos,Anna\t2301\n", "p.csv")
    assert expected == read('name,rating,title\n"Vos, Anna", 2301, WGM\n', "p.csv")


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("", "line 1: found no column `name`"),
        ("title,rating\nGM,2600\n", "line 1: found no column `name`"),
        (f'{TABLE}"Vos, Anna",,23oo,,\n', "line 2: rating: found '23oo'"),
        (f'{TABLE}"Vos, Anna",,,x7,\n', "line 2: fide_id: found 'x7'"),
        (f"{TABLE},GM,,,\n", "line 2: name: found none"),
        (f'{TABLE}"Vos, Anna",,,,\n"VOS,Anna",,,,\n', "line 3: name: found 'vos, anna' a second time"),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, mistake: str) -> None:
    """Before a round, and not in its third hour."""
    with pytest.raises(ConfigError, match=f"p.csv: {mistake}"):
        read(text, "p.csv")


def test_the_tags_of_a_game() -> None:
    """By PGN's names; who is not in the table has none."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay, white="Vos, Anna", black="Nobody", round="3", event="Open")
    hall.start(0)
    hall.move(5, "e4")
    relay.advance(1e12)
    site = Site(players=read(f'{TABLE}"Vos, Anna",WGM,2301,1234567,Utrecht\n', "p.csv"))
    game = chess.pgn.read_game(io.StringIO(Writer(site).texts(relay.games())["open/round-3/game-12.pgn"]))

    assert game is not None
    assert {"WhiteTitle": "WGM", "WhiteElo": "2301", "WhiteFideId": "1234567", "WhiteTeam": "Utrecht"} == {
        name: value for name, value in game.headers.items() if name.startswith(("White", "Black")) and len(name) > 5
    }


def test_draughts_have_a_rating() -> None:
    """PDN has no Elo."""
    relay = Relay(0, confirmed_only=True)
    Hall(relay, "draughts", white="Vos, Anna", round="3", event="Open").start(0)
    relay.advance(1e12)
    site = Site(players=read(f'{TABLE}"Vos, Anna",,1402,,\n', "p.csv"))
    text = Writer(site).texts(relay.games())["open/round-3/game-12.pdn"]

    assert '[WhiteRating "1402"]' in text
    assert "Elo" not in text


def test_the_file_is_named_in_the_configuration(tmp_path: Path) -> None:
    """Beside it; with its own mistakes, or if it is not there, the feed does not start."""
    config = tmp_path / "feed.toml"
    config.write_text('[mqtt]\n[feed]\ndir = "/srv/feed"\ndelay = 0\nplayers = "players.csv"\n')
    with pytest.raises(ConfigError, match=r"feed.players: found \"players.csv\""):
        load(config)
    (tmp_path / "players.csv").write_text(f"{TABLE},,,,\n")
    with pytest.raises(ConfigError, match=r"players.csv: line 2: name"):
        load(config)
    (tmp_path / "players.csv").write_text(f'\ufeff{TABLE}"Vos, Anna",WGM,,,\n', encoding="utf-8")

    assert {"vos, anna"} == set(load(config).players)
