"""Holds CU303 and CU108 to nvcc's own warnings, on any tree.

    python benchmarks/oracle.py [--nvcc PATH] [--flags "…"] [--timeout S] FOLDER…

Compiles every `.cu` below each folder, as far as nvcc's front end goes, with
`-Wdefault-stream-launch` (#20198-D) and `-Wmissing-launch-bounds` (#20238-D);
lints the same folder; and compares by place. Prints each difference, with the
reason where one can be told from what nvcc read, and a table. CU303 speaks of
more than nvcc does (explicit null streams, copies, calls of the project's own
functions): launches without a stream are compared, and a launch on an explicit
null stream counts only where nvcc names it too. Where one template makes an
instance of another, nvcc 13.5 warns of the instance even if it has bounds, as its
own PTX shows; such warnings are listed and not counted, nor are those of kernels
that headers outside the tree define. Exits 1 when nvcc warns of
something that cudalint does not report. The figures in docs/precision.md come
from here; what nvcc is asked is in nvccwarnings.py.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cudalint.compile.process import Processes
from cudalint.compile.toolchain import find_toolchains
from cudalint.finding import Finding, Span
from cudalint.lines import LineIndex
from cudalint.project.project import Project
from cudalint.run import Run
from cudalint.runner import Request, run
from cudalint.settings.select import Overrides
from cudalint.syntax.model import FileModel, Function
from nvccwarnings import FLAGS, Answer, FrontEnd, Place

CODES = ("CU303", "CU108")


class Lines(NamedTuple):
    """Lines of one file, both ends included; `path` is relative to the tree."""

    path: str
    first: int
    last: int


class Claim(NamedTuple):
    """A finding: where its launch or kernel stands, uses of its macro included.

    `function` is what a launch stands in, None at file scope, for a kernel, and
    in a macro. `explicit`: a launch on a null stream that is written out.
    """

    finding: Finding
    line: int
    places: tuple[Lines, ...]
    function: Function | None
    explicit: bool


class Build(NamedTuple):
    """What nvcc said of a whole tree, with paths relative to it."""

    files: int
    compiled: int
    places: tuple[Place, ...]
    read: Mapping[str, set[int]]


def build(root: Path, front_end: FrontEnd) -> Build:
    """Ask nvcc about every source of the tree, one after the other."""
    sources = sorted(path for path in root.rglob("*.cu") if path.is_file())
    places: set[Place] = set()
    read: dict[str, set[int]] = {}
    compiled = 0
    for source in sources:
        answer = front_end.ask(root, source)
        if answer.problem:
            print(f"{source.relative_to(root)}: does not compile: {answer.problem}", flush=True)
            continue
        compiled += 1
        for path, lines in _inside(root, answer):
            read.setdefault(path, set()).update(lines)
        for place in answer.places:
            where = Path(place.path).resolve()
            if where.is_relative_to(root):
                places.add(place._replace(path=where.relative_to(root).as_posix()))
    return Build(len(sources), compiled, tuple(sorted(places)), read)


def _inside(root: Path, answer: Answer) -> Iterator[tuple[str, set[int]]]:
    for name, lines in answer.read.items():
        path = Path(name).resolve()
        if path.is_relative_to(root):
            yield path.relative_to(root).as_posix(), lines


class Lint:
    """The findings of both rules in one tree, with the lines that they are about."""

    def __init__(self, root: Path) -> None:
        self._run: Run = run(
            Request(
                (".",),
                root,
                isolated=True,
                overrides=Overrides(CODES),
                compile="never",
            )
        )
        self._models = Project(self._run.models).models
        self._index: dict[str, LineIndex] = {}
        self._launches, self._kernels = self._records()
        self.claims = tuple(claim for f in self._run.findings for claim in self._claim(f))

    def text(self, path: str, line: int) -> str:
        """A line of a source, "" where there is none."""
        if path not in self._run.sources:
            return ""
        return self._lines(path).text(line).strip()

    def kernels_at(self, path: str, line: int) -> set[str]:
        """The names of the kernels of which a declaration or definition's head has this line."""
        model = self._models.get(path)
        found = set()
        for kernel in model.kernels if model else ():
            place = self._place(kernel.use or kernel.head)
            if place.path == path and place.first <= line <= place.last + 1:
                found.add(kernel.name)
        return found

    def is_bounded(self, name: str) -> bool:
        """Whether kernels of this name are there, and each definition has bounds."""
        found = [
            kernel
            for model in self._models.values()
            for kernel in model.kernels
            if kernel.name == name and kernel.kind == "definition"
        ]
        return bool(found) and all(kernel.bounds is not None for kernel in found)

    def has_kernel(self, name: str) -> bool:
        """Whether the tree has a kernel of this name."""
        return any(k.name == name for model in self._models.values() for k in model.kernels)

    def model(self, path: str) -> FileModel:
        """What one file says."""
        return self._models[path]

    def _records(self) -> tuple[dict[Span, list[tuple[Span, int]]], dict[Span, list[Span]]]:
        """Where each launch and each kernel stands, by the span that a finding has."""
        launches: dict[Span, list[tuple[Span, int]]] = {}
        kernels: dict[Span, list[Span]] = {}
        for model in self._models.values():
            for launch in model.launches:
                # In a macro's argument, nvcc names the line on which the use begins.
                start = min(launch.span.start, launch.statement.start)
                whole = Span(model.path, start, launch.span.end)
                entry = (launch.use or whole, launch.function)
                launches.setdefault(launch.name_span, []).append(entry)
            for kernel in model.kernels:
                kernels.setdefault(kernel.name_span, []).append(kernel.use or kernel.head)
        return launches, kernels

    def _claim(self, finding: Finding) -> Iterator[Claim]:
        function = None
        if finding.code == "CU108":
            spans = self._kernels.get(finding.span, [finding.span])
        elif finding.message_id.startswith("launch"):
            entries = self._launches.get(finding.span, [(finding.span, -1)])
            spans = [span for span, _ in entries]
            if len(entries) == 1 and entries[0][1] >= 0:
                function = self.model(finding.span.path).functions[entries[0][1]]
        else:
            return
        # A suppression counts on the uses of a macro in other files too.
        spans = [*spans, *(s for s in finding.extents if s.path != finding.span.path)]
        line = self._lines(finding.span.path).line_of(finding.span.start)
        places = tuple(dict.fromkeys(self._place(span) for span in spans))
        yield Claim(finding, line, places, function, finding.message_id == "launch-null")

    def _place(self, span: Span) -> Lines:
        index = self._lines(span.path)
        return Lines(span.path, index.line_of(span.start), index.line_of(max(span.end - 1, 0)))

    def _lines(self, path: str) -> LineIndex:
        if path not in self._index:
            self._index[path] = LineIndex(self._run.sources[path].data)
        return self._index[path]


class Comparison:
    """One tree: `agreed` counts nvcc's places, the rest are lines to read."""

    def __init__(self, built: Build, lint: Lint) -> None:
        self._built = built
        self._lint = lint
        self.agreed: Counter[str] = Counter()
        self.bounded: list[str] = []
        self.foreign: list[str] = []
        self.only_nvcc: dict[str, list[str]] = {code: [] for code in CODES}
        self.only_cudalint: dict[str, list[str]] = {code: [] for code in CODES}
        confirmed = {c.finding.span for place in built.places for c in self._judge(place)}
        for claim in lint.claims:
            unconfirmed = claim.finding.span not in confirmed and not claim.explicit
            if unconfirmed and self._was_compiled(claim):
                self.only_cudalint[claim.finding.code].append(self._unconfirmed(claim))

    def _judge(self, place: Place) -> Sequence[Claim]:
        """The findings that a warning confirms; the warning is filed."""
        claims = [c for c in self._lint.claims if c.finding.code == place.code]
        found = [
            claim
            for claim in claims
            if any(p.path == place.path and p.first <= place.line <= p.last for p in claim.places)
        ]
        if not found and place.code == "CU108":
            names = {place.instance} if place.instance else set()
            names = names or self._lint.kernels_at(place.path, place.line)
            found = [claim for claim in claims if claim.finding.arguments[0] in names]
        if found:
            self.agreed[place.code] += 1
        elif self._lint.is_bounded(place.instance):
            self.bounded.append(f"{place.path}:{place.line}: {place.instance}")
        elif place.instance and not self._lint.has_kernel(place.instance):
            self.foreign.append(f"{place.path}:{place.line}: {place.instance}")
        else:
            text = self._lint.text(place.path, place.line)
            self.only_nvcc[place.code].append(f"{place.path}:{place.line}: {text}")
        return found

    def _was_compiled(self, claim: Claim) -> bool:
        return any(place.path in self._built.read for place in claim.places)

    def _unconfirmed(self, claim: Claim) -> str:
        path = claim.finding.span.path
        text = self._lint.text(path, claim.line)
        return f"{path}:{claim.line}: {self._reason(claim)}: {text}"

    def _reason(self, claim: Claim) -> str:
        """Why nvcc may have said nothing, as far as what it read tells."""
        if not any(self._was_read(place) for place in claim.places):
            return "not in this build"
        if claim.function is not None and self._in_template(claim.function):
            return "in a template, of which this build makes no instance"
        return "to be explained"

    def _was_read(self, place: Lines) -> bool:
        lines = self._built.read.get(place.path, set())
        return any(line in lines for line in range(place.first, place.last + 1))

    def _in_template(self, function: Function) -> bool:
        functions = self._lint.model(function.span.path).functions
        while function.template is None and function.parent >= 0:
            function = functions[function.parent]
        return function.template is not None


def knowing(nvcc: str) -> bool:
    """Whether this nvcc knows both warnings."""
    told = Processes().run([nvcc, "--help"], timeout=60)
    return told.ok and all(flag in told.output for flag in FLAGS)


def report(title: str, lines: Iterable[str]) -> None:
    """One list of differences."""
    for line in lines:
        print(f"{title}: {line}")


def main() -> int:
    """Compare every folder; 1 when nvcc warns of what cudalint does not report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--nvcc", help="the compiler; default: the newest that knows the warnings")
    parser.add_argument("--flags", default="-arch=sm_90 -std=c++17", help="more flags for nvcc")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one file")
    options = parser.parse_args()
    newest = sorted(find_toolchains().found, key=lambda found: found.release, reverse=True)
    candidates = (
        [str(Path(options.nvcc).resolve())]
        if options.nvcc
        else [toolchain.nvcc for toolchain in newest]
    )
    nvcc = next((candidate for candidate in candidates if knowing(candidate)), None)
    if nvcc is None:
        parser.error(f"no nvcc that knows {' and '.join(FLAGS)}")
    front_end = FrontEnd(nvcc, shlex.split(options.flags), options.timeout)
    rows = []
    missed = 0
    for folder in options.folders:
        root = Path(folder).resolve()
        lint = Lint(root)
        built = build(root, front_end)
        found = Comparison(built, lint)
        report("nvcc warns of an instance that has bounds", found.bounded)
        report("nvcc warns of another tree's kernel", found.foreign)
        for code in CODES:
            report(f"only nvcc {code}", found.only_nvcc[code])
            report(f"only cudalint {code}", found.only_cudalint[code])
            missed += len(found.only_nvcc[code])
            rows.append(
                f"| {root.name} | {built.files} | {built.compiled} | {code} "
                f"| {found.agreed[code]} | {len(found.only_nvcc[code])} "
                f"| {len(found.only_cudalint[code])} |"
            )
    print("| tree | sources | compiled | rule | both | only nvcc | only cudalint |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(rows))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
