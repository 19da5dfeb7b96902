"""What is fuzzed: each reader of text that cudalint did not write, by name.

A target takes any bytes, and may raise only what its documentation allows, which
it catches here. What else comes out is a defect.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

from cudalint.adoption.baseline import read_baseline as read_finding_baseline
from cudalint.compile.demangle import demangle
from cudalint.compile.depfile import read_dependencies
from cudalint.compile.frontend import read_complaints
from cudalint.compile.ptx import read_bounds, read_local_arrays
from cudalint.compile.ptxas import read_ptxas
from cudalint.compile.sass import read_spill_lines
from cudalint.compiledb.error import DatabaseError
from cudalint.compiledb.read import Database
from cudalint.finding import Finding, Level, Span
from cudalint.registry import all_rules
from cudalint.reporters.json import json
from cudalint.reporters.sarif import sarif
from cudalint.reporters.text import text
from cudalint.resources.baseline import read_baseline as read_resource_baseline
from cudalint.rule import SuppressionRule
from cudalint.run import Run
from cudalint.runner import Request, run
from cudalint.sarif.merge import MergeError, merge
from cudalint.settings.load import parse_settings
from cudalint.settings.origin import Origin, SettingsError
from cudalint.settings.select import Overrides
from cudalint.source import SourceFile
from cudalint.suppress.judgement import judge
from cudalint.syntax.model import Comment, FileModel

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"

KERNEL = b'extern "C" __global__ void k(int* p) { p[0] = 1; }\n'


def source(folder: Path, data: bytes) -> None:
    """A source file, through every rule and three reporters; suppressions are among it.

    It is never written: the run is told what it holds.
    """
    finished = _lint(folder, ("a.cu",), {str(folder / "a.cu"): data})
    if len(data) % 8 == 0:  # the rules' pages, which it holds, take longer than the rules
        sarif(finished)


def manifest(folder: Path, data: bytes) -> None:
    """A leaf's KERNEL.toml."""
    for path in ("hw/common/k.cu", "hw/m/q/k.cu"):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(KERNEL)
    (folder / "hw/m/q/KERNEL.toml").write_bytes(data)
    sarif(_lint(folder))


def settings(folder: Path, data: bytes) -> None:
    """A cudalint.toml."""
    try:
        parse_settings(Origin("cudalint.toml", data))
    except SettingsError as error:
        _is_one_line(error)


def suppressions(folder: Path, data: bytes) -> None:
    """Comments, a line of them each, with a finding on every second line."""
    lines = data.split(b"\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    spans = [Span("a.cu", at, at + len(line)) for at, line in zip(starts, lines, strict=False)]
    comments = tuple(Comment(s, "", number % 3 > 0) for number, s in enumerate(spans))
    model = FileModel("a.cu", len(data), comments=comments)
    findings = [
        Finding("CU301", Level.WARNING, "m", span, "m")
        for span in spans[::2]
        if span.end > span.start
    ]
    names = {rule.code: rule.name for rule in all_rules()}
    own = [rule() for rule in all_rules() if issubclass(rule, SuppressionRule)]
    file = SourceFile("a.cu", data, requested=True)
    judge({"a.cu": file}, {"a.cu": model}, findings, own, lambda code, path: True, names)


def messages(folder: Path, data: bytes) -> None:
    """What an editor sends: a document's text, a place in it, and what it calls the document."""
    from lsprotocol import types

    from cudalint.lsp.actions import actions
    from cudalint.lsp.places import path_of
    from cudalint.lsp.session import Document, lint
    from cudalint.syntax.lastread import LastRead

    head, _, body = data.partition(b"\n")
    path_of(head.decode("utf-8", "replace"))
    line, column = (int.from_bytes(head[at : at + 3], "big") for at in (0, 3))
    document = Document(folder / "a.cu", "file:///a.cu", 1, body.decode("utf-8", "replace"))
    encoding = ("utf-8", "utf-16", "utf-32")[len(head) % 3]
    linted = lint({document.uri: document}, folder, None, encoding, LastRead(), compiled=False)
    linted.published()
    place = types.Position(line % 64, column)
    linted.places.offset("a.cu", place)
    actions(linted, document, types.Range(types.Position(0, 0), place), [], None)


def sass(folder: Path, data: bytes) -> None:
    """What nvdisasm prints."""
    read_spill_lines(data.decode("utf-8", "replace"), {})


def tools(folder: Path, data: bytes) -> None:
    """What nvcc, ptxas and nvdisasm print, and the files that they write."""
    said = data.decode("utf-8", "replace")
    read_ptxas(said, "sm_121")
    read_complaints(said)
    read_bounds(said)
    read_spill_lines(said, read_local_arrays(said))
    read_dependencies(said)


def symbol(folder: Path, data: bytes) -> None:
    """A mangled name."""
    demangle(data.decode("utf-8", "replace"))


def database(folder: Path, data: bytes) -> None:
    """A compile_commands.json."""
    try:
        found = Database("compile_commands.json", data, "/root", ("/root",))
        found.commands("a.cu")
    except DatabaseError as error:
        _is_one_line(error)


def baselines(folder: Path, data: bytes) -> None:
    """Recorded findings and recorded resources."""
    file = folder / "baseline"
    file.write_bytes(data)
    for read in (read_finding_baseline, read_resource_baseline):
        try:
            read(file, "baseline")
        except SettingsError as error:
            _is_one_line(error)


def shards(folder: Path, data: bytes) -> None:
    """A shard's log, to be merged."""
    try:
        merge({"a.sarif": data})
    except MergeError as error:
        _is_one_line(error)


def _is_one_line(error: Exception) -> None:
    assert "\n" not in str(error), error


def _lint(
    folder: Path, paths: tuple[str, ...] = (".",), contents: dict[str, bytes] | None = None
) -> Run:
    finished = run(
        Request(
            paths,
            folder,
            isolated=True,
            overrides=Overrides(("ALL",)),
            compile="never",
            contents=contents or {},
        )
    )
    failed = [n.detail for n in finished.notifications if n.id in ("file-failed", "rule-failed")]
    assert not failed, failed[0]
    for report in (text, json):
        report(finished)
    return finished


TARGETS: dict[str, tuple[Callable[[Path, bytes], None], tuple[str, ...]]] = {
    "source": (source, ("cases/**/*.cu", "cases/**/*.cuh", "cases/**/*.cpp")),
    "manifest": (manifest, ("cases/**/*.toml",)),
    "settings": (settings, ("cases/**/cudalint.toml",)),
    "tools": (tools, ("ptxas/*.txt", "ptxas/*.sass", "ptxas/*.ptx", "toolkits/**/*.*")),
    "sass": (sass, ("ptxas/*.sass", "toolkits/**/*.sass")),
    "suppressions": (suppressions, ("cases/**/*.cu", "cases/**/*.cuh")),
    "messages": (messages, ("cases/**/*.cu",)),
    "symbol": (symbol, ()),
    "database": (database, ()),
    "baselines": (baselines, ()),
    "shards": (shards, ()),
}
"""By name: the target, and patterns of the fixtures that it starts from."""
