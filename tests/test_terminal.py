"""The view of a hall in the terminal: messages in, lines out, and on a real terminal nothing left behind."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from brokers import Mosquitto

from gateway.cli import main
from gateway.terminal.render import Frame, render
from gateway.terminal.screen import look
from gateway.terminal.squares import chess_pieces, draughts_pieces, rows
from gateway.terminal.text import Line, Look, width_of
from gateway.terminal.view import Hall
from gateway.terminal.words import event_text, game_text, move_text, reading

NOW = 1_780_000_000.0
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
FRAME = Frame("board-gateway watch", "broker:1883", ("q quits",))
PLAIN = Look(colour=False)


def stamp(at: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
    return f"{whole}.{round(at % 1 * 1000):03d}Z"


class Teller:
    """Tells a hall what a gateway would."""

    def __init__(self) -> None:
        self.hall = Hall(at=NOW)
        self.hall.connected(NOW)
        self.at = NOW

    def say(self, topic: str, retained: bool = False, **payload: Any) -> None:
        message = json.dumps({"v": 1, "time": stamp(self.at), **payload}).encode()
        self.hall.hear(f"hall/{topic}", message, retained, self.at)

    def event(self, table: str, kind: str, **keys: Any) -> None:
        branch = "arbiter" if kind in ("alert", "command") else "table"
        self.say(f"{branch}/{table}/event/{kind}", kind=kind, table=table, **keys)

    def table(self, name: str, **game: Any) -> None:
        """A table in play, with everything that is retained of it."""
        self.say("gateway/pi-a/status", state="online")
        self.say(f"table/{name}/link", board="up", clock="up", gateway="pi-a", detail=None, since=None)
        self.say(f"table/{name}/position", fen=f"{START} w KQkq - 0 1")
        self.clock(name, running="white")
        values = {"game": "chess", "phase": "play", "regulations": "fide-blitz", "time_control": "180+2", "moves": []}
        self.say(f"table/{name}/game", **values | {"white": "Vos, Anna", "black": "Kuiper, Ben"} | game)
        self.say(f"arbiter/{name}/alerts", alerts=[])
        self.say(f"arbiter/{name}/board", physical=START, differs=[])

    def clock(self, name: str, **keys: Any) -> None:
        values = {"white": 171.0, "black": 3720.0, "running": "none", "flags": []}
        self.say(f"table/{name}/clock", **values | keys)

    def alert(self, name: str, message: str, severity: str = "alert") -> None:
        alert = {"alert_id": "g.1.a1", "irregularity": "illegal_move", "severity": severity, "message": message}
        self.event(name, "alert", state="raised", **alert)
        self.say(f"arbiter/{name}/alerts", alerts=[{**alert, "since": stamp(self.at)}])

    def clear(self, name: str, message: str, severity: str = "alert") -> None:
        alert = {"alert_id": "g.1.a1", "irregularity": "illegal_move", "severity": severity, "message": message}
        self.event(name, "alert", state="cleared", **alert)
        self.say(f"arbiter/{name}/alerts", alerts=[])

    def later(self, seconds: float) -> None:
        self.at += seconds
        self.hall.at = self.at

    def screen(self, width: int = 80, height: int = 24, look: Look = PLAIN) -> str:
        return "\n".join(render(self.hall, FRAME, width, height, look))


@pytest.fixture
def teller() -> Teller:
    made = Teller()
    made.table("1")
    return made


MOVES = [
    {"ply": 1, "side": "white", "notation": "e4", "uci": "e2e4", "legal": True, "confirmed": True},
    {"ply": 2, "side": "black", "notation": "e5", "uci": "e7e5", "legal": True, "confirmed": False},
]


# --- what is shown -----------------------------------------------------------------------------------------------


def test_a_table_is_a_card(teller: Teller) -> None:
    """Game, players, clocks with a mark at the one that runs, the board, the moves, and which are only seen."""
    teller.table("1", moves=MOVES)
    screen = teller.screen()

    for text in ("1 blitz 3+2", "Kuiper, Ben", "1:02:00", "♜ ♞ ♝ ♛ ♚ ♝ ♞ ♜", "Vos, Anna", "▸2:51", "1.e4", "1...e5"):
        assert text in screen
    assert re.search(r"1\.\.\.e5 +seen", screen)
    assert "nothing: no table needs a person" in screen
    assert "all well" in screen


def test_an_alert_is_told_in_words_with_its_age(teller: Teller) -> None:
    """Table, sentence and age; the card bears the sign and a word; the header counts."""
    teller.alert("1", "Table 1: White made an illegal move, c1g4, and completed it.")
    teller.later(4.0)
    screen = teller.screen()

    assert re.search(r"▲ 1  White made an illegal move, c1g4, and completed it\. +0:04", screen)
    assert re.search(r"1 blitz 3\+2 +▲ come", screen)
    assert "▲1" in screen.splitlines()[0]


def test_what_is_gone_is_told_for_a_while(teller: Teller) -> None:
    """Somebody may be on his way; after half a minute it is only history."""
    teller.alert("1", "Table 1: A piece stands elsewhere.", "notice")
    teller.later(14.0)
    teller.clear("1", "Table 1: A piece stands elsewhere.", "notice")

    assert re.search(r"1  gone: A piece stands elsewhere\. +after 0:14", teller.screen())
    teller.later(31.0)
    assert "gone: A piece" not in teller.screen()


def test_graver_and_older_come_first(teller: Teller) -> None:
    """An arbiter reads from the top."""
    for name, severity in (("3", "notice"), ("4", "alert"), ("5", "alert")):
        teller.table(name)
        teller.alert(name, f"Table {name}: something.", severity)
        teller.later(1.0)

    assert ["4", "5", "3"] == [table.id for table, _ in teller.hall.open_alerts()]


def test_a_stale_clock_says_its_age(teller: Teller) -> None:
    """A running clock is told every second; after three without it is no longer shown as live."""
    teller.later(2.0)
    assert "ago" not in teller.screen()
    teller.later(7.0)
    assert "clock of 0:09 ago" in teller.screen()


def test_without_a_broker_nothing_looks_live(teller: Teller) -> None:
    """No broker is never no alerts."""
    teller.hall.lost("connection refused", teller.at)
    teller.later(12.0)
    screen = teller.screen()

    assert "✕ no broker 0:12: connection refused" in screen
    assert "alerts are not heard" in screen
    assert "all well" not in screen
    assert "✕ not heard" in screen


def test_an_account_without_alerts_is_told_so() -> None:
    """A spectator's account sees no alerts, which is not that there are none."""
    teller = Teller()
    teller.say("table/1/link", board="up", clock="up", gateway="pi-a")
    teller.later(3.0)
    screen = teller.screen()

    assert "this account is not shown alerts" in screen
    assert "no table needs a person" not in screen


def test_a_gateway_that_is_gone_takes_its_tables(teller: Teller) -> None:
    """Its Last Will says so; so does a board that is unplugged."""
    teller.say("gateway/pi-a/status", state="offline")
    assert "gateway pi-a gone" in teller.screen(100)
    teller.say("gateway/pi-a/status", state="online")
    teller.say("table/1/link", board="down", clock="down", gateway="pi-a", detail="does not answer")
    assert "board down: does not answer" in teller.screen(100)


def test_the_board_is_marked_where_it_differs(teller: Teller) -> None:
    """Only while somebody is called for it: a piece in the hand differs too. Without colours the mark is a sign."""
    teller.say("arbiter/1/board", physical=START, differs=["h1"])
    assert "♖!" not in teller.screen()
    teller.alert("1", "Table 1: The board differs from the game on h1.")
    assert "♖!" in teller.screen()
    assert "48;5;166m♜ " in "".join(render(teller.hall, FRAME, 80, 24, Look()))


def test_a_result_is_told(teller: Teller) -> None:
    """With what ended the game."""
    teller.table("1", phase="ended", result="0-1", reason="kings_signal")

    assert "0-1 by the kings" in teller.screen()


# --- how it is laid out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (79, 20), (40, 10), (20, 5), (10, 2), (1, 1)])
@pytest.mark.parametrize("count", [0, 1, 4, 61])
def test_the_screen_is_filled_exactly(size: tuple[int, int], count: int) -> None:
    """Whatever there is to show and wherever: so many lines of so many columns."""
    teller = Teller()
    for number in range(count):
        teller.table(str(number), moves=MOVES * 20, game="draughts" if number == 3 else "chess")
        teller.alert(str(number), f"Table {number}: {'A long sentence. ' * 8}")
    width, height = size
    for style in (PLAIN, Look(False, False)):
        lines = render(teller.hall, FRAME, width, height, style)

        assert [width] * height == [width_of(line) for line in lines]


def test_a_large_hall_is_a_list() -> None:
    """A line for each table, in the order of their numbers; what does not fit is counted."""
    teller = Teller()
    for number in range(60, 0, -1):
        teller.table(str(number), moves=MOVES)
    lines = teller.screen(100, 70).splitlines()
    found = [int(match[1]) for line in lines if (match := re.match(r" +(\d+) blitz 3\+2", line))]

    assert list(range(1, 61)) == found
    assert re.search(r"and \d+ more tables", teller.screen(100, 40))


def test_all_that_is_hidden_is_counted() -> None:
    """An alert may be below the edge, but never unsaid."""
    teller = Teller()
    for number in range(1, 31):
        teller.table(str(number))
        teller.alert(str(number), f"Table {number}: something.")
    screen = teller.screen()

    assert "▲30" in screen
    shown = len(re.findall(r"▲ \d+  something", screen))
    assert f"and {30 - shown} more" in screen


def test_wide_cards_have_their_moves_beside_the_board(teller: Teller) -> None:
    """A move of each side to a line."""
    teller.table("1", moves=[*MOVES, {"ply": 3, "side": "white", "notation": "Nf3", "uci": "g1f3"}])

    assert re.search(r"♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖ +1\.e4 e5", teller.screen(60, 40))


# --- what comes from elsewhere -----------------------------------------------------------------------------------


def test_orders_to_the_terminal_are_shown_and_not_obeyed(teller: Teller) -> None:
    """A name is from anybody."""
    teller.table("1", white="\x1b[2J\x07evil", moves=MOVES)
    teller.event("1", "command", command="\x1b]0;x", by="\x9b31m", ok=True, error=None)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", teller.screen(120, 40))


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        ("hall/table/1/clock", b"nonsense"),
        ("hall/table/1/clock", b'{"white":"late"}'),
        ("hall/table/1/game", b'{"moves":[{"ply":"x"}]}'),
        ("hall/table/1/event/move", b"[]"),
        ("hall/table/1/event/move", b'{"kind":"move"}'),
        ("hall/arbiter/1/alerts", b'{"alerts":[7]}'),
        ("hall/gateway/pi-a/status", b"\xff"),
    ],
)
def test_strange_messages_are_counted_and_let_be(teller: Teller, topic: str, payload: bytes) -> None:
    """Another program may publish there too."""
    before = teller.screen()
    teller.hall.hear(topic, payload, False, teller.at)

    assert 1 == teller.hall.strange
    assert before == teller.screen()


def test_other_topics_are_let_be(teller: Teller) -> None:
    """Texts, replies, health: nothing that a screen shows."""
    for topic in ("hall/table/1/pgn", "hall/arbiter/1/reply", "hall/gateway/pi-a/health", "other/table/1/clock"):
        teller.hall.hear(topic, b"1. e4", False, teller.at)

    assert 0 == teller.hall.strange


def test_ages_are_told_by_the_gateways_clock(teller: Teller) -> None:
    """Our own may be wrong by hours."""
    teller.hall.hear(
        "hall/table/1/event/clock",
        json.dumps(
            {"kind": "clock", "table": "1", "time": stamp(NOW), "change": "set", "side": None, "white": 1, "black": 1}
        ).encode(),
        False,
        NOW + 7200,
    )

    assert 5.0 == pytest.approx(teller.hall.age(stamp(NOW - 5.0)))


# --- pieces and words --------------------------------------------------------------------------------------------


def test_positions_are_read() -> None:
    """As the contract writes them, unknown pieces and light squares too."""
    assert {"e1": "K", "a8": "r", "h8": "?"} == chess_pieces("r6?/8/8/8/8/8/8/4K3")
    assert {"31": "w", "46": "W", "1": "b", "5": "B"} == draughts_pieces("W:W31,K46:B1,K5")
    assert {"31": "w", "2": "?"} == draughts_pieces("W31,b1:B:?2")


def test_a_draughts_board_begins_at_the_far_left() -> None:
    """1 is the second square of the first row, 46 the first of the last."""
    lines = [line.render(PLAIN) for line in rows("W46:B1", True, (), (), PLAIN)]

    assert "  ● " == lines[0][:4]
    assert "○ " == lines[9][:2]


def test_a_terminal_without_signs_or_colours() -> None:
    """NO_COLOR, the console of a Pi, an encoding from another time."""
    assert Look(False, True) == look({"TERM": "xterm", "NO_COLOR": "1"}, "utf-8")
    assert Look(True, False) == look({"TERM": "linux"}, "UTF-8")
    assert Look(True, False) == look({"TERM": "xterm"}, "ANSI_X3.4-1968")
    teller = Teller()
    teller.table("1", moves=MOVES)
    teller.alert("1", "Table 1: something.")
    assert teller.screen(look=Look(False, False)).isascii()


def test_wide_characters_are_counted() -> None:
    """A name may be written in any script."""
    assert "李 " == Line().add("李明").fit(3).render(PLAIN)


TIMES = {"white": 60, "black": 3600}
IN_WORDS: list[tuple[str, dict[str, Any]]] = [
    ("2.Nf3", {"kind": "move", "ply": 3, "side": "white", "notation": "Nf3", "legal": True}),
    ("1...e5", {"kind": "move", "ply": 1, "side": "black", "notation": "e5", "legal": True}),
    ("2.d4", {"kind": "move", "ply": 2, "side": "white", "notation": "d4", "legal": True}),
    ("4.c1-g4, which is not legal", {"kind": "move", "ply": 7, "side": "white", "notation": "c1g4", "legal": False}),
    ("move 4 taken back: read again", {"kind": "move_retracted", "from_ply": 7, "reason": "correction"}),
    ("board is gone: no answer", {"kind": "link", "device": "board", "state": "down", "detail": "no answer"}),
    ("White's flag has fallen", {"kind": "clock", "change": "flag", "side": "white"}),
    ("the clocks are stopped at 1:00 and 1:00:00", {"kind": "clock", "change": "stopped", "side": "white"} | TIMES),
    ("game ends 1-0: forfeit", {"kind": "game_ended", "result": "1-0", "reason": "command", "detail": "forfeit"}),
    (
        "AB asks: end game, refused: no game",
        {"kind": "command", "command": "end_game", "by": "AB", "ok": False, "error": "no game"},
    ),
    ("something new", {"kind": "something_new"}),
]


@pytest.mark.parametrize(("text", "said"), IN_WORDS)
def test_events_in_words(text: str, said: dict[str, Any]) -> None:
    """Short, and without a word of the gateway's own."""
    assert text == event_text(said)


def test_readings_and_games() -> None:
    """As clocks and people say them."""
    assert ["1:30:00", "59:59", "0:07", "-:--"] == [reading(seconds) for seconds in (5400, 3599.9, 7, None)]
    assert "standard 90+30" == game_text("chess", "fide-standard", "5400+30")
    assert "Chess960 40/5400:1800" == game_text("chess960", "fide-standard", "40/5400:1800")
    assert "draughts ?" == game_text("draughts", "fmjd-rapid", "?")
    assert "10...19-23" == move_text(20, "black", "19-23")


# --- on a terminal -----------------------------------------------------------------------------------------------


class Tty:
    """A program on a pseudo-terminal."""

    def __init__(self, *arguments: object) -> None:
        self.master, slave = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gateway", *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment | {"TERM": "xterm-256color", "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        os.close(slave)
        os.set_blocking(self.master, False)
        self.seen = ""

    def until(self, text: str, timeout_s: float = 20.0) -> None:
        end = time.monotonic() + timeout_s
        while text not in self.seen:
            assert time.monotonic() < end, self.seen[-2000:]
            self.read()

    def read(self) -> None:
        time.sleep(0.02)
        try:
            self.seen += os.read(self.master, 65536).decode(errors="replace")
        except (BlockingIOError, OSError):
            return

    def end(self) -> int:
        code = self.process.wait(20)
        self.read()
        os.close(self.master)
        return code


def publish(broker: Mosquitto, topic: str, **payload: Any) -> None:
    message = json.dumps({"v": 1, "time": stamp(time.time()), **payload})
    subprocess.run(
        ["mosquitto_pub", "-p", str(broker.port), "-r", "-q", "1", "-t", topic, "-m", message], check=True, timeout=10
    )


@pytest.mark.parametrize("way", ["q", "ctrl-c"])
def test_watch_on_a_terminal(mosquitto: Mosquitto, way: str) -> None:
    """A second screen, what the broker remembers, then what comes; q or Ctrl-C, and the terminal is as it was."""
    publish(mosquitto, "hall/table/7/link", board="up", clock="up", gateway="pi-a")
    watch = Tty("watch", "--host", "127.0.0.1", "--port", mosquitto.port)
    watch.until("\x1b[?1049h")
    watch.until("1 table ")
    publish(mosquitto, "hall/table/7/game", white="Vos, Anna", moves=[])
    watch.until("Vos, Anna")
    if way == "q":
        os.write(watch.master, b"q")
    else:
        watch.process.send_signal(signal.SIGINT)
    code = watch.end()

    assert os.EX_OK == code
    assert watch.seen.endswith("\x1b[?25h\x1b[?1049l")


def test_watch_of_one_table(mosquitto: Mosquitto) -> None:
    """What comes of the others is not even asked for."""
    for table in ("7", "8"):
        publish(mosquitto, f"hall/table/{table}/link", board="up", clock="up", gateway="pi-a")
        publish(mosquitto, f"hall/table/{table}/game", white=f"White of {table}", moves=[])
    watch = Tty("watch", "--host", "127.0.0.1", "--port", mosquitto.port, "--table", "8")
    watch.until("White of 8")
    watch.until("1 table ")
    watch.process.send_signal(signal.SIGTERM)

    assert os.EX_OK == watch.end()
    assert "White of 7" not in watch.seen


def test_watch_of_what_cannot_be_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A wildcard would be heard as another topic."""
    with pytest.raises(SystemExit) as ended:
        main(["watch", "--table", "+"])

    assert os.EX_USAGE == ended.value.code
    assert "'+' is no table's id" in capsys.readouterr().err


def test_watch_waits_for_a_broker_and_comes_back(mosquitto: Mosquitto) -> None:
    """A broker that is away is told, and no reason to end."""
    mosquitto.kill()
    watch = Tty("watch", "--host", "127.0.0.1", "--port", mosquitto.port)
    watch.until("no broker")
    mosquitto.start()
    publish(mosquitto, "hall/table/7/game", white="Vos, Anna", moves=[])
    watch.until("Vos, Anna")
    mosquitto.kill()
    watch.until("no broker 0:0")
    watch.process.send_signal(signal.SIGTERM)

    assert os.EX_OK == watch.end()


def test_watch_that_nobody_looks_at(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Into a file it is a line for each event."""
    event = {"kind": "move", "table": "7", "ply": 1, "side": "white", "notation": "e4", "legal": True}
    publish(mosquitto, "hall/table/7/event/move", **event)
    done = subprocess.run(
        [sys.executable, "-m", "gateway", "watch", "--port", str(mosquitto.port), "--seconds", "1.5"],
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert os.EX_OK == done.returncode
    assert re.fullmatch(r"\d\d:\d\d:\d\d  table 7  1\.e4\n", done.stdout)
