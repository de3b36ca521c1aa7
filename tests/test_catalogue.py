"""The catalogue is complete, says only what it may, and finds words for a person."""

import tomllib
from pathlib import Path

import pytest

from gateway.catalogue import CATALOGUE, Kind, reading

SOURCE = Path(__file__).parents[2] / "shared" / "rules" / "irregularities.toml"
REGULATIONS = {"fide-standard", "fide-rapid", "fide-blitz", "fmjd-standard", "fmjd-rapid", "fmjd-blitz"}

KINDS = pytest.mark.parametrize("kind", CATALOGUE.values(), ids=CATALOGUE.keys())


def test_holds_all_kinds() -> None:
    """Eighty-three kinds, each found under its own id."""
    assert 83 == len(CATALOGUE)
    assert all(key == kind.id for key, kind in CATALOGUE.items())


@pytest.mark.skipif(not SOURCE.exists(), reason="the rules reference is not beside this checkout")
def test_agrees_with_the_rules_reference() -> None:
    """Ids, severities, debounces and defaults are those of the reference."""
    reference = tomllib.loads(SOURCE.read_text())["irregularity"]
    expected = [
        (
            entry["id"],
            entry["severity"],
            entry["debounce_s"],
            entry["enabled"],
            entry.get("severity_by", {}),
            entry.get("debounce_by", {}),
            len(entry["false_alarm_guards"]),
        )
        for entry in reference
    ]

    assert expected == [
        (
            kind.id,
            kind.severity,
            kind.debounce_s,
            kind.enabled,
            dict(kind.severity_by),
            dict(kind.debounce_by),
            len(kind.guards),
        )
        for kind in CATALOGUE.values()
    ]


@KINDS
def test_values_are_of_the_vocabulary(kind: Kind) -> None:
    """Severities, games, phases and regulations are known words; articles name their document."""
    assert kind.severity in {"info", "notice", "alert"}
    assert set(kind.severity_by.values()) <= {"info", "notice", "alert"}
    assert set(kind.games) <= {"chess", "draughts"} and kind.games
    assert set(kind.phases) <= {"setup", "start", "play", "suspended", "resumption", "end", "after_game"}
    assert {*kind.regulations, *kind.severity_by, *kind.debounce_by} <= REGULATIONS
    assert kind.occupancy_only in {"full", "partial", "none"}
    assert kind.debounce_s >= 0
    assert kind.articles
    assert all(
        article.startswith(("FIDE 2023 ", "FIDE-6 2017 ", "FIDE-7 old ", "FMJD ", "kings convention"))
        for article in kind.articles
    )


@KINDS
def test_message_is_one_sentence(kind: Kind) -> None:
    """Told every placeholder, the message is a sentence with the table's number before it."""
    facts = dict.fromkeys(kind.placeholders - {"side", "other"}, "e4")
    said = kind.sentence("12", "white", **facts)

    assert said.startswith("Table 12: ")
    assert said.endswith(".")
    assert "{" not in said


def test_message_of_an_unpromoted_pawn() -> None:
    """Players are named, squares are listed, readings are told as on a clock."""
    assert "Table 12: White's pawn on e8 was not promoted and the clock was pressed." == CATALOGUE[
        "unpromoted_pawn"
    ].sentence("12", "white", square="e8")
    assert "Table 7: The board differs from the game on e4, h1." == CATALOGUE["displaced_piece"].sentence(
        "7", squares=["e4", "h1"]
    )
    assert "Table 7: Black is short of time: 4:59 left." == CATALOGUE["time_trouble"].sentence(
        "7", "black", reading=299.6
    )


def test_message_that_is_not_told_enough() -> None:
    """A missing fact is our own mistake and is named."""
    with pytest.raises(KeyError, match="square"):
        CATALOGUE["unpromoted_pawn"].sentence("12", "white")


@pytest.mark.parametrize(("expected", "seconds"), [("0:00", 0.9), ("1:15", 75.0), ("1:02:03", 3723.4)])
def test_reading(expected: str, seconds: float) -> None:
    """Whole seconds, rounded down, with hours only where there are any."""
    assert expected == reading(seconds)


def test_applies() -> None:
    """Chess960 is chess; draughts kinds stay out of it; some kinds know only some regulations."""
    assert CATALOGUE["unpromoted_pawn"].applies("chess960", "fide-blitz")
    assert not CATALOGUE["unpromoted_pawn"].applies("draughts", "fmjd-blitz")
    assert not CATALOGUE["uncrowned_man"].applies("chess", "fide-blitz")
    assert CATALOGUE["forced_draw_1_vs_3"].applies("draughts", "fmjd-blitz")
    assert not CATALOGUE["forced_draw_1_vs_3"].applies("draughts", "fmjd-standard")


def test_values_by_regulations() -> None:
    """A faster game waits less for the press; draughts takes a threefold position more seriously."""
    press = CATALOGUE["move_without_clock_press"]
    threefold = CATALOGUE["threefold"]

    assert [30.0, 15.0, 8.0] == [press.debounce_under(name) for name in ("fide-standard", "fide-rapid", "fmjd-blitz")]
    assert ["info", "notice"] == [
        threefold.severity_under("fide-blitz"),
        threefold.severity_under("fmjd-standard"),
    ]


def test_articles_of_one_federation() -> None:
    """A chess alert cites FIDE, a draughts alert FMJD; what is neither is cited for both."""
    illegal = CATALOGUE["illegal_move"]
    kings = CATALOGUE["kings_result_signal"]

    assert "FIDE 2023 7.5.1" in illegal.articles_under("fide-blitz")
    assert not [article for article in illegal.articles_under("fide-blitz") if article.startswith("FMJD")]
    assert ("FMJD A1 3.4", "FMJD A1 3.9") == illegal.articles_under("fmjd-rapid")[:2]
    assert "kings convention" == kings.articles_under("fide-rapid")[0]


def test_articles_of_one_rate_of_play() -> None:
    """Appendix A is cited from rapid chess on, B in blitz only, and neither in a standard game."""
    illegal = CATALOGUE["illegal_move"]
    appendices = ("FIDE 2023 A.", "FIDE 2023 B.")
    cited = [
        [article for article in illegal.articles_under(f"fide-{rate}") if article.startswith(appendices)]
        for rate in ("standard", "rapid", "blitz")
    ]

    assert [[], ["FIDE 2023 A.3", "FIDE 2023 A.5.2"], ["FIDE 2023 A.3", "FIDE 2023 A.5.2", "FIDE 2023 B.3"]] == cited
