"""Kills cudalint at random moments, and looks at what it left.

    python tests/faults/killing.py [--kills N] [--seed N] [--scenario NAME]

A scenario is a command over a small tree with a cache. It is killed (SIGKILL), by
turns at a random time and before a random one of its file operations, until N kills
have hit it at work; one that came too late does not count. After each: no file of
the tree is anything but what it was or what it was to become, and neither is an
output; every model of the cache that has its final name can be read; no worker is
left; and the same command over what was left does all of its work. Each run is forked
from a process that has imported everything, so that what is killed is the work.
Prints a line a scenario, and exits 1 where something broke.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from cudalint.cli.main import main as cudalint
from cudalint.reporters.html import html
from cudalint.reporters.sarif import sarif
from cudalint.reporters.text import text
from cudalint.runner import Request, run
from cudalint.syntax.model import FileModel

Files = dict[str, bytes]

SPDX = b"// SPDX-License-Identifier: MIT OR Apache-2.0\n"
PRINTS = SPDX + (
    b'#include <cstdio>\nextern "C" __global__ void k%d(float* x) {\n  printf("%%f", *x);\n'
    b"  *x = 1;\n}\nvoid f%d(float* x, cudaStream_t s) {\n  k%d<<<1, 64, 0, s>>>(x);\n"
    b"  cudaStreamSynchronize(s);\n}\n"
)
FEW, MANY = 8, 66
"""Files of a tree that one process reads, and of one that several do."""

NVCC = """\
#!/bin/sh
case "$1" in
  --version) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit;;
  --list-gpu-code) printf 'sm_90\\nsm_121\\n'; exit;;
esac
for source; do :; done
while [ $# -gt 1 ]; do
  case "$1" in -o) output=$2;; -MF) listing=$2;; esac
  shift
done
echo "$output : $source" > "$listing"
: > "$output"
"""
COMMON = ("--isolated", "--cache-dir", "../cache", "--select", "ALL", "--preview")
NEVER = ("--compile", "never", "--jobs", "1")


OPERATIONS = frozenset(
    ("open", "os.rename", "os.remove", "os.mkdir", "os.chmod", "os.truncate", "os.utime")
)
"""What is counted as file operations: audit events of Python."""


class Scenario(msgspec.Struct, frozen=True):
    """A command; `outputs` are the files that it writes besides the sources, below the tree.

    `changes` tells that it finds another tree, or an output to add to, the next time.
    """

    command: tuple[str, ...]
    files: int = FEW
    outputs: tuple[str, ...] = ()
    changes: bool = False


SCENARIOS = {
    "check": Scenario(
        ("check", *COMMON, *NEVER, "--output", "sarif:a.sarif", "--output", "html:a.html"),
        outputs=("a.sarif", "a.html"),
    ),
    "workers": Scenario(("check", *COMMON, "--compile", "never", "--jobs", "2"), files=MANY),
    "nvcc": Scenario(("check", *COMMON, "--compile", "always", "--jobs", "2"), files=3),
    "fix": Scenario(("check", *COMMON, *NEVER, "--fix", "--unsafe-fixes"), changes=True),
    "suppress": Scenario(
        ("check", *COMMON, *NEVER, "--add-suppressions", "--reason", "known since March"),
        changes=True,
    ),
    "baseline": Scenario(
        ("baseline", "write", *COMMON, *NEVER, "--baseline", "baseline.json"),
        outputs=("baseline.json",),
        changes=True,
    ),
    "graph": Scenario(("graph", "f1", "--isolated", "--cache-dir", "../cache", "--jobs", "1")),
}


class BrokenError(Exception):
    """What a kill has left is not what it may leave."""


class Bench:
    """One scenario in `folder`: its tree, its cache, and what an undisturbed run makes of it."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self._scenario = scenario
        self._folder = folder
        self._tree, self._cache = folder / "tree", folder / "cache"
        self._said = folder / "said"
        for name in ("bin", "tmp"):
            (folder / name).mkdir()
        (folder / "bin" / "nvcc").write_text(NVCC)
        (folder / "bin" / "nvcc").chmod(0o755)
        self._before: Files = {f"f{n}.cu": PRINTS % (n, n, n) for n in range(scenario.files)}
        self.restore(cold=True)
        started = time.monotonic()
        process, events = self._start()
        with os.fdopen(events, "rb") as stream:
            self.operations = len(stream.read())
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        self.seconds = time.monotonic() - started
        self._after = self._state()
        self._told = (code, self._said.read_bytes())
        if code == 2 or not all(name in self._after for name in scenario.outputs):
            raise BrokenError(f"undisturbed: {self._said.read_text()}")

    def restore(self, *, cold: bool) -> None:
        """The tree as it was at first; `cold` takes the cache away."""
        shutil.rmtree(self._tree, ignore_errors=True)
        if cold:
            shutil.rmtree(self._cache, ignore_errors=True)
        self._tree.mkdir()
        for name, data in self._before.items():
            (self._tree / name).write_bytes(data)

    def kill(self, *, after: float = 0, at: int = 0) -> bool:
        """Start the command; kill it `after` seconds, or before its `at`-th file operation.

        Whether it was still at work then.
        """
        process, events = self._start(at)
        if not at:
            time.sleep(after)
            os.kill(process, signal.SIGKILL)
        killed = os.WIFSIGNALED(os.waitpid(process, 0)[1])
        with os.fdopen(events, "rb") as stream:
            ended, _, _ = select.select([stream], [], [], 20)
            # The pipe ends when the last process that was forked has.
            while ended and stream.read1():
                ended, _, _ = select.select([stream], [], [], 20)
        if not ended:
            raise BrokenError("a worker outlived what was killed")
        return killed

    def judge(self) -> bool:
        """Look at what was left, then run the command over it. Raises BrokenError.

        Gives whether it was killed in the midst of writing into the tree.
        """
        found = self._state()
        self._judge_files(found, "after the kill", self._before, self._after)
        for entry in self._cache.glob("models/*/*"):
            if not entry.suffix and entry.parent.name != "runs":
                msgspec.msgpack.decode(entry.read_bytes(), type=FileModel)
        told = self._run(), self._said.read_bytes()
        state = self._state()
        self._judge_files(state, "after another run", self._after)
        if state.keys() - set(self._drafts()) != self._after.keys():
            raise BrokenError(f"after another run: {sorted(state)}")
        if told[0] == 2 or (told != self._told and not self._scenario.changes):
            raise BrokenError(f"another run says: {told}")
        return found not in (self._before, self._after)

    def _judge_files(self, found: Files, when: str, *allowed: Files) -> None:
        drafts = self._drafts()
        for name, data in found.items():
            if all(files.get(name) != data for files in allowed) and name not in drafts:
                raise BrokenError(f"{when}: {name} holds {len(data)} bytes, {data[:200]!r}")
        if not self._before.keys() <= found.keys():
            raise BrokenError(f"{when}: {self._before.keys() - found.keys()} is gone")

    def _state(self) -> Files:
        return {file.name: file.read_bytes() for file in sorted(self._tree.iterdir())}

    def _drafts(self) -> list[str]:
        """Hidden files that no run reads: what a killed one was about to give its name."""
        return [file.name for file in self._tree.glob(".*.tmp")]

    def _run(self) -> int:
        process, events = self._start()
        os.close(events)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def _start(self, dies_at: int = 0) -> tuple[int, int]:
        """The command in a process of its own, and a pipe with a byte for each file operation."""
        reading, writing = os.pipe()
        process = os.fork()
        if process:
            os.close(writing)
            return process, reading
        os.close(reading)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        os.chdir(self._tree)
        said = os.open(self._said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.environ["PATH"] = f"{self._folder / 'bin'}:/usr/bin:/bin"
        os.environ["TMPDIR"] = str(self._folder / "tmp")
        sys.argv = ["cudalint", *self._scenario.command]
        _watch(writing, dies_at)
        cudalint()
        os._exit(99)


def _watch(pipe: int, dies_at: int) -> None:
    """From now on, a byte into `pipe` for each file operation of this process, the last one's."""
    watched, count = os.getpid(), 0

    def note(event: str, _: object) -> None:
        nonlocal count
        if event in OPERATIONS and os.getpid() == watched:
            count += 1
            if count == dies_at:
                os.kill(watched, signal.SIGKILL)
            with suppress(BrokenPipeError):
                os.write(pipe, b".")

    sys.addaudithook(note)


def try_scenario(name: str, kills: int, dice: random.Random) -> str:
    """Kill it so often; a line on what that was. Raises BrokenError."""
    with tempfile.TemporaryDirectory(prefix="cudalint-kill-", ignore_cleanup_errors=True) as folder:
        bench = Bench(SCENARIOS[name], Path(folder))
        hit = late = writing = 0
        while hit < kills:
            # Every other time with the cache that the last one left.
            bench.restore(cold=hit % 4 < 2)
            if hit % 2:
                killed = bench.kill(after=dice.uniform(0, bench.seconds))
            else:
                killed = bench.kill(at=dice.randint(1, bench.operations))
            if not killed:
                late += 1
                continue
            hit += 1
            writing += bench.judge()
        return (
            f"{name}: {hit} kills in runs of {bench.seconds * 1000:.0f} ms and "
            f"{bench.operations} file operations, {writing} with the tree half changed; "
            f"{late} came too late"
        )


def import_everything() -> None:
    """Lint in this process, so that what is forked from it has nothing left to import."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.cu").write_bytes(PRINTS % (1, 1, 1))
        finished = run(Request((".",), Path(folder), isolated=True, compile="never"))
    for report in (text, sarif, html):
        report(finished)


def main() -> int:
    """Run the scenarios. Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=72, help="in each scenario")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="only this one")
    arguments = parser.parse_args()
    import_everything()
    dice = random.Random(arguments.seed)
    broken = 0
    for name in arguments.scenario or SCENARIOS:
        try:
            print(try_scenario(name, arguments.kills, dice), flush=True)
        except BrokenError as error:
            print(f"{name}: BROKEN {error}", flush=True)
            broken += 1
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())
