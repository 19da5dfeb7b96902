"""How fast one process lints a tree of some 10,000 lines, against the bare parse of its files.

    python benchmarks/throughput.py [--rounds N] [--profile]

The trees are two of `benchmarks/generator.py`: kernels alone, for which the limit is,
and kernels with an engine around them, whose growth `benchmarks/scale.py` watches. Both
are timed in turn in this process, cache off, nothing compiled; compared by the median of
the rounds' ratios, so that whatever else the machine does weighs on both. Exits 1 above
the limit.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from pathlib import Path

from cudalint.run import Run
from cudalint.runner import Request, run
from generator import make_tree, sources
from interleaved import cost

LIMIT = 4.0
LINES = 10_000


def lint(folder: Path) -> Run:
    """One run over the tree, as the command line does it."""
    return run(Request((".",), folder, isolated=True, compile="never"))


def main() -> int:
    """Print the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    arguments = parser.parse_args()
    # As the command line does it.
    gc.disable()
    ratios = [measure(arguments, engine=engine) for engine in (False, True)]
    return int(ratios[0] > LIMIT)


def measure(arguments: argparse.Namespace, *, engine: bool) -> float:
    """Lint one tree and say what it took: the ratio to the bare parse."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "tree"
        lines = make_tree(folder, LINES, engine=engine)
        files = list(sources(folder))
        finished = lint(folder)
        costs = cost(lambda: lint(folder), files, arguments.rounds)
        if arguments.profile:
            profile(folder)
    what = "kernels and an engine around them" if engine else "kernels"
    print(f"{what}: {lines} lines in {len(files)} files, {finished.counts.kernels} kernels, "
          f"{len(finished.findings)} findings")  # fmt: skip
    print(f"  {'bare parse':<12} {costs.parse * 1e3:7.0f} ms")
    print(f"  {'cudalint':<12} {costs.run * 1e3:7.0f} ms")
    print(f"  {'ratio':<12} {costs.ratio:7.2f}" + ("" if engine else f"    limit {LIMIT}"))
    return costs.ratio


def profile(folder: Path) -> None:
    """Print the functions that take the most time of their own."""
    import cProfile
    import pstats

    profiler = cProfile.Profile()
    profiler.runcall(lint, folder)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    raise SystemExit(main())
