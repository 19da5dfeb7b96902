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
from itertools import pairwise
from pathlib import Path

from cudalint.runner import Request, run
from generator import make_tree, sources
from interleaved import Cost, cost

SIZES = (12_500, 25_000, 50_000, 100_000)
GROWTH = 2.2
RATIO = 4.0
MEGABYTES = 600


def measure(wanted: int, rounds: int) -> tuple[int, Cost, int, int]:
    """Lines, what they cost, peak MB, findings."""
    gc.disable()  # as the command line does it
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "tree"
        lines = make_tree(folder, wanted)
        request = Request((".",), folder, isolated=True, compile="never")
        # The first run imports what the others find imported.
        finished = run(request)
        costs = cost(lambda: run(request), list(sources(folder)), rounds)
    for told in finished.notifications:
        raise RuntimeError(f"this is no measure of a run that fails: {told.message}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return lines, costs, peak, len(finished.findings)


def main() -> int:
    """Print the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, nargs="+", default=SIZES)
    arguments = parser.parse_args()
    faults = []
    measured = []
    print(f"{'lines':>8} {'CPU s':>7} {'bare s':>7} {'ratio':>6} {'growth':>7}  peak MB  found")
    context = multiprocessing.get_context("spawn")
    for wanted in arguments.lines:
        with context.Pool(1) as pool:
            lines, costs, peak, found = pool.apply(measure, (wanted, arguments.rounds))
        measured.append(costs.ratio)
        growth = ""
        for before, after in list(pairwise(measured))[-1:]:
            doubling = 2 * after / before
            growth = f"{doubling:.2f}"
            if doubling > GROWTH:
                faults.append(f"{lines} lines cost {growth} times half of them")
        if costs.ratio > RATIO:
            faults.append(f"{lines} lines take {costs.ratio:.2f} times the bare parse")
        if peak > MEGABYTES:
            faults.append(f"{lines} lines take {peak} MB")
        print(f"{lines:8} {costs.run:7.2f} {costs.parse:7.2f} {costs.ratio:6.2f} {growth:>7} "
              f"{peak:8} {found:6}", flush=True)  # fmt: skip
    for fault in faults:
        print(f"above the limit: {fault}", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main())
