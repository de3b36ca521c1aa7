"""Logs: JSON with a priority for the journal, words for people, and no secrets."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from gateway import logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave logging as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers, root.level = handlers, level


def test_for_the_journal() -> None:
    """Under systemd every line is its priority and a JSON object, also those of the libraries."""
    stream = io.StringIO()
    logs.set_up({"JOURNAL_STREAM": "8:1"}, stream=stream)
    log = structlog.get_logger()
    log.debug("unseen")
    log.info("board up", table="12")
    log.error("board down", table="12", detail="does not answer")
    logging.getLogger("paho").info("unseen")
    logging.getLogger("paho").warning("lost %s", "it")
    lines = [(line[:3], json.loads(line[3:])) for line in stream.getvalue().splitlines()]

    assert [
        ("<6>", {"event": "board up", "table": "12", "level": "info"}),
        ("<3>", {"event": "board down", "table": "12", "detail": "does not answer", "level": "error"}),
        ("<4>", {"event": "lost it", "logger": "paho", "level": "warning"}),
    ] == lines


def test_for_people() -> None:
    """Elsewhere lines are words, without colours where no terminal shows them."""
    stream = io.StringIO()
    logs.set_up({}, verbose=True, stream=stream)
    structlog.get_logger().debug("board up", table="12")
    line = stream.getvalue()

    assert "board up" in line
    assert "table=12" in line
    assert "\x1b" not in line


@pytest.mark.parametrize("environment", [{}, {"JOURNAL_STREAM": "8:1"}])
def test_tracebacks_show_no_values(environment: dict[str, str]) -> None:
    """A traceback names lines, never what variables hold: one may be a password."""
    stream = io.StringIO()
    logs.set_up(environment, stream=stream)
    password = "hun" + "ter2"
    try:
        raise ValueError(len(password))
    except ValueError:
        structlog.get_logger().exception("failed")

    assert "ValueError: 7" in stream.getvalue()
    assert "hunter2" not in stream.getvalue()
