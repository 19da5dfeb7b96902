"""Measures the shipped kernels on the GPU at hand and writes ``docs/kernels.md``.

    python benchmarks/gpu/run.py [--output FILE] [--only STEM ...]

Runs every ``bench_<stem>.py`` beside it. Exits 1 when a kernel falls short of its bound.
"""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
# The kernels' driver and launch tables live with their tests.
sys.path.insert(0, str(ROOT / "tests"))

from case import Case, Result  # noqa: E402
from report import Machine, falls_short, page  # noqa: E402
from timing import ROUNDS, Timer, device_copy  # noqa: E402

from gpu.driver import Engine, torch  # noqa: E402
from gpu.launch import read_launches  # noqa: E402

LARGE_COPY_BYTES = 4 << 30


def stems(only: Sequence[str]) -> list[str]:
    """The benchmarks to run, by kernel stem. Raises SystemExit for one that is not there."""
    found = sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))
    unknown = sorted(set(only) - set(found))
    if unknown:
        raise SystemExit(f"no benchmark for {', '.join(unknown)}; there is {', '.join(found)}")
    return [stem for stem in found if not only or stem in only]


def all_cases(engine: Engine, only: Sequence[str]) -> Iterator[Case]:
    for stem in stems(only):
        yield from importlib.import_module(f"bench_{stem}").cases(engine)


def measure(timer: Timer, case: Case) -> Result:
    ours, reference, copy = timer.medians(
        [case.ours, case.reference, device_copy(case.bytes_moved)]
    )
    return Result(case, ours_us=ours, reference_us=reference, copy_us=copy)


def describe_machine(timer: Timer) -> Machine:
    (copy_us,) = timer.medians([device_copy(LARGE_COPY_BYTES)])
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True)
    release = re.search(r"release [\d.]+, V([\d.]+)", version.stdout)
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(query, capture_output=True, text=True, check=True)
    return Machine(
        date=datetime.now(timezone.utc).date().isoformat(),
        gpu=torch.cuda.get_device_name(),
        capability=".".join(str(n) for n in torch.cuda.get_device_capability()),
        driver=driver.stdout.split("\n", maxsplit=1)[0],
        nvcc=release[1] if release else version.stdout.strip(),
        torch=torch.__version__,
        copy_gbs=LARGE_COPY_BYTES / copy_us / 1e3,
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "kernels.md")
    parser.add_argument("--only", nargs="*", default=[], metavar="STEM")
    options = parser.parse_args(arguments)

    engine = Engine()
    timer = Timer(engine.stream)
    machine = describe_machine(timer)
    results = []
    for case in all_cases(engine, options.only):
        result = measure(timer, case)
        results.append(result)
        print(
            f"{case.kernel:30} {case.leaf:26} {case.phase:8} {case.shape:44} "
            f"{result.ours_us:9.1f} us  copy {100 * result.copy_share:4.0f} %  "
            f"{case.reference_name} {result.speedup:.2f}x",
            flush=True,
        )
    text = page(machine, ROUNDS, results, read_launches().values())
    options.output.write_text(text, encoding="utf-8")
    return 1 if any(falls_short(result) for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
