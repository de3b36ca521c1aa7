"""How much of the rules the tests hold: small faults are put into them, one at a time, and should be noticed.

    python -m benchmarks.mutants                        300 faults, drawn by seed
    python -m benchmarks.mutants --only turn.py --sample 40

A fault is one comparison, one logical word, one sign or one number turned round. The checkout is copied, so nothing
here is touched. Constants of a module, messages and evidence are not changed: what they should be is the catalogue's
business, and tested there.

First all tests run once without a fault, and it is kept which lines each of them runs. A test goes as before until it
comes to the statement with the fault, so only the tests that come there are run with it, the shortest first, until one
fails. A statement that no test runs is counted as one whose fault nobody notices.
"""

from __future__ import annotations

import argparse
import ast
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import chess  # noqa: F401  for the children
import construct  # noqa: F401
import msgspec  # noqa: F401
import pytest

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("document.py", "families.py")
"""A page's text, and lists."""
TESTS = ("tests/rules", "tests/test_cases.py")
MEMORY = 2 << 30
"""Bytes that a run may take: a fault may make a loop endless."""
TIMES, MORE = 5, 2.0
"""How many times as long a test may take with a fault as without, and seconds beyond. Both are time of the processor:
what other programs leave of the machine must not pass for a fault that was noticed."""
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Mult: ast.Add,
}  # fmt: skip


Change = Callable[[Any], None]


@dataclass(frozen=True)
class Mutant:
    """A fault: where, and what."""

    path: Path
    place: int
    """Which of the nodes in which a fault can be."""
    choice: int
    line: int
    statement: range
    """The lines of the statement that it is in."""
    what: str

    def source(self) -> str:
        """The file with it."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node = _places(tree)[self.place]
        _, change = list(_changes(node))[self.choice]
        change(node)
        return ast.unparse(ast.fix_missing_locations(tree))


def mutants(path: Path) -> Iterator[Mutant]:
    """Every fault of one file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = _statements(tree)
    for place, node in enumerate(_places(tree)):
        for choice, (what, _) in enumerate(_changes(node)):
            yield Mutant(path, place, choice, getattr(node, "lineno", 0), statements[node], what)


def _places(tree: ast.Module) -> list[ast.AST]:
    left_out = _rounded(tree) | _annotations(tree)
    nodes = dict.fromkeys(node for function in _functions(tree) for node in ast.walk(function))
    return [node for node in nodes if node not in left_out]


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    """What is done, without docstrings and asserts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in ("state", "restore"):
            yield from (part for part in node.body if not isinstance(part, ast.Assert))


def _rounded(tree: ast.Module) -> set[ast.AST]:
    """How many digits a person is shown is no rule."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return {node.args[1] for node in calls if node.func.id == "round" and len(node.args) == 2}  # type: ignore[attr-defined]


def _annotations(tree: ast.Module) -> set[ast.AST]:
    """They are read by nobody."""
    written = (node.annotation for node in ast.walk(tree) if isinstance(node, ast.AnnAssign))
    return {node for annotation in written for node in ast.walk(annotation)}


def _statements(tree: ast.Module) -> dict[ast.AST, range]:
    """The lines of the innermost statement of every node; of an `if` or a loop, those of its condition."""
    found: dict[ast.AST, range] = {}
    # Inner statements come after those they are in.
    for statement in (node for node in ast.walk(tree) if isinstance(node, ast.stmt)):
        end = statement.end_lineno or statement.lineno
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
            end = max(statement.lineno, statement.body[0].lineno - 1)
        found.update(dict.fromkeys(ast.walk(statement), range(statement.lineno, end + 1)))
    return found


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            other = COMPARED[type(op)]
            yield f"{type(op).__name__} to {other.__name__}", lambda twin: setattr(twin, "ops", [other()])
        case ast.BoolOp(op=ast.And()):
            yield "and to or", lambda twin: setattr(twin, "op", ast.Or())
        case ast.BoolOp(op=ast.Or()):
            yield "or to and", lambda twin: setattr(twin, "op", ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield "not dropped", _bool
        case ast.BinOp(op=op) if type(op) in COMPUTED:
            arithmetic = COMPUTED[type(op)]
            yield f"{type(op).__name__} to {arithmetic.__name__}", lambda twin: setattr(twin, "op", arithmetic())
        case ast.Constant(value=bool() as value):
            yield f"{value} to {not value}", lambda twin: setattr(twin, "value", not value)
        case ast.Constant(value=int() as number):
            yield f"{number} to {number + 1}", lambda twin: setattr(twin, "value", number + 1)
        case ast.Continue():
            yield "continue to break", lambda twin: setattr(twin, "__class__", ast.Break)


def _bool(twin: Any) -> None:
    """`not x` becomes `bool(x)`, spelled with two more nots."""
    twin.op, twin.operand = ast.Not(), ast.UnaryOp(ast.Not(), twin.operand)


Line = tuple[str, int]


@dataclass
class Run:
    """What one test runs of the rules when there is no fault in them."""

    seconds: float = 0.0
    lines: set[Line] = field(default_factory=set)


@dataclass
class Recording:
    """A plugin of pytest that keeps what each test runs."""

    folder: str
    beside: Run = field(default_factory=Run)
    """What is run while no test is, such as at import."""
    runs: dict[str, Run] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = self.beside.lines
        sys.settrace(self._enter)

    def _enter(self, frame: FrameType, event: str, _: object) -> Any:
        return self._step if frame.f_code.co_filename.startswith(self.folder) else None

    def _step(self, frame: FrameType, event: str, _: object) -> Any:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._step

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        run = self.runs[item.nodeid] = Run()
        self.lines = run.lines
        began = time.process_time()
        try:
            return (yield)  # type: ignore[return-value]
        finally:
            run.seconds = time.process_time() - began
            self.lines = self.beside.lines


@dataclass
class Chosen:
    """A plugin of pytest that runs these tests only, the shortest first, each as long as it may take."""

    seconds: dict[str, float]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self.seconds), key=self._seconds)

    def _seconds(self, item: pytest.Item) -> float:
        return self.seconds[item.nodeid]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        # A loop without end is ended by the signal, which nobody handles.
        signal.setitimer(signal.ITIMER_PROF, TIMES * self._seconds(item) + MORE)
        return (yield)  # type: ignore[return-value]


class Checkout:
    """A copy of the checkout, whose tests can be run with a fault and without."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        for name in ("gateway", "tests", "benchmarks", "docs"):
            shutil.copytree(ROOT / name, self.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", self.folder)
        (folder / "shared").symlink_to(ROOT.parent / "shared")
        self.recording = folder / "recording"
        self.beside, self.runs = Run(), dict[str, Run]()

    def record(self) -> bool:
        """Run all tests without a fault; whether they pass."""

        def run() -> bool:
            recording = Recording(str(self.folder / "gateway" / "rules"))
            passed = self._run(recording)
            sys.settrace(None)
            self.recording.write_bytes(pickle.dumps((recording.beside, recording.runs)))
            return passed

        passed = _in_child(run)
        if passed:
            self.beside, self.runs = pickle.loads(self.recording.read_bytes())
        return passed

    def notices(self, mutant: Mutant) -> bool:
        """Whether a test fails with the fault."""
        target = self.folder / mutant.path.relative_to(ROOT)
        lines = {(str(target), line) for line in mutant.statement}
        everywhere = bool(lines & self.beside.lines)
        chosen = {name: run.seconds for name, run in self.runs.items() if everywhere or lines & run.lines}
        if not chosen:
            return False
        original, times = target.read_text(encoding="utf-8"), target.stat()
        target.write_text(mutant.source(), encoding="utf-8")
        try:
            return not _in_child(lambda: self._run(Chosen(chosen), keep=False))
        finally:
            target.write_text(original, encoding="utf-8")
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _run(self, plugin: object, keep: bool = True) -> bool:
        # Compiled files are known by their size and second, which two faults may share.
        sys.dont_write_bytecode = not keep
        os.chdir(self.folder)
        sys.path.insert(0, str(self.folder))
        tests = [name for name in TESTS if (self.folder / name).exists()]
        return pytest.main(["-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests], [plugin]) == 0


def _in_child(run: Callable[[], bool]) -> bool:
    """Whether it says so, and comes to its end, in a child of this process, which has the libraries already."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return status == 0
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        os._exit(0 if run() else 1)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="files whose name begins with this")
    arguments = parser.parse_args()
    files = [p for p in sorted((ROOT / "gateway" / "rules").glob("*.py")) if p.name not in LEFT_OUT]
    every = [mutant for path in files if path.name.startswith(arguments.only) for mutant in mutants(path)]
    chosen = Random(arguments.seed).sample(every, min(arguments.sample, len(every)))
    print(f"{len(every)} faults are possible, {len(chosen)} are tried", flush=True)
    noticed = 0
    with tempfile.TemporaryDirectory() as folder:
        checkout = Checkout(Path(folder))
        if not checkout.record():
            parser.exit(1, "the tests fail without any fault of ours\n")
        for number, mutant in enumerate(chosen, 1):
            if checkout.notices(mutant):
                noticed += 1
            else:
                print(f"survives: {mutant.path.name}:{mutant.line}: {mutant.what}", flush=True)
            if number % 20 == 0:
                print(f"{number}: {100 * noticed / number:.1f} % noticed", flush=True)
    print(f"{noticed} of {len(chosen)} noticed: {100 * noticed / max(1, len(chosen)):.1f} %")


if __name__ == "__main__":
    main()
