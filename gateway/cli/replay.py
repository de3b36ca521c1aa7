"""replay: play captures again and print what the hall was told, one JSON object a line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gateway.capture import CaptureError, Reader
from gateway.registry import DRIVERS
from gateway.replay import Form, lines, replayed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a capture, compressed or not")
    parser.add_argument("--events", action="store_true", help="print the payloads of events only")
    parser.add_argument("--jobs", type=_jobs, default=1, metavar="N", help="captures played at once (default: 1)")


def _jobs(text: str) -> int:
    jobs = int(text)
    if jobs < 1:
        raise argparse.ArgumentTypeError("1 or more")
    return jobs


@dataclass(frozen=True, slots=True)
class Played:
    """What one capture came to."""

    lines: bytes
    complaints: list[str]
    code: int


def run(arguments: argparse.Namespace) -> int:
    """Play all captures; print in the order of the arguments, whatever finishes first."""
    files: list[Path] = arguments.files
    play = partial(played, events_only=arguments.events, named=len(files) > 1)
    if arguments.jobs == 1 or len(files) == 1:
        return _show(map(play, files))
    with ProcessPoolExecutor(min(arguments.jobs, len(files))) as pool:
        return _show(pool.map(play, files))


def _show(results: Iterable[Played]) -> int:
    """Print the results as they come; return the gravest exit code."""
    code = os.EX_OK
    for result in results:
        sys.stdout.buffer.write(result.lines)
        sys.stdout.flush()
        for complaint in result.complaints:
            print(complaint, file=sys.stderr)
        code = max(code, result.code)
    return code


def played(file: Path, *, events_only: bool, named: bool) -> Played:
    """Play one capture.

    Args:
        file: the capture.
        events_only: leave out all but the payloads of events.
        named: say in each line which capture it is of.
    """
    complaints: list[str] = []
    written: list[bytes] = []
    code = os.EX_OK
    try:
        reader = Reader(file, DRIVERS, lambda number, text: complaints.append(f"{file}: line {number}: {text}"))
        written = list(lines(replayed(reader), Form(events_only, str(file) if named else None)))
    except CaptureError as problem:
        complaints += [f"{file}: {text}" for text in str(problem).splitlines()]
    except OSError as problem:
        complaints.append(f"{file}: {problem.strerror or problem}")
        code = os.EX_NOINPUT
    if complaints and code == os.EX_OK:
        code = os.EX_DATAERR
    return Played(b"".join(written), complaints, code)
