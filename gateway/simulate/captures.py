"""A simulated evening as a capture, with the truth written beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from gateway import capture
from gateway.config import TableConfig
from gateway.events import BoardDump, LinkState
from gateway.simulate.device import Trace
from gateway.simulate.hand import Performance
from gateway.simulate.wire import WireBoard, wire_board

STARTED = 1_780_000_000.0


def entries(table: TableConfig, trace: Trace) -> Iterator[capture.Entry]:
    """The lines of a trace. What the host asks is left out, so a board in update mode is taken for granted."""
    board: WireBoard | None = None
    for at, observation in trace.observations:
        if isinstance(observation, LinkState):
            yield capture.Link(at, observation.device, observation.up, observation.detail)
            continue
        asked = b""
        if board is None:
            if not isinstance(observation, BoardDump):
                continue  # what it senses is in its greeting
            senses_pieces = "?" not in observation.pieces.values()
            board = wire_board(table.board.driver, table.game, observation.pieces, senses_pieces)
            asked = board.take(b"hello?\n" if table.board.driver == "generic" else b"\x4b")
        data = asked + board.sense(observation)
        if isinstance(observation, BoardDump) and not data:
            # a DGT board sends a dump only when asked
            data = board.take(b"\x42")
        if data:
            yield capture.Rx(at, "board", data)
    yield capture.End(trace.end)


def write(path: Path, table: TableConfig, performance: Performance, trace: Trace) -> None:
    """Write ``NAME.capture.jsonl`` and ``NAME.truth.json`` beside it."""
    header = capture.header_line(capture.CaptureHeader(STARTED, "simulate", table))
    lines = (capture.entry_line(entry) for entry in entries(table, trace))
    path.write_text(header + "".join(lines), encoding="utf-8")
    truth = {"games": [asdict(game) for game in performance.games]}
    beside = path.with_name(path.name.removesuffix(capture.SUFFIX) + ".truth.json")
    beside.write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")
