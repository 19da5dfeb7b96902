"""What clang-tidy and cpplint say where cudalint finds something, as a Markdown table.

    python benchmarks/peer_findings.py [--tools FOLDER] [--into FILE]

The cases are the rules' own examples: of each rule the first INVALID one that is a
single CUDA source. A peer is run on the same file, and counts where it reports
something on a marked line, whatever it is: the table gives its names for that.
clang-tidy has the check groups that are about faults, cpplint all that is on by
default. --into puts the table between the two marks of a file.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from contenders import clang_arguments
from cudalint.registry import all_rules
from cudalint.rule import Rule
from cudalint.testing.annotated import read_annotated

TOOLS = Path(__file__).parents[1] / ".venv-peers" / "bin"
MARKS = ("<!-- peer findings -->\n", "<!-- end of peer findings -->\n")
GROUPS = ("bugprone", "cert", "clang-analyzer", "concurrency", "misc", "performance", "portability")
CHECKS = ",".join(["-*", *(f"{group}-*" for group in GROUPS), "-misc-include-cleaner"])
"""Examples leave their includes out, so that is no fault of theirs."""
_TIDY = re.compile(r"^(.+?):(\d+):\d+: (?:warning|error): .* \[([\w.,+-]+)\]$", re.MULTILINE)
_NO_CUDA = re.compile(r"__clang_cuda\w*\.h:\d+:\d+: (?:fatal )?error")
_CPPLINT = re.compile(r"^(.+?):(\d+):  .*  \[([\w/+]+)\] \[\d\]$", re.MULTILINE)

Said = dict[str, dict[int, set[str]]]
"""What a peer reports: by file and line (from 1) the names of its checks."""


class Case(NamedTuple):
    """A rule's example in a file of its own, and the lines (from 1) of its findings."""

    rule: type[Rule]
    file: Path
    lines: set[int]


def cases(folder: Path) -> Iterator[Case]:
    """Write each rule's first simple example into `folder`."""
    for rule in all_rules():
        simple = (
            e for e in rule.INVALID if not e.files and not e.settings and e.path[-3:] == ".cu"
        )
        for example in simple:
            data, spans = read_annotated(example.path, example.code)
            file = folder / f"{rule.code.lower()}.cu"
            file.write_bytes(data)
            yield Case(rule, file, {data.count(b"\n", 0, span.start) + 1 for span in spans})
            break


def said(command: Sequence[str | Path], pattern: re.Pattern[str], folder: Path) -> Said:
    """Run a peer, and read what it prints to either stream."""
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if _NO_CUDA.search(done.stdout):
        raise SystemExit(f"{command[0]} lacks a header:\n{done.stdout[:2000]}")
    found: Said = {}
    for path, line, check in pattern.findall(done.stdout):
        found.setdefault(Path(path).name, {}).setdefault(int(line), set()).update(check.split(","))
    return found


def table(tools: Path, folder: Path) -> str:
    """The whole table, with the versions that were run."""
    found = list(cases(folder))
    files = [case.file for case in found]
    tidy = [tools / "clang-tidy", "--quiet", f"--checks={CHECKS}", *files, "--"]
    peers = {
        f"clang-tidy {version(tools / 'clang-tidy')}": said(
            [*tidy, *clang_arguments(folder)], _TIDY, folder
        ),
        f"cpplint {version(tools / 'cpplint')}": said(
            [tools / "cpplint", *files], _CPPLINT, folder
        ),
    }
    for name, reported in peers.items():
        if not reported:
            raise SystemExit(f"{name} says nothing at all of {len(files)} files: was it run?")
    lines = [f"| example of | {' | '.join(peers)} |", "|---|" + "---|" * len(peers)]
    for case in found:
        cells = (_cell(case, reported.get(case.file.name, {})) for reported in peers.values())
        lines.append(f"| {case.rule.code} {case.rule.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(case: Case, reported: dict[int, set[str]]) -> str:
    names = {name for line in case.lines for name in reported.get(line, ())}
    return ", ".join(f"`{name}`" for name in sorted(names)) or "nothing"


def version(program: Path) -> str:
    """The first number with dots that `--version` prints."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"\d+\.\d+(\.\d+)?", done.stdout)
    assert found, f"{program} prints no version"
    return found[0]


def main() -> int:
    """Print the table, or put it into a file. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tools", type=Path, default=TOOLS, help="where the peers are installed")
    parser.add_argument("--into", type=Path, help="the file that holds the two marks")
    given = parser.parse_args()
    os.environ["HOME"] = tempfile.gettempdir()  # no settings of the user's own
    with tempfile.TemporaryDirectory() as folder:
        text = table(given.tools.absolute(), Path(folder))
    if given.into is None:
        sys.stdout.write(text)
        return 0
    before, start, rest = given.into.read_text(encoding="utf-8").partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    assert start, f"{given.into} has no marks"
    assert end, f"{given.into} has no marks"
    given.into.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
