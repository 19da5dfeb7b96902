"""How long the process takes on one small file, against `python -c "import click"`.

    python benchmarks/startup.py [--rounds N]

Both are started in turn, so that whatever else the machine does slows both, and
compared by the median of the ratios of their wall times; the ratio of their
least processor times is shown beside it. Exits 1 above the limit.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 2.0
SMALL_FILE = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
// Scales x (n floats) by s in place: grid ceil(n / 128), block 128.
extern "C" __global__ void __launch_bounds__(128) scale(float* __restrict__ x, float s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= s;
}
"""
RUN = "from cudalint.cli.main import main; main()"


def measure(command: list[str], folder: Path, env: dict[str, str]) -> tuple[float, float]:
    """Wall and processor seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, spent


def main() -> int:
    """Print the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    commands = {
        'python -c "import click"': [sys.executable, "-c", "import click"],
        "cudalint small.cu": [
            *(sys.executable, "-c", RUN, "small.cu"),
            *("--no-cache", "--compile", "never", "--isolated"),
        ],
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    # Compiled files are part of what an installation has: without this both start slower.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "small.cu").write_text(SMALL_FILE)
        env["PYTHONPYCACHEPREFIX"] = str(folder / "pycache")
        for command in commands.values():
            measure(command, folder, env)
        for _ in range(rounds):
            for label, command in commands.items():
                taken[label].append(measure(command, folder, env))
    base, ours = taken.values()
    for label, values in taken.items():
        fastest = min(spent for _, spent in values)
        wall = statistics.median(wall for wall, _ in values)
        print(f"{label:<28} processor {fastest * 1e3:6.0f} ms   wall {wall * 1e3:6.0f} ms")
    walls = statistics.median(own[0] / other[0] for own, other in zip(ours, base, strict=True))
    ratio = min(spent for _, spent in ours) / min(spent for _, spent in base)
    print(f"{'ratio':<28} processor {ratio:6.2f}      wall {walls:6.2f}      limit {LIMIT}")
    return int(walls > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
