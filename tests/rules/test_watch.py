"""The life of an alert, and what the arbiter may say to it."""

from __future__ import annotations

import json

import pytest
from script import Script

from gateway.errors import UsageError
from gateway.events import Alert
from gateway.rules.watch import Watch

ILLEGAL = "0.1:w 4:-c1 4.7:+B@f4 5.3:b"


def _alerts(script: Script) -> list[tuple[str, str]]:
    script.alerts()
    found = [n.event for _, n in script.out if isinstance(n.event, Alert)]
    return [(alert.irregularity, alert.state) for alert in found]


def _played(words: str) -> Script:
    script = Script(words=words)
    script.alerts()
    return script


def test_raised_and_cleared() -> None:
    """An illegal move that is put right is raised and cleared, once each."""
    expected = [("illegal_move", "raised"), ("illegal_move", "cleared")]

    assert expected == _alerts(Script(words=ILLEGAL + " 8:-f4 8.5:+B@c1"))


def test_the_list_names_it() -> None:
    """An open alert is in the list with the id of the event that raised it, its squares and its article."""
    script = _played(ILLEGAL)
    (alert,) = script.table.watch.open_alerts()
    (raised,) = [n for _, n in script.out if isinstance(n.event, Alert)]

    assert alert["alert_id"] == raised.id
    assert alert["evidence"]["squares"] == ["c1", "f4"]
    assert "FIDE 2023 7.5.1" in alert["articles"]
    assert not any(article.startswith("FMJD") for article in alert["articles"])


def test_acknowledged_is_final() -> None:
    """What the arbiter has dealt with leaves the list and is not raised again while it stands."""
    script = _played(ILLEGAL + " 8:!acknowledge=illegal_move 20:-a7 20.5:+p@a7")
    states = [n.event.state for _, n in script.out if isinstance(n.event, Alert)]

    assert ["raised", "acknowledged"] == states
    assert [] == script.table.watch.open_alerts()


def test_attended() -> None:
    """Other arbiters see who is on the way."""
    watch = _played(ILLEGAL).table.watch
    (alert,) = watch.open_alerts()
    (update,) = watch.attend(alert["alert_id"], by="anna", at=9.0)

    assert isinstance(update, Alert)
    assert update.state == "updated"
    assert update.evidence["attended_by"] == "anna"


def test_nothing_to_acknowledge() -> None:
    """An alert that is not there is refused with a sentence."""
    with pytest.raises(UsageError, match="no open alert displaced_piece"):
        Watch().acknowledge(None, "displaced_piece", ruling="upheld", note=None, by=None, at=1.0)
    with pytest.raises(UsageError, match="no open alert x"):
        Watch().attend("x", by=None, at=1.0)


def test_the_end_clears() -> None:
    """With the game its alerts end."""
    script = Script(words=ILLEGAL)
    script.alerts()
    script.tell("end_game", 20.0, result="*")
    states = [n.event.state for _, n in script.out if isinstance(n.event, Alert)]

    assert ["raised", "cleared"] == states


def test_a_second_illegal_move() -> None:
    """The first counts once the arbiter has acknowledged it."""
    words = ILLEGAL + " 7:!acknowledge=illegal_move 8:-f4 8.5:+B@c1 12:w 14:-c1 14.7:+B@f4 15.3:b"
    kinds = [alert.irregularity for _, alert in Script(words=words).alerts()]

    assert ["illegal_move", "illegal_move", "second_illegal_move"] == kinds


@pytest.mark.parametrize(
    "words", ["", ILLEGAL, ILLEGAL + " 8:!acknowledge=illegal_move", "0.1:w 5:-g1 5.6:b 6.3:+N@f3"]
)
def test_survives_a_restart(words: str) -> None:
    """The state is plain JSON, and a watch restored from it has the same state and the same list."""
    watch = _played(words).table.watch if words else Watch()
    state = json.loads(json.dumps(watch.state()))
    other = Watch()
    other.restore(state)

    assert state == json.loads(json.dumps(other.state()))
    assert json.dumps(watch.open_alerts()) == json.dumps(other.open_alerts())


def test_a_move_is_taken_back_once() -> None:
    """However long the player then thinks of another: one alert, which tells what was played instead."""
    words = "3:-e2 3.6:+P@e4 8:-e4 8.6:+P@e2 14:-d2 14.6:+P@d4 18:-e7 18.6:+p@e5"
    script = Script(words=words, clock=False)
    found = _alerts(script)
    raised = [n.event for _, n in script.out if isinstance(n.event, Alert) and n.event.state == "raised"]

    assert [("move_taken_back", "raised")] == [told for told in found if told[1] == "raised"]
    assert "e4" == raised[0].evidence["move"]
