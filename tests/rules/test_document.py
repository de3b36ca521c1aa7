"""docs/irregularities.md is what the catalogue says."""

from __future__ import annotations

from pathlib import Path

from gateway.catalogue import CATALOGUE
from gateway.rules.document import irregularities
from gateway.rules.families import FAMILIES, SEQUELS

PAGE = Path(__file__).parents[2] / "docs" / "irregularities.md"


def test_the_page_is_fresh() -> None:
    """The page in docs/ was written from the catalogue as it is."""
    expected = irregularities()

    assert expected == PAGE.read_text(encoding="utf-8")


def test_each_kind_has_one_rule() -> None:
    """No two rules claim one kind, and every kind that a rule claims is in the catalogue."""
    makers = [make for family in (*FAMILIES, SEQUELS) for make in family]
    claimed = [kind for make in makers for kind in make().kinds]

    assert len(set(claimed)) == len(claimed)
    assert set(claimed) <= set(CATALOGUE)
