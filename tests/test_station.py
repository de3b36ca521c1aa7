"""A table with its topics: timers fire at their own time, and a cut capture goes on as if it had not been cut."""

from __future__ import annotations

import io
import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from sitting import Sitting, printed, replayed

from gateway import capture, replay
from gateway.config import BoardConfig, TableConfig
from gateway.events import BoardDump, Command, FieldUpdate, LinkState
from gateway.record import position_from_fen
from gateway.registry import DRIVERS
from gateway.station import Outcome, Station

START = position_from_fen("chess", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").pieces()
FOOLS_MATE = (("f2", "f3", "P"), ("e7", "e5", "p"), ("g2", "g4", "P"), ("d8", "h4", "q"))


def station() -> Station:
    return Station(TableConfig("1", "chess", BoardConfig("dgt")), "g")


def mated(at: Station) -> float:
    """Play a fool's mate without a clock; return when the last piece was set down."""
    at.observe(LinkState("board", True), 0.0)
    at.observe(BoardDump(START), 0.1)
    moment = 1.0
    for source, target, piece in FOOLS_MATE:
        at.observe(FieldUpdate(source, None), moment)
        at.observe(FieldUpdate(target, piece), moment + 0.5)
        moment += 3.0
    return moment - 2.5


def ended(outcomes: list[Outcome]) -> list[float]:
    return [outcome.at for outcome in outcomes for numbered in outcome.events if numbered.event.kind == "game_ended"]


@pytest.mark.parametrize("steps", [1, 2, 50])
def test_a_timer_fires_at_its_own_time(steps: int) -> None:
    """Whoever comes late, once or often, finds the same: the game ended a second after the mate."""
    table = station()
    placed = mated(table)
    outcomes = [o for step in range(steps) for o in table.advance(placed + 20.0 * (step + 1) / steps)]

    assert [pytest.approx(placed + 1.0)] == ended(outcomes)


def test_a_timer_fires_before_what_comes_at_the_same_moment() -> None:
    """What is due at a line's time belongs before it."""
    table = station()
    placed = mated(table)
    outcomes = table.observe(FieldUpdate("e1", None), placed + 1.0)

    assert [placed + 1.0] == ended(outcomes[:-1])


def test_the_deadline_is_the_earliest() -> None:
    """Nobody need ask in between."""
    table = station()
    placed = mated(table)
    deadline = table.deadline

    assert deadline is not None
    assert [] == table.advance(deadline - 0.001)
    assert deadline <= placed + 1.0


def test_nothing_to_wait_for() -> None:
    """A table at which nothing happens asks for nothing."""
    table = station()
    table.observe(LinkState("board", True), 0.0)
    table.advance(1000.0)

    assert table.deadline is None


def test_a_command_is_answered_after_all_else() -> None:
    """Due timers, then what it did, then the answer, where the sender wants it."""
    table = station()
    outcomes = table.command(Command("start_game", "c1", "a", {}), 1.0, "arbiters/7")

    assert ["game_started", "command"] == [numbered.event.kind for numbered in outcomes[-1].events]
    assert outcomes[-1].reply is not None
    assert ("arbiters/7", {"id": "c1", "ok": True, "error": None}) == (
        outcomes[-1].reply.topic,
        json.loads(outcomes[-1].reply.payload),
    )


def test_a_request_for_old_events_is_handed_on() -> None:
    """The journal has them; a refused one is not."""
    table = station()
    good, bad = (
        table.command(Command("resend", None, None, {"stream": "public", "from_seq": first, "to_seq": 5}), 1.0)[-1]
        for first in (2, 9)
    )

    assert good.resend is not None
    assert ("public", 2, 5) == (good.resend.stream, good.resend.from_seq, good.resend.to_seq)
    assert bad.resend is None


def test_a_repeated_request_is_not_handed_on_again() -> None:
    """Nor is one that borrows the id of another command."""
    table = station()
    asked = Command("resend", "r1", None, {"stream": "public", "from_seq": 1, "to_seq": 5})
    table.command(Command("start_game", "s1", None, {}), 1.0)
    found = [
        table.command(command, 2.0)[-1].resend is not None
        for command in (asked, asked, Command("resend", "s1", None, {}))
    ]

    assert [True, False, False] == found


def test_retained_is_what_was_said_last() -> None:
    """For a new connection: each topic once."""
    table = station()
    mated(table)
    topics = [message.topic.rpartition("/")[2] for message in table.retained()]

    assert sorted(["link", "position", "game", "pgn", "alerts", "board"]) == sorted(topics)


# --- a capture that is cut --------------------------------------------------------------------------------------


def evening() -> Sitting:
    """Moves, a hesitation, an illegal move, a takeback, commands, a lost cable, a mate, and a second game."""
    sitting = Sitting()
    sitting.command(0.3, "assign", white="Ann", black="Bob")
    board = sitting.chess("e4 e5 Nf3 Nc6 Bc4 Nd4")
    sitting.touch("-f3 +N@d4 -d4 +N@f3")
    sitting.touch("-h2 +P@h5")
    sitting.t += 3.0
    sitting.touch("-h5 +P@h2")
    board = sitting.chess("Nxe5 Qg5 Nxf7 Qxg2", board)
    sitting.command(sitting.t + 0.1, "suspend", reason="interruption")
    sitting.command(sitting.t + 0.1, "resume")
    sitting.down(sitting.t + 1.0)
    sitting.up(sitting.t + 2.0)
    sitting.position(sitting.t + 0.2, board.board_fen())
    sitting.chess("Rf1 Qxe4+ Be2 Nf3#", board)
    sitting.clock(sitting.t + 1.0, None)
    sitting.position(sitting.t + 5.0, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR")
    sitting.readings = {"white": 180.0, "black": 180.0}
    sitting.clock(sitting.t + 5.0, None)
    sitting.chess("d4 d5")
    return sitting


def test_the_evening_is_what_it_is_meant_to_be() -> None:
    """Two games, the first of which ended by mate."""
    events = evening().events("game_started", "game_ended")

    assert [("game_started", None), ("game_ended", "0-1"), ("game_started", None)] == [
        (event["kind"], event.get("result")) for event in events
    ]


@pytest.mark.parametrize("anew", [False, True], ids=["time goes on", "time begins anew"])
def test_a_capture_cut_before_any_line_goes_on_byte_for_byte(anew: bool) -> None:
    """The state line holds all of the table: events after it are those of the capture that was not cut."""
    text = evening().text().splitlines(keepends=True)
    header = json.loads(text[0])
    reader = capture.Reader(io.BytesIO(b"".join(text)), DRIVERS, lambda *_: pytest.fail("damage"))
    player = replay.Player(reader.header)
    states: list[Any] = []
    parts: list[list[bytes]] = []
    for _, entry in reader:
        states.append(json.loads(json.dumps(player._station.state())))
        parts.append(list(replay.lines(player.play(entry), replay.Form(events_only=True))))
    wrong = []
    for cut in range(1, len(states), 7 if anew else 3):
        begin = json.loads(text[cut])["t"]
        shift = begin if anew else 0.0
        head = {**header, "started": _later(header["started"], shift)}
        rest = [json.loads(line) for line in text[1 + cut :]]
        lines = [head, {"t": begin - shift, "state": states[cut]}]
        lines += [{**line, "t": round(line["t"] - shift, 3)} for line in rest]
        again = replayed("".join(json.dumps(line) + "\n" for line in lines).encode(), events_only=True)
        if [line for part in parts[cut:] for line in part] != again:
            wrong.append(cut)

    assert [] == wrong


def test_after_a_cut_all_topics_are_said_again() -> None:
    """Each capture is its own world: what is known is printed, and in the end it is the same."""
    text = evening().text().splitlines(keepends=True)
    reader = capture.Reader(io.BytesIO(b"".join(text)), DRIVERS, lambda *_: pytest.fail("damage"))
    player = replay.Player(reader.header)
    for number, entry in reader:
        if number == len(text) // 2:
            break
        player.play(entry)
    state = json.dumps({"t": entry.t, "state": player._station.state()}) + "\n"
    cut = b"".join([text[0], state.encode(), *text[len(text) // 2 - 1 :]])
    whole, again = ({line["topic"]: line["payload"] for line in printed(b)} for b in (b"".join(text), cut))

    assert whole["hall/table/1/game"]["moves"] == again["hall/table/1/game"]["moves"]
    assert {topic for topic in whole if "/event/" not in topic and "/reply" not in topic} <= set(again)


def _later(started: str, seconds: float) -> str:
    moment = datetime.fromisoformat(started) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
