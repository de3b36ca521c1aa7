"""Delay, corrections, gaps and restarts on virtual time: what may be read at which moment."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import chess
import chess.pgn
import pytest

from gateway import pdn
from gateway.draughts import Position
from gateway.feed.relay import Relay, is_of
from gateway.feed.texts import Site, Writer, folder, slug

T0 = datetime(2026, 5, 1, 10, tzinfo=UTC).timestamp()


class Hall:
    """A gateway in small: numbers events, and keeps what its `game` topic would hold."""

    def __init__(self, relay: Relay, game: str = "chess", table: str = "12", **names: str) -> None:
        self.relay = relay
        self.table = table
        self.kind = game
        self.names = {"white": None, "black": None, "event": None, "round": None, "time_control": "180+2", **names}
        self.seq = 0
        self.kept: list[bytes] = []
        self.lose = False
        """The next events do not arrive."""

    def event(self, at: float, kind: str, game_id: str | None = "g1", **more: Any) -> None:
        self.seq += 1
        stamp = datetime.fromtimestamp(T0 + at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = {"v": 1, "id": f"g.12.{self.seq}", "seq": self.seq, "time": stamp, "table": "12", "game_id": game_id}
        data = json.dumps({**event, "kind": kind, **more}).encode()
        if not self.lose:
            self.kept += self.relay.hear(self.table, f"event/{kind}", data, T0 + at)

    def start(self, at: float, game_id: str = "g1", start_fen: str | None = None) -> None:
        self.board = chess.Board(start_fen) if start_fen else chess.Board()
        self.moves: list[dict[str, Any]] = []
        self.start_fen = start_fen or self.board.fen()
        if self.kind == "draughts":
            self.start_fen = Position.start().fen()
        self.event(
            at, "game_started", game_id, game=self.kind, start_fen=self.start_fen, reason="command", **self.names
        )

    def move(self, at: float, san: str, confirm: bool = True, clock: float | None = 100.0) -> None:
        board, side = self.board, "white" if self.board.turn else "black"
        readings = None if clock is None else {"white": clock, "black": clock}
        try:
            move = board.parse_san(san)
            legal, notation, uci = True, board.san_and_push(move), move.uci()
        except ValueError:
            move = chess.Move.from_uci(san)
            legal, notation, uci = False, san, san
            board.set_piece_at(move.to_square, board.remove_piece_at(move.from_square))
            board.turn = not board.turn
            board.clear_stack()
        told = {"ply": len(self.moves) + 1, "side": side, "notation": notation, "uci": uci, "legal": legal}
        self.moves.append({**told, "confirmed": confirm, "clock": readings, "elapsed": 1})
        self.event(at, "move", **told, fen=board.fen(), source="board", clock=readings, elapsed=1)
        if confirm:
            self.event(at, "move_confirmed", ply=told["ply"], clock=readings)

    def retract(self, at: float, from_ply: int, reason: str = "correction") -> None:
        del self.moves[from_ply - 1 :]
        self.board = chess.Board(self.start_fen)
        for move in self.moves:
            self.board.push_uci(move["uci"])
        self.event(at, "move_retracted", from_ply=from_ply, reason=reason)

    def topic(self, at: float, retained: bool = False, game_id: str | None = "g1", **more: Any) -> None:
        stamp = datetime.fromtimestamp(T0 + at, UTC).isoformat().replace("+00:00", "Z")
        payload = {"v": 1, "time": stamp, "game_id": game_id, "game": self.kind, "phase": "play", **self.names}
        payload |= {"start_fen": getattr(self, "start_fen", None), "moves": getattr(self, "moves", [])}
        payload |= {"result": None, "reason": None, **more}
        self.kept += self.relay.hear(self.table, "game", json.dumps(payload).encode(), T0 + at, retained=retained)


def sans(relay: Relay) -> str:
    """The moves of the last game that may be read."""
    games = list(relay.games())
    return " ".join(entry.move.notation for entry in games[-1].record.entries) if games else ""


def read(relay: Relay, at: float) -> str:
    relay.advance(T0 + at)
    return sans(relay)


def shown(relay: Relay) -> dict[str, str]:
    return Writer(Site()).texts(relay.games())


def parsed(text: str) -> list[chess.pgn.Game]:
    file, found = io.StringIO(text), []
    while game := chess.pgn.read_game(file):
        found.append(game)
    return found


# --- delay ------------------------------------------------------------------------------------------------------


def test_delay_counts_from_the_event() -> None:
    """A move is read exactly so long after its own time, however late it arrived."""
    relay = Relay(60, confirmed_only=False)
    hall = Hall(relay)
    hall.start(0)
    hall.move(10, "e4")
    assert T0 + 60 == relay.deadline
    assert "" == read(relay, 69.999)
    assert "e4" == read(relay, 70)
    hall.move(20, "e5")
    relay.advance(T0 + 300)

    assert "e4 e5" == sans(relay)


def test_mistake_mended_in_time_is_never_seen() -> None:
    """A correction within the delay: the wrong move is at no moment in the text."""
    relay = Relay(60, confirmed_only=False)
    hall = Hall(relay)
    hall.start(0)
    hall.move(10, "e4")
    hall.move(20, "f5", confirm=False)
    hall.retract(20, 2)
    hall.move(20, "e5")
    seen = {read(relay, at) for at in range(0, 200)}

    assert {"", "e4", "e4 e5"} == seen


def test_correction_after_the_delay_reaches_the_text() -> None:
    """A command that changes moves of long ago rewrites them, in the file and in the lists."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay, round="3")
    hall.start(0)
    for at, san in enumerate(("e4", "e5", "Nf3"), 1):
        hall.move(at, san)
    assert "e4 e5 Nf3" == read(relay, 10)
    hall.retract(500, 2, "command")
    hall.move(500, "c5")
    relay.advance(T0 + 501)
    texts = shown(relay)

    assert ["games/round-3/game-12.pgn", "games/round-3/games.pgn", "live/games.pgn"] == sorted(texts)
    assert all("1. e4" in text and "c5" in text and "e5" not in text for text in texts.values())


def test_only_confirmed_moves() -> None:
    """A move that is only seen is not told; the end of the game tells it."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay)
    hall.start(0)
    hall.move(1, "e4")
    hall.move(2, "e5", confirm=False)
    assert "e4" == read(relay, 3)
    hall.event(4, "game_ended", result="1-0", reason="command", detail=None)

    assert "e4 e5" == read(relay, 5)


def test_seen_move_that_is_taken_back() -> None:
    """With confirmed moves only, a slide over another square leaves no trace."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay)
    hall.start(0)
    hall.move(1, "e3", confirm=False)
    hall.retract(1.2, 1, "slide")
    hall.move(1.2, "e4")

    assert "e4" == read(relay, 2)
    assert not relay.notes


# --- results ----------------------------------------------------------------------------------------------------


def test_result_is_superseded() -> None:
    """The later `game_ended` wins; a later move takes a result back."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay, round="1")
    hall.start(0)
    hall.move(1, "e4")
    hall.event(2, "clock", change="stopped", side="black", white=99.5, black=61, running="none")
    hall.event(2, "game_ended", result="1-0", reason="kings_signal", detail=None)
    relay.advance(T0 + 3)
    [game] = parsed(shown(relay)["live/games.pgn"])
    assert ("1-0", "0:01:39", "0:01:01", "normal") == tuple(
        game.headers[name] for name in ("Result", "WhiteClock", "BlackClock", "Termination")
    )
    hall.event(4, "game_ended", result="1/2-1/2", reason="command", detail="agreed")
    relay.advance(T0 + 5)
    assert "1/2-1/2" == parsed(shown(relay)["live/games.pgn"])[0].headers["Result"]
    hall.move(6, "e5")
    relay.advance(T0 + 7)
    [game] = parsed(shown(relay)["live/games.pgn"])

    assert ("*", "e5") == (game.headers["Result"], game.end().san())
    assert "Termination" not in game.headers


def test_tags() -> None:
    """Names and numbers are where the readers of broadcasts look for them."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay, white="Müller, Ann", black='O"Neil, B\\', event="Open 2026", round="3")
    hall.start(0)
    hall.move(1, "e4", clock=5399)
    relay.advance(T0 + 2)
    text = Writer(Site(site="Utrecht NED")).texts(relay.games())["open-2026/round-3/game-12.pgn"]

    assert (
        '[Event "Open 2026"]\n[Site "Utrecht NED"]\n[Date "2026.05.01"]\n[Round "3.12"]\n[White "Müller, Ann"]\n'
        '[Black "O\\"Neil, B\\\\"]\n[Result "*"]\n[Board "12"]\n[TimeControl "180+2"]\n[UTCDate "2026.05.01"]\n'
        '[UTCTime "10:00:00"]\n[GameId "g1"]\n\n1. e4 {[%clk 1:29:59]} *\n'
    ) == text


# --- what PGN cannot say ------------------------------------------------------------------------------------------


def test_illegal_ply() -> None:
    """The game's file goes on in a second part; the list stops before it, and says nothing of it."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay, round="1")
    hall.start(0)
    for at, san in enumerate(("e4", "e5", "d1d4", "Nc6", "Qxe5+"), 1):
        hall.move(at, san)
    relay.advance(T0 + 10)
    texts = shown(relay)
    parts = parsed(texts["games/round-1/game-12.pgn"])

    assert [["e4", "e5"], ["Nc6", "Qxe5+"]] == [[node.san() for node in part.mainline()] for part in parts]
    assert "Ply 3, d1d4 by white, is illegal and stands." in " ".join(texts["games/round-1/game-12.pgn"].split())
    assert [["e4", "e5"]] == [[node.san() for node in part.mainline()] for part in parsed(texts["live/games.pgn"])]
    assert "illegal" not in texts["live/games.pgn"]
    hall.retract(20, 3, "command")
    hall.move(20, "Nf3")
    relay.advance(T0 + 21)

    assert [["e4", "e5", "Nf3"]] == [
        [node.san() for node in part.mainline()] for part in parsed(shown(relay)["live/games.pgn"])
    ]


def test_position_that_was_set() -> None:
    """A gap: two parts in the game's file; from the start, the list begins there."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay, round="1")
    hall.start(0)
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    hall.event(1, "position_set", ply=0, fen=fen, reason="gap")
    hall.board = chess.Board(fen)
    hall.move(2, "e4")
    relay.advance(T0 + 3)
    [game] = parsed(shown(relay)["live/games.pgn"])

    assert (fen, "e4") == (game.headers["FEN"], game.end().san())
    hall.topic(4, retained=True)
    assert "e4" == read(relay, 5)


def test_draughts_with_an_illegal_ply() -> None:
    """PDN: the part before is read whole by a reader, and so is the part after."""
    relay = Relay(0, confirmed_only=False)
    hall = Hall(relay, game="draughts", round="1")
    hall.start(0)
    position = Position.start()
    for ply, (text, legal) in enumerate((("32-28", True), ("19-23", True), ("50-40", False)), 1):
        squares = [int(square) for square in text.split("-")]
        side = position.turn
        if legal:
            position = position.after(position.parse(text))
        else:
            pieces = position.pieces()
            pieces[str(squares[1])] = pieces.pop(str(squares[0]))
            position = Position.from_pieces(pieces, "black")
        hall.event(
            ply, "move", ply=ply, side=side, notation=text, squares=squares, captured=[], fen=position.fen(),
            legal=legal, source="board", clock=None, elapsed=1,
        )  # fmt: skip
    relay.advance(T0 + 10)
    texts = shown(relay)

    assert [2, 0] == [len(game.moves) for game in pdn.read(texts["games/round-1/game-12.pdn"])]
    [game] = pdn.read(texts["live/games.pdn"])
    assert (None, 2, "*") == (game.fault, len(game.moves), game.result)


# --- what is missing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("confirmed_only", [True, False])
def test_missing_events_are_made_up_for(confirmed_only: bool) -> None:
    """A gap in `seq` is told, and the next `game` payload brings the moves, also within the delay."""
    relay = Relay(60, confirmed_only=confirmed_only)
    hall = Hall(relay)
    hall.topic(-1, game_id=None)
    hall.start(0)
    hall.move(1, "e4")
    hall.lose = True
    hall.move(2, "e5")
    hall.lose = False
    hall.move(3, "Nf3")
    hall.topic(3)
    hall.move(4, "Nc6")
    assert ["table 12: events 4 to 5 are missing"] == relay.notes
    assert "e4" == read(relay, 62.9)
    assert "e4 e5 Nf3" == read(relay, 63)

    assert "e4 e5 Nf3 Nc6" == read(relay, 64)


def test_missing_events_with_the_payload_first() -> None:
    """The `game` topic is often faster than the journalled event: what came before the gap was noticed serves too."""
    relay = Relay(0, confirmed_only=False)
    hall = Hall(relay)
    hall.topic(-1, game_id=None)
    hall.start(0)
    hall.lose = True
    hall.move(1, "e4")
    hall.lose = False
    hall.move(2, "e5")
    relay.advance(T0 + 2)
    hall.topic(2)

    assert "e4 e5" == read(relay, 3)
    hall.move(4, "Nf3")
    assert "e4 e5 Nf3" == read(relay, 5)


def test_first_start_in_the_middle_of_a_game() -> None:
    """Nothing is kept: the retained topic says what the game is, events go on from there."""
    other = Hall(Relay(0, confirmed_only=False))
    other.start(0)
    other.move(1, "e4")
    relay = Relay(0, confirmed_only=True)
    other.relay = relay
    other.topic(1, retained=True)
    other.move(5, "e5")

    assert "e4 e5" == read(relay, 6)
    assert not relay.notes


def test_restart_goes_on_where_it_was() -> None:
    """Kept lines lead to the same texts; what waits still waits; what was missed comes late and out of time."""
    relay = Relay(60, confirmed_only=True)
    hall = Hall(relay, round="2", white="A", black="B")
    hall.topic(-5, game_id=None)
    hall.start(0)
    hall.move(10, "e4")
    hall.move(50, "e5")
    relay.advance(T0 + 71)
    before = shown(relay)
    again = Relay(60, confirmed_only=True)
    for line in [*hall.kept, b'["event","12",{"v":1,"ti']:
        again.recall(line)
    again.advance(T0 + 71)
    assert before == shown(again)
    assert ["a damaged line of the kept events is left out"] == again.notes
    hall.relay = again
    hall.topic(50, retained=True)
    assert "e4" == read(again, 109)
    assert "e4 e5" == read(again, 110)
    hall.move(60, "Nf3")

    assert "e4 e5 Nf3" == read(again, 120)


def test_events_twice_and_older_than_the_payload() -> None:
    """A reconnecting gateway publishes its state first, then the queued events, some of them again."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay)
    hall.topic(-1, game_id=None)
    hall.start(0)
    hall.move(1, "e4")
    sent = list(hall.kept)
    hall.lose = True
    hall.move(2, "d5")
    hall.retract(3, 2)
    hall.move(3, "e5")
    hall.lose = False
    hall.seq -= 5
    hall.topic(3, retained=True)
    relay.advance(T0 + 4)
    for line in sent:
        _, _, payload = json.loads(line)
        if "kind" in payload:
            assert [] == relay.hear("12", f"event/{payload['kind']}", json.dumps(payload).encode(), T0 + 5)
    hall.board = chess.Board(chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1").fen())
    hall.moves = hall.moves[:1]
    hall.move(2, "d5")
    hall.retract(3, 2)
    hall.move(3, "e5")

    assert "e4 e5" == read(relay, 6)
    assert not relay.notes


def test_stream_that_begins_anew() -> None:
    """A Pi was replaced by one that counts from 1: said, and gone on with."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay)
    hall.start(0)
    hall.move(1, "e4")
    hall.seq = 0
    hall.start(100, "g2")
    hall.event(101, "clock", "g2", change="started", side="white", white=5, black=5, running="white")

    assert "" == read(relay, 102)
    assert ["table 12: its events are counted from 1 anew"] == relay.notes
    assert ["g1", "g2"] == [game.id for game in relay.games()]


def test_nonsense_is_told_and_left_out() -> None:
    """What is no event changes nothing."""
    relay = Relay(0, confirmed_only=True)
    for data in (b"", b"{", b"[]", b"{}", b'{"time":"soon"}', b'{"time":"2026-05-01T10:00:00Z","seq":"x"}'):
        assert [] == relay.hear("1", "event/move", data, T0)
    relay.hear("1", "event/move", b'{"time":"2026-05-01T10:00:00Z","seq":1,"kind":"move","game_id":null}', T0)
    relay.advance(T0 + 1)

    assert [] == list(relay.games())


def test_clock_of_a_gateway_that_is_ahead() -> None:
    """Said once: with it every delay is wrong."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay)
    hall.relay.hear("12", "event/link", b'{"time":"2026-05-01T10:05:00Z","seq":1,"kind":"link"}', T0)
    hall.relay.hear("12", "event/link", b'{"time":"2026-05-01T10:05:01Z","seq":2,"kind":"link"}', T0)

    assert ["table 12: its gateway's clock is 300 s ahead; check the time"] == relay.notes


# --- folders ------------------------------------------------------------------------------------------------------


def two_tables(names: Iterable[tuple[str, dict[str, str]]]) -> Relay:
    relay = Relay(0, confirmed_only=False)
    for number, (table, assigned) in enumerate(names):
        hall = Hall(relay, table=table, **assigned)
        hall.start(number, f"{table}-g")
        hall.event(number, "game_ended", f"{table}-g", result="1-0", reason="command", detail=None)
    relay.advance(T0 + 100)
    return relay


def test_order_is_that_of_the_tables() -> None:
    """10 comes after 9."""
    texts = shown(two_tables((str(table), {"round": "1"}) for table in (10, 9, 1)))

    assert ["1", "9", "10"] == [game.headers["Board"] for game in parsed(texts["live/games.pgn"])]


def test_live_is_the_newest_round_of_each_event() -> None:
    """One address all day, for every event that is being played."""
    texts = shown(
        two_tables(
            [
                ("1", {"event": "A", "round": "1"}),
                ("2", {"event": "B", "round": "4"}),
                ("3", {"event": "A", "round": "2"}),
            ]
        )
    )

    assert [("A", "2.3"), ("B", "4.2")] == [
        (game.headers["Event"], game.headers["Round"]) for game in parsed(texts["live/games.pgn"])
    ]


def test_awaited_game_is_shown_with_its_names() -> None:
    """Before the round: tags and no move; the game that begins takes its place."""
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay, white="A", black="B", round="1")
    hall.topic(0, game_id=None, phase="setup")
    relay.advance(T0 + 1)
    [game] = parsed(shown(relay)["games/round-1/game-12.pgn"])
    assert ("A", "*") == (game.headers["White"], game.headers["Result"])
    hall.start(2)
    relay.advance(T0 + 3)

    assert 1 == len(parsed(shown(relay)["live/games.pgn"]))


def test_game_begun_anew_in_one_round() -> None:
    """The first, without result, leaves the lists and is still there by itself; a second with result is numbered."""
    relay = Relay(0, confirmed_only=False)
    hall = Hall(relay, round="1")
    for number, result in enumerate(("*", "1-0", "0-1")):
        hall.start(10 * number, f"12-g{number}")
        hall.event(10 * number + 5, "game_ended", f"12-g{number}", result=result, reason="command", detail=None)
    relay.advance(T0 + 100)
    texts = shown(relay)

    assert {
        "games/round-1/abandoned-12-g0.pgn", "games/round-1/game-12.pgn", "games/round-1/game-12-2.pgn",
        "games/round-1/games.pgn", "live/games.pgn",
    } == set(texts)  # fmt: skip
    assert ["1-0", "0-1"] == [game.headers["Result"] for game in parsed(texts["live/games.pgn"])]


def test_games_without_a_round_are_all_kept() -> None:
    """Nobody has assigned anything: a folder for the day, a file for each game."""
    relay = Relay(0, confirmed_only=False)
    hall = Hall(relay)
    for number in range(3):
        hall.start(10 * number, f"12-g{number}")
        hall.event(10 * number + 5, "game_ended", f"12-g{number}", result="*", reason="set_up_again", detail=None)
    relay.advance(T0 + 100)

    assert [f"games/2026-05-01/game-12-g{number}.pgn" for number in range(3)] == sorted(
        name for name in shown(relay) if "/game-" in name
    )


def test_names_of_folders() -> None:
    """No name leads out of the folder."""
    assert ["unnamed", "a-b", "open-2026-a", "uber", "unnamed"] == [
        slug(text) for text in ("../..", "A/../B", "Open 2026, A", "Über", "日本")
    ]
    relay = Relay(0, confirmed_only=True)
    hall = Hall(relay, event="../../etc", round="/x")
    hall.start(0)
    relay.advance(T0 + 1)

    assert ["etc/round-x"] == [folder(game, Site()) for game in relay.games()]


def test_what_is_still_needed() -> None:
    """Lines of games that are followed, and recent ones."""
    hall = Hall(Relay(0, confirmed_only=True))
    hall.start(0)

    assert [True, True, False] == [
        is_of(hall.kept[0], ids, T0 + at) for ids, at in (({"g1"}, 9), (set(), -9), (set(), 9))
    ]
    assert not is_of(b"rubbish", {"g1"}, 0)
