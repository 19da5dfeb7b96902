"""How long the compile stage takes, against bare nvcc processes that do the same compiles.

    python benchmarks/compile_stage.py [--rounds N] [--jobs N] [--files N]

Both compile sources of the shipped tree, as its targets want them: one by
`xargs -P N`, the other with no cache, with an empty cache, and with a warm one.
They take turns, and the median of the rounds' ratios is compared, so that
whatever else the machine does weighs on both; each compile is a session of its
own in both, for a busy Linux shares its processors out by session. Exits 1 above
a limit, 2 without nvcc.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from cudalint.compile.command import Command, build_command
from cudalint.compile.plan import plan
from cudalint.compile.request import CompileRequest
from cudalint.compile.stage import compile_files
from cudalint.compile.toolchain import Toolchains, find_toolchains
from cudalint.extraction import default_jobs
from cudalint.settings.model import Settings
from cudalint.tree.read import find_trees

COLD_LIMIT = 1.15
WARM_LIMIT = 0.05
ROOT = Path(__file__).parents[1] / "kernels"
_PATIENCE = 600.0


def requests_of(count: int) -> list[CompileRequest]:
    """The first compiles that the shipped tree asks for, none twice."""
    paths = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.cu"))
    trees = find_trees(ROOT, sorted({str(Path(path).parent) for path in paths})).cuda
    asked = plan(paths, ROOT, trees, Settings())
    alone = {(r.path, r.arch, r.include_paths, r.flags): r for r in asked}
    return list(alone.values())[:count]


def bare(requests: Sequence[CompileRequest], nvcc: str, jobs: int) -> float:
    """The seconds that xargs takes for the compiles, each in a folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        lines = []
        for number, request in enumerate(requests):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            command = build_command(request, folder)
            assert isinstance(command, Command), command.why
            lines.append(shlex.join(command.arguments))
        start = time.perf_counter()
        subprocess.run(
            ["xargs", "-P", str(jobs), "-L", "1", "setsid", "--wait", nvcc],
            input="\n".join(lines),
            cwd=scratch,
            text=True,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - start


def staged(
    requests: Sequence[CompileRequest], toolchains: Toolchains, jobs: int, cache: Path | None
) -> float:
    """The seconds that the compile stage takes for them."""
    start = time.perf_counter()
    files = compile_files(requests, toolchains, jobs, _PATIENCE, cache)
    took = time.perf_counter() - start
    failures = [c.failure for file in files for c in file.compilations if c.failure]
    if failures:
        raise SystemExit(f"a compile failed: {failures[0]}")
    return took


def main() -> int:
    """Print the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--files", type=int, default=16, help="how many compiles")
    options = parser.parse_args()
    toolchains = find_toolchains()
    if not toolchains.found:
        print("no nvcc: " + ("; ".join(toolchains.problems) or "none found"), file=sys.stderr)
        return 2
    toolchains = Toolchains(toolchains.found[:1])
    requests = requests_of(options.files)
    print(f"{len(requests)} compiles, {options.jobs} jobs, nvcc {toolchains.found[0].version}")
    times: dict[str, list[float]] = {name: [] for name in ("xargs", "no cache", "empty", "warm")}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as cache:
            times["xargs"].append(bare(requests, toolchains.found[0].nvcc, options.jobs))
            times["no cache"].append(staged(requests, toolchains, options.jobs, None))
            times["empty"].append(staged(requests, toolchains, options.jobs, Path(cache)))
            times["warm"].append(staged(requests, toolchains, options.jobs, Path(cache)))
    limits = {"no cache": COLD_LIMIT, "empty": COLD_LIMIT, "warm": WARM_LIMIT}
    print(f"{'':10} {'seconds':>8} {'ratio':>7} {'limit':>7}")
    over = False
    for name, taken in times.items():
        pairs = zip(taken, times["xargs"], strict=True)
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        limit = limits.get(name)
        over |= limit is not None and ratio > limit
        shown = "" if limit is None else f"{limit:7.2f}"
        print(f"{name:10} {statistics.median(taken):8.2f} {ratio:7.3f} {shown:>7}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
