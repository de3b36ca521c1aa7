"""How much of the rules the tests hold: small faults are put into them, one at a time, and should be noticed.

    python -m benchmarks.mutants                        300 faults, drawn by seed
    python -m benchmarks.mutants --only turn.py --sample 40

A fault is one comparison, one logical word, one sign or one number turned round. The checkout is copied, so nothing
here is touched. Constants of a module, messages and evidence are not changed: what they should be is the catalogue's
business, and tested there.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import chess  # noqa: F401  for the children
import construct  # noqa: F401
import msgspec  # noqa: F401
import pytest

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("document.py", "families.py")
"""A page's text, and lists."""
MEMORY = 2 << 30
"""Bytes that a run may take: a fault may make a loop endless."""
LONGEST = 3600
TIMES = 3
"""Seconds of the processor that the tests may take without a fault, and how many times as long with one: what other
programs leave of the machine must not pass for a fault that was noticed."""
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
    for place, node in enumerate(_places(ast.parse(path.read_text(encoding="utf-8")))):
        for choice, (what, _) in enumerate(_changes(node)):
            yield Mutant(path, place, choice, getattr(node, "lineno", 0), what)


def _places(tree: ast.Module) -> list[ast.AST]:
    rounded = _rounded(tree)
    nodes = dict.fromkeys(node for function in _functions(tree) for node in ast.walk(function))
    return [node for node in nodes if node not in rounded]


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    """What is done, without docstrings, annotations and asserts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in ("state", "restore"):
            yield from (part for part in node.body if not isinstance(part, ast.Assert))


def _rounded(tree: ast.Module) -> set[ast.AST]:
    """How many digits a person is shown is no rule."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return {node.args[1] for node in calls if node.func.id == "round" and len(node.args) == 2}  # type: ignore[attr-defined]


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


def passes(copy: Path, seconds: int, first: str = "") -> bool:
    """Whether all tests pass in the copy, in this much time of the processor; the test file `first` before the others.

    The tests run in a child of this process, which has the libraries already.
    """
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return status == 0
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        tests = [name for name in (first, "tests/rules", "tests/test_cases.py") if name and (copy / name).exists()]
        os._exit(int(pytest.main(["-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests])))


def survives(mutant: Mutant, copy: Path, seconds: int) -> bool:
    """Whether no test notices."""
    target = copy / mutant.path.relative_to(ROOT)
    original = target.read_text(encoding="utf-8")
    target.write_text(mutant.source(), encoding="utf-8")
    try:
        return passes(copy, seconds, f"tests/rules/test_{mutant.path.name}")
    finally:
        target.write_text(original, encoding="utf-8")


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
        copy = Path(folder, "checkout")
        for name in ("gateway", "tests", "benchmarks", "docs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        Path(folder, "shared").symlink_to(ROOT.parent / "shared")
        if not passes(copy, LONGEST):
            parser.exit(1, "the tests fail without any fault of ours\n")
        usual = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = TIMES * (1 + int(usual.ru_utime + usual.ru_stime))
        for number, mutant in enumerate(chosen, 1):
            if survives(mutant, copy, seconds):
                print(f"survives: {mutant.path.name}:{mutant.line}: {mutant.what}", flush=True)
            else:
                noticed += 1
            if number % 5 == 0:
                print(f"{number}: {100 * noticed / number:.1f} % noticed", flush=True)
    print(f"{noticed} of {len(chosen)} noticed: {100 * noticed / max(1, len(chosen)):.1f} %")


if __name__ == "__main__":
    main()
