"""Run the benchmarks or the drills, each in a process of its own, and say which held (make bench, make drill).

A module `bench_*.py` measures and prints figures; a module `drill_*.py` breaks something on purpose (a killed worker,
twenty people racing for slots, hostile code) and prints what came of it; a module `check_*.py` takes a published file
through the product and compares with what is known of it. All run as `python -m tests.benchmarks.NAME`,
set up what they need, print lines of text, and exit 1 where a figure or an invariant does not hold.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def named(*kinds: str) -> list[str]:
    """Return the names of the modules of some kinds (`bench`, `drill`, `check`), in the order of the alphabet."""
    return sorted(path.stem for kind in kinds for path in HERE.glob(f"{kind}_*.py"))


def describe(names: list[str]) -> int:
    """Print each module's name with its first sentence."""
    for name in names:
        tree = ast.parse((HERE / f"{name}.py").read_text())
        print(f"{name:24} {(ast.get_docstring(tree) or '').splitlines()[0]}")
    return 0


def run(name: str) -> bool:
    """Run one module, its output going where ours goes, and return whether it held."""
    print(f"== {name}", flush=True)
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}"], cwd=ROOT, check=False)
    held = done.returncode == 0
    print(
        f"== {name}: {'holds' if held else 'DOES NOT HOLD'} ({time.monotonic() - began:.0f} s)\n", flush=True
    )
    return held


def main(arguments: list[str]) -> int:
    """Run those named, else all of a kind; return 1 where one did not hold, 2 for a name nobody knows."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--list", action="store_true", help="say what there is and run nothing")
    parser.add_argument("--drills", action="store_true", help="run drills and checks instead of benchmarks")
    parser.add_argument("names", nargs="*", help="part of a module's name, of whichever kind")
    chosen = parser.parse_args(arguments)
    if chosen.list:
        return describe(named("bench", "drill", "check"))
    kinds = (
        ("bench", "drill", "check") if chosen.names else ("drill", "check") if chosen.drills else ("bench",)
    )
    known = named(*kinds)
    wanted = [name for name in known if not chosen.names or any(part in name for part in chosen.names)]
    if not wanted:
        print(f"Nothing of that name. There is: {', '.join(known) or 'nothing'}")
        return 2
    failed = [name for name in wanted if not run(name)]
    print(
        f"{len(wanted) - len(failed)} of {len(wanted)} hold."
        + (f" Not: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
