"""Pushing to lichess: when, what its answers mean, and against a server that checks as the real one does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from standin import Lichess
from test_relay import T0, Hall

from gateway.feed.lichess import Answer, Schedule, post
from gateway.feed.relay import Relay
from gateway.feed.texts import Site, Writer

OK = Answer(200, b'{"games":[{"tags":{},"moves":1}]}')


@pytest.fixture
def lichess() -> Iterator[Lichess]:
    server = Lichess()
    yield server
    server.stop()


def text(*moves: str, tables: int = 1) -> str:
    relay = Relay(0, confirmed_only=False)
    for table in range(1, tables + 1):
        hall = Hall(relay, table=str(table), round="1", white=f"White, {table}", black="B")
        hall.start(0, f"{table}-g")
        for at, move in enumerate(moves, 1):
            hall.event(at, "link", device="board", state="up", detail=None)
            board = hall.board
            parsed = board.parse_san(move) if not move[0].isdigit() else None
            assert parsed is not None
            told = {"ply": at, "side": "white" if board.turn else "black", "uci": parsed.uci()}
            told |= {"notation": board.san_and_push(parsed), "legal": True, "fen": board.fen()}
            hall.event(at, "move", f"{table}-g", **told, source="board", clock=None, elapsed=1)
    relay.advance(T0 + 100)
    return Writer(Site()).texts(relay.games())["live/games.pgn"]


# --- when ---------------------------------------------------------------------------------------------------------


def test_push_follows_a_change_by_two_seconds() -> None:
    """Several changes within them go together."""
    schedule = Schedule()
    assert schedule.ready(0) is None
    schedule.show("a", 10)
    schedule.show("b", 11)

    assert (None, "b") == (schedule.ready(11.9), schedule.ready(12))


def test_push_in_full_every_minute() -> None:
    """Nothing has changed, but what lichess has may have been changed there."""
    schedule = Schedule()
    schedule.show("a", 0)
    assert [] == schedule.answered("a", OK, 2)

    assert (None, "a") == (schedule.ready(61.9), schedule.ready(62))


def test_change_during_a_push() -> None:
    """What has come meanwhile is pushed next."""
    schedule = Schedule()
    schedule.show("a", 0)
    schedule.show("b", 2.5)
    schedule.answered("a", OK, 3)

    assert (None, "b") == (schedule.ready(4.9), schedule.ready(5))


def test_too_many_requests() -> None:
    """A minute of silence, and nothing is lost."""
    schedule = Schedule()
    schedule.show("a", 0)

    assert ["too many requests; waits 60 s"] == schedule.answered("a", Answer(429), 2)
    schedule.show("b", 5)
    assert (None, "b") == (schedule.ready(61.9), schedule.ready(62))


def test_no_answer_is_tried_again_ever_slower() -> None:
    """5, 10, 20, 40, 60, 60 s; said once."""
    schedule = Schedule()
    schedule.show("a", 0)
    at, pauses, said = 2.0, [], []
    for _ in range(6):
        said += schedule.answered("a", Answer(0, reason="no route"), at)
        pauses.append(schedule.not_before - at)
        at = schedule.not_before

    assert [5, 10, 20, 40, 60, 60] == pauses
    assert ["no answer: no route"] == said
    assert ["all is well again"] == schedule.answered("a", OK, at)


def test_each_error_is_told_once() -> None:
    """The game by its players, and when it is mended."""
    schedule = Schedule()
    bad = Answer(200, b'{"games":[{"tags":{"White":"A","Black":"B"},"error":"Cannot play Ke9"}]}')

    assert ["A - B: Cannot play Ke9"] == schedule.answered("a", bad, 0)
    assert [] == schedule.answered("a", bad, 60)
    assert ["all is well again"] == schedule.answered("a", OK, 120)


# --- against the stand-in -----------------------------------------------------------------------------------------


def test_round_is_pushed(lichess: Lichess) -> None:
    """All games are taken, and a correction of one replaces it there."""
    answer = post(lichess.url, "AbCdEfGh", lichess.token, text("e4", "e5", tables=3))
    assert [] == Schedule().answered("", answer, 0)
    post(lichess.url, "AbCdEfGh", lichess.token, text("e4", "c5", "Nf3", tables=3))

    assert ["1-g", "2-g", "3-g"] == sorted(lichess.games)
    assert {"e4 c5 Nf3"} == {" ".join(node.san() for node in game.mainline()) for game in lichess.games.values()}


@pytest.mark.parametrize(
    ("token", "round_id", "said"),
    [
        ("wrong", "AbCdEfGh", "refused with 401: the token is not valid; make one with the scope study:write"),
        ("lip_secret", "00000000", "refused with 404: lichess knows no such round"),
    ],
)
def test_refusals(lichess: Lichess, token: str, round_id: str, said: str) -> None:
    """What a person must mend is told in words, and not asked again at once."""
    schedule = Schedule()

    assert [said] == schedule.answered("a", post(lichess.url, round_id, token, text("e4")), 0)
    assert 300 == schedule.not_before


def test_round_with_a_source(lichess: Lichess) -> None:
    """Lichess answers 200 all the same; it is told."""
    lichess.upstream = True
    answer = post(lichess.url, "AbCdEfGh", lichess.token, text("e4"))

    assert ["The relay has an upstream URL, and cannot be pushed to."] == Schedule().answered("a", answer, 0)


def test_no_redirect_is_followed(lichess: Lichess) -> None:
    """The token would go with it."""
    lichess.say = [302]
    answer = post(lichess.url, "AbCdEfGh", lichess.token, text("e4"))

    assert 302 == answer.status
    assert 1 == len(lichess.requests)


def test_nobody_there() -> None:
    """No exception."""
    answer = post("http://127.0.0.1:9", "AbCdEfGh", "t", "x")

    assert 0 == answer.status
    assert answer.reason
