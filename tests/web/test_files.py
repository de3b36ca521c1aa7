"""What is committed is what runs: vendored files unchanged, languages complete, modules short."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import chess.svg
import pytest

from gateway.catalogue import CATALOGUE
from gateway.settings import LANGUAGES as SPOKEN
from gateway.webserver import ROOT

LANGUAGES = sorted((ROOT / "i18n").glob("*.json"))
ENGLISH = json.loads((ROOT / "i18n" / "en.json").read_text(encoding="utf-8"))
MODULES = [path for path in sorted(ROOT.rglob("*.js")) if "vendor" not in path.parts]


def test_vendored_files_are_those_of_their_authors() -> None:
    """Each with licence, version, address and hash in the list; none without."""
    listed = dict(
        re.findall(r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", (ROOT / "vendor/README.md").read_text(), re.M)
    )
    found = {
        path.relative_to(ROOT / "vendor").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (ROOT / "vendor").rglob("*.js")
    }

    assert found == listed


@pytest.mark.parametrize("letter", "PNBRQKpnbrqk")
def test_pieces_are_those_of_the_chess_package(letter: str) -> None:
    """Cburnett's, as the installed package has them."""
    name = ("w" if letter.isupper() else "b") + letter.lower()
    text = (ROOT / "vendor" / "pieces" / f"{name}.svg").read_text()

    assert chess.svg.PIECES[letter] in text


@pytest.mark.parametrize("path", LANGUAGES, ids=lambda path: path.stem)
def test_languages_are_complete(path: Path) -> None:
    """Every word, with the same places in it; none that nobody uses."""
    words = json.loads(path.read_text(encoding="utf-8"))
    places = {key: sorted(re.findall(r"\{\w+\}", text)) for key, text in ENGLISH.items()}

    assert places == {key: sorted(re.findall(r"\{\w+\}", text)) for key, text in words.items()}


@pytest.mark.parametrize("path", [path for path in LANGUAGES if path.stem != "en"], ids=lambda path: path.stem)
def test_languages_are_translated(path: Path) -> None:
    """A copy of the English words is no translation."""
    words = json.loads(path.read_text(encoding="utf-8"))
    same = [key for key, text in words.items() if text == ENGLISH[key]]

    assert len(same) < len(words) * 0.12


def test_the_languages_of_the_configuration_are_those_of_the_page() -> None:
    """Each with a file of words, and none without a name."""
    names = re.findall(r"(\w+): '", re.search(r"LANGUAGES = \{(.*)\}", (ROOT / "i18n.js").read_text())[1])  # type: ignore[index]

    assert set(SPOKEN) == set(names) == {path.stem for path in LANGUAGES}


def test_every_irregularity_has_its_words() -> None:
    """Two or three words that fit on a chip."""
    assert set() == {kind for kind in CATALOGUE if f"kind.{kind}" not in ENGLISH}
    assert [] == [text for key, text in ENGLISH.items() if key.startswith("kind.") and len(text) > 24]


def test_every_word_that_is_used_is_there() -> None:
    """Keys written out in the modules."""
    code = "".join(path.read_text(encoding="utf-8") for path in MODULES)
    used = set(re.findall(r"\bt\('([a-z_0-9.]+)'", code))

    assert set() == {key for key in used if key not in ENGLISH and f"{key}.other" not in ENGLISH}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_modules_are_short_and_say_what_they_are(path: Path) -> None:
    """Under 300 lines, and a comment at the top."""
    text = path.read_text(encoding="utf-8")

    assert len(text.splitlines()) < 300
    assert text.startswith("//")
    assert max(map(len, text.splitlines())) <= 200
