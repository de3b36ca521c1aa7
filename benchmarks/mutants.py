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
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("document.py", "families.py")
"""A page's text, and lists."""
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Mult: ast.Add,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A fault: where, what, and the file with it."""

    path: Path
    line: int
    what: str
    source: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Every fault of one file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    places = [node for function in _functions(tree) for node in ast.walk(function)]
    places = list(dict.fromkeys(places))
    for number, node in enumerate(places):
        for what, change in _changes(node):
            copy = deepcopy(tree)
            twin = list(dict.fromkeys(n for function in _functions(copy) for n in ast.walk(function)))[number]
            change(twin)
            yield Mutant(path, getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(copy)))


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    """What is done, without docstrings, annotations and asserts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in ("state", "restore"):
            yield from (part for part in node.body if not isinstance(part, ast.Assert))


def _changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            other = COMPARED[type(op)]
            yield f"{type(op).__name__} to {other.__name__}", lambda twin: setattr(twin, "ops", [other()])
        case ast.BoolOp(op=ast.And()):
            yield "and to or", lambda twin: setattr(twin, "op", ast.Or())
        case ast.BoolOp(op=ast.Or()):
            yield "or to and", lambda twin: setattr(twin, "op", ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield "not dropped", lambda twin: setattr(twin, "op", ast.UAdd()) or _bool(twin)
        case ast.BinOp(op=op) if type(op) in COMPUTED:
            arithmetic = COMPUTED[type(op)]
            yield f"{type(op).__name__} to {arithmetic.__name__}", lambda twin: setattr(twin, "op", arithmetic())
        case ast.Constant(value=bool() as value):
            yield f"{value} to {not value}", lambda twin: setattr(twin, "value", not value)
        case ast.Constant(value=int() as number):
            yield f"{number} to {number + 1}", lambda twin: setattr(twin, "value", number + 1)
        case ast.Continue():
            yield "continue to break", lambda twin: setattr(twin, "__class__", ast.Break)


def _bool(twin: ast.UnaryOp) -> None:
    """`not x` becomes `bool(x)`, spelled with two more nots."""
    twin.op, twin.operand = ast.Not(), ast.UnaryOp(ast.Not(), twin.operand)


def survives(mutant: Mutant, copy: Path, seconds: float) -> bool:
    """Whether no test notices."""
    target = copy / "work" / mutant.path.relative_to(ROOT)
    original = target.read_text(encoding="utf-8")
    target.write_text(mutant.source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider",
               "tests/rules", "tests/test_cases.py"]  # fmt: skip
    try:
        done = subprocess.run(command, cwd=copy / "work", capture_output=True, timeout=seconds, check=False)
        return done.returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        target.write_text(original, encoding="utf-8")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="files whose name begins with this")
    parser.add_argument("--seconds", type=float, default=120.0, help="after which a run counts as noticed")
    arguments = parser.parse_args()
    files = [p for p in sorted((ROOT / "gateway" / "rules").glob("*.py")) if p.name not in LEFT_OUT]
    every = [mutant for path in files if path.name.startswith(arguments.only) for mutant in mutants(path)]
    chosen = Random(arguments.seed).sample(every, min(arguments.sample, len(every)))
    print(f"{len(every)} faults are possible, {len(chosen)} are tried", flush=True)
    noticed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("gateway", "tests", "benchmarks"):
            shutil.copytree(ROOT / name, copy / "work" / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy / "work")
        (copy / "shared").symlink_to(ROOT.parent / "shared")
        for number, mutant in enumerate(chosen, 1):
            if survives(mutant, copy, arguments.seconds):
                print(f"survives: {mutant.path.name}:{mutant.line}: {mutant.what}", flush=True)
            else:
                noticed += 1
            if number % 25 == 0:
                print(f"{number}: {100 * noticed / number:.1f} % noticed", flush=True)
    print(f"{noticed} of {len(chosen)} noticed: {100 * noticed / max(1, len(chosen)):.1f} %")


if __name__ == "__main__":
    main()
