"""Whether the cost of a run grows as the code does: trees of 12,500 to 100,000 lines.

    python benchmarks/scale.py [--rounds N] [--lines N ...]

The trees are those of `benchmarks/generator.py`. Each size is linted by all source rules in
a process of its own, cache off, nothing compiled, in turn with the bare parse of the
same files. Exits 1 when doubling the code costs more than 2.2 times, a run
takes more than 4 times the bare parse, or more than 600 MB.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import resource
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import tree_sitter_cuda
from tree_sitter import Language, Parser

from cudalint.runner import Request, run
from generator import make_tree, sources

SIZES = (12_500, 25_000, 50_000, 100_000)
GROWTH = 2.2
RATIO = 4.0
MEGABYTES = 600


def measure(wanted: int, rounds: int) -> tuple[int, float, float, int, int]:
    """Lines, the least CPU seconds of a run and of the bare parse, peak MB, findings."""
    gc.disable()  # as the command line does it
    parser = Parser(Language(tree_sitter_cuda.language()))
    linted, parsed = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "tree"
        lines = make_tree(folder, wanted)
        request = Request((".",), folder, isolated=True, compile="never")
        for _ in range(rounds):
            start = time.process_time()
            # Read here, so that what the process holds at most is the run's alone.
            for file in sources(folder):
                parser.parse(file.read_bytes())
            parsed.append(time.process_time() - start)
            start = time.process_time()
            finished = run(request)
            linted.append(time.process_time() - start)
    for told in finished.notifications:
        raise RuntimeError(f"this is no measure of a run that fails: {told.message}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return lines, min(linted), min(parsed), peak, len(finished.findings)


def main() -> int:
    """Print the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--lines", type=int, nargs="+", default=SIZES)
    arguments = parser.parse_args()
    faults = []
    costs = []
    print(f"{'lines':>8} {'CPU s':>7} {'bare s':>7} {'ratio':>6} {'growth':>7}  peak MB  found")
    context = multiprocessing.get_context("spawn")
    for wanted in arguments.lines:
        with context.Pool(1) as pool:
            lines, seconds, bare, peak, found = pool.apply(measure, (wanted, arguments.rounds))
        costs.append((lines, seconds))
        growth = ""
        for (few, before), (many, after) in list(pairwise(costs))[-1:]:
            doubling = after / before / (many / few) * 2
            growth = f"{doubling:.2f}"
            if doubling > GROWTH:
                faults.append(f"{lines} lines cost {growth} times half of them")
        if seconds / bare > RATIO:
            faults.append(f"{lines} lines take {seconds / bare:.2f} times the bare parse")
        if peak > MEGABYTES:
            faults.append(f"{lines} lines take {peak} MB")
        print(f"{lines:8} {seconds:7.2f} {bare:7.2f} {seconds / bare:6.2f} {growth:>7} "
              f"{peak:8} {found:6}", flush=True)  # fmt: skip
    for fault in faults:
        print(f"above the limit: {fault}", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main())
