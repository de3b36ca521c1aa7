"""Logs on standard error: JSON for the journal of systemd, words and colours on a terminal.

One line per change of state is the convention: a board that stays away is told once, not at every retry.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

PRIORITIES = {"debug": 7, "info": 6, "warning": 4, "error": 3, "exception": 3, "critical": 2}
"""What the journal reads from ``<N>`` at the start of a line (sd-daemon(3))."""


def set_up(environment: Mapping[str, str], *, verbose: bool = False, stream: TextIO | None = None) -> None:
    """Send all logs, also those of the libraries, to `stream` (standard error).

    Args:
        environment: ``JOURNAL_STREAM`` in it tells that the journal listens, ``NO_COLOR`` that colours are unwanted.
        verbose: debug lines too.
        stream: where to.
    """
    stream = stream or sys.stderr
    journal = "JOURNAL_STREAM" in environment
    level = logging.DEBUG if verbose else logging.INFO
    gather: list[Processor] = [structlog.processors.add_log_level]
    render: list[Processor]
    if journal:
        # The journal stamps its lines by itself.
        gather.append(structlog.processors.format_exc_info)
        render = [_journal_line]
    else:
        gather.append(structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False))
        render = [
            structlog.dev.ConsoleRenderer(
                colors=stream.isatty() and "NO_COLOR" not in environment,
                # The default shows local variables, and a password may be one.
                exception_formatter=structlog.dev.plain_traceback,
            )
        ]
    structlog.configure(
        processors=[*gather, *render],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
    libraries = logging.StreamHandler(stream)
    libraries.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *gather],
        )
    )
    # What the libraries say below a warning is for their authors.
    logging.basicConfig(handlers=[libraries], level=logging.WARNING, force=True)


_json = structlog.processors.JSONRenderer(ensure_ascii=False)


def _journal_line(logger: WrappedLogger, level: str, event: EventDict) -> str:
    """Return the line with its priority before it."""
    return f"<{PRIORITIES.get(level, 6)}>{_json(logger, level, event)!s}"
