"""cudalint beside the bare parse, cpplint, semgrep and clang-tidy, as one Markdown table.

    python benchmarks/peers.py [--rounds N] [--lines N …] [--folder FOLDER] [--into FILE]

Whole processes are run in turn on the same files, so that whatever else the machine
does slows all of them; each is compared with what ran beside it in the same round, by
the median of the ratios of processor times. The peers are looked for in --tools
(`make bench` installs them there); one that is missing is left out, and the table
says so. --into puts the table between the two marks of a file.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from itertools import pairwise
from math import log2
from pathlib import Path
from typing import NamedTuple

from contenders import PEERS, bare_parse, click, cudalint, environment, peer
from generator import make_tree, sources
from process import Spent, spend
from startup import SMALL_FILE

SIZES = (10_000, 100_000, 1_000_000)
PEER_LINES = 100_000
"""Up to so many lines the peers run too; cudalint and the bare parse at any size."""

SAMPLE = 12
"""Files for clang-tidy, which reads the toolkit's headers again for each."""

MARKS = ("<!-- measured -->\n", "<!-- end of measured -->\n")
TOOLS = Path(__file__).parents[1] / ".venv-peers" / "bin"


class Row(NamedTuple):
    """One line of the table; `ratio` says how it lies to the row that it is compared with."""

    files: str
    what: str
    spent: Spent
    ratio: str = ""
    target: str = ""


class Scene:
    """Some files, and the contenders that run on them in turn."""

    def __init__(self, name: str, folder: Path, env: dict[str, str], rounds: int) -> None:
        self.name = name
        self.folder = folder
        self._env = env
        self._rounds = rounds
        self._commands: dict[str, list[str | Path]] = {}
        self._before: dict[str, Path] = {}
        self.spent: dict[str, list[Spent]] = {}

    def add(self, what: str, command: list[str | Path], emptied: Path | None = None) -> None:
        """One contender; `emptied` is deleted before each of its runs."""
        self._commands[what] = command
        if emptied is not None:
            self._before[what] = emptied

    def run(self) -> None:
        """All of them, round by round."""
        for number in range(self._rounds):
            for what, command in self._commands.items():
                if what in self._before:
                    shutil.rmtree(self._before[what], ignore_errors=True)
                print(f"{self.name}: {what}, round {number + 1}", file=sys.stderr, flush=True)
                spent = spend(command, self.folder, self._env)
                self.spent.setdefault(what, []).append(spent)

    def row(self, what: str, against: str = "", target: str = "") -> Row:
        """The medians of a contender, and how it lies to another one."""
        values = [statistics.median(column) for column in zip(*self.spent[what], strict=True)]
        ratio = f"{self.ratio(what, against):.2f} × {against}" if against else ""
        return Row(self.name, what, Spent(*values), ratio, target)

    def ratio(self, what: str, against: str) -> float:
        """The median over the rounds of how much more processor time `what` takes."""
        pairs = zip(self.spent[what], self.spent[against], strict=True)
        return statistics.median(one.processor / other.processor for one, other in pairs)


def one_file(scratch: Path, env: dict[str, str], rounds: int) -> list[Row]:
    """A small file, against the start of any program with the same command-line library."""
    folder = scratch / "small"
    folder.mkdir()
    (folder / "small.cu").write_text(SMALL_FILE)
    scene = Scene("one small file", folder, env, max(rounds, 9))
    cache = scratch / "small-cache"
    scene.add("import click", click())
    scene.add("cudalint, cold", cudalint("small.cu"))
    scene.add("cudalint, warm", cudalint("small.cu", cache=cache))
    spend(cudalint("small.cu", cache=cache), folder, env)
    scene.run()
    return [
        scene.row("import click"),
        scene.row("cudalint, cold", "import click", "at most 2"),
        scene.row("cudalint, warm", "import click"),
    ]


def tree(
    folder: Path, scratch: Path, env: dict[str, str], rounds: int, tools: Path
) -> tuple[list[Row], float]:
    """A whole tree; the rows, and the processor seconds of a cold run for each line of it."""
    files = sources(folder)
    lines = sum(file.read_bytes().count(b"\n") for file in files)
    scene = Scene(f"{lines:,} lines in {len(files):,} files", folder, env, rounds)
    cache = scratch / "cache"
    scene.add("bare parse", bare_parse(folder))
    scene.add("cudalint, no cache", cudalint(".", "--jobs=1"))
    scene.add("cudalint, fills the cache, 2 jobs", cudalint(".", "--jobs=2", cache=cache), cache)
    scene.add("cudalint, warm", cudalint(".", "--jobs=1", cache=cache))
    peers = [p for p in PEERS[:2] if (tools / p).is_file() and lines <= PEER_LINES * 1.1]
    for name in peers:
        scene.add(name, peer(name, tools, files, scratch))
    scene.run()
    rows = [
        scene.row("bare parse"),
        scene.row("cudalint, no cache", "bare parse", "at most 2.5"),
        scene.row("cudalint, fills the cache, 2 jobs", "bare parse"),
        scene.row("cudalint, warm", "bare parse", "at most 0.3"),
        *(scene.row(name, "cudalint, no cache", "at least 8") for name in peers),
    ]
    cold = statistics.median(one.processor for one in scene.spent["cudalint, no cache"])
    return rows, cold / lines


def sample(folder: Path, scratch: Path, env: dict[str, str], tools: Path) -> list[Row]:
    """A few sources of a tree, for clang-tidy: headers are read with what includes them."""
    units = [file for file in sources(folder) if file.suffix in (".cu", ".cpp", ".cc")]
    chosen = units[:: max(1, len(units) // SAMPLE)][:SAMPLE]
    own = scratch / "sample"
    for file in sources(folder):
        if file in chosen or file not in units:
            copy = own / file.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    files = [own / file.relative_to(folder) for file in chosen]
    scene = Scene(f"{len(files)} sources and all headers", own, env, 1)
    scene.add("cudalint, no cache", cudalint(".", "--jobs=1"))
    scene.add("clang-tidy", peer("clang-tidy", tools, files, scratch))
    scene.run()
    row = scene.row("clang-tidy", "cudalint, no cache", "at least 50")
    return [scene.row("cudalint, no cache"), row]


def machine() -> str:
    """What everything ran on."""
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    python = f"Python {platform.python_version()}"
    busy = os.getloadavg()[0]
    cpu = f"{os.cpu_count()} × {models[0] if models else platform.machine()}"
    return (
        f"{cpu}, {platform.system()} {platform.release()}, {python}; load {busy:.1f} at the start"
    )


def versions(tools: Path) -> str:
    """What was compared."""
    own = [f"{name} {version(name)}" for name in ("cudalint", "tree-sitter", "tree-sitter-cuda")]
    for name in PEERS:
        if not (tools / name).is_file():
            own.append(f"{name} was not at hand")
            continue
        said = subprocess.run([tools / name, "--version"], capture_output=True, text=True).stdout
        words = [word for word in said.split() if word[0].isdigit()]
        own.append(f"{name} {words[0]}")
    return ", ".join(own)


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    lines = [
        "| Files | What | Wall s | CPU s | Peak MB | CPU against | Target |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    for row in rows:
        spent = f"{row.spent.wall:.2f} | {row.spent.processor:.2f} | {row.spent.peak:.0f}"
        lines.append(f"| {row.files} | {row.what} | {spent} | {row.ratio} | {row.target} |")
    return "\n".join(lines) + "\n"


def doubling(costs: Sequence[tuple[int, float]]) -> str:
    """What twice the lines cost, between each size and the next."""
    found = []
    for (few, before), (many, after) in pairwise(costs):
        factor = 2 * (after / before) ** (1 / log2(many / few))
        found.append(f"{few:,} to {many:,} lines: {factor:.2f}")
    return (
        "Doubling the code costs so many times as much (at most 2.1): " + "; ".join(found) + ".\n"
    )


def measure(arguments: argparse.Namespace, scratch: Path) -> str:
    """Everything, as Markdown."""
    env = environment(scratch)
    rows: list[Row] = []
    told = [f"{machine()}.\n{versions(arguments.tools)}.\n"]
    if arguments.folder is not None:
        folders = [arguments.folder.resolve()]
    else:
        rows += one_file(scratch, env, arguments.rounds)
        folders = [scratch / str(lines) for lines in arguments.lines]
    costs = []
    for folder in folders:
        if arguments.folder is None:
            make_tree(folder, int(folder.name))
        found, cost = tree(folder, scratch, env, arguments.rounds, arguments.tools)
        rows += found
        lines = sum(file.read_bytes().count(b"\n") for file in sources(folder))
        costs.append((lines, cost))
    if (arguments.tools / "clang-tidy").is_file():
        rows += sample(folders[0], scratch, env, arguments.tools)
    told.append(table(rows))
    if len(costs) > 1:
        told.append(doubling(costs))
    return "\n".join(told)


def main() -> int:
    """Print the table, or put it into a file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, nargs="+", default=SIZES)
    parser.add_argument("--folder", type=Path, help="a tree of your own instead of generated ones")
    parser.add_argument("--tools", type=Path, default=TOOLS, help="where the peers are installed")
    parser.add_argument("--into", type=Path, help="a file with the two marks")
    arguments = parser.parse_args()
    # Programs are run in folders of other trees.
    arguments.tools = arguments.tools.absolute()
    with tempfile.TemporaryDirectory() as name:
        text = measure(arguments, Path(name))
    print(text)
    if arguments.into is not None:
        before, _, rest = arguments.into.read_text().partition(MARKS[0])
        _, _, after = rest.partition(MARKS[1])
        arguments.into.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
