"""Changes of JSON values, by property."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.delta import changed_by, difference

VALUES = st.recursive(
    st.none() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text("abc", max_size=1), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, VALUES)
def test_what_changed_makes_the_new_of_the_old(old: object, new: object) -> None:
    """Applied to the old value, the change gives the new one."""
    assert new == changed_by(old, difference(old, new))


def test_an_item_more_costs_an_item() -> None:
    """What stays is not written again."""
    old = {"moves": ["e4", "e5"], "at": 1}
    new = {"moves": ["e4", "e5", "Nf3"], "at": 1}

    assert [{"moves": [2, ["Nf3"], 0]}, []] == difference(old, new)
