"""Fixing in passes: with a lint of our own, so that any fix can be had."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from cudalint.finding import Edit, Finding, Fix, Level, Span
from cudalint.fixes.offer import offered
from cudalint.fixes.passes import PASSES, mend
from cudalint.run import Counts, Run
from cudalint.runner import Request
from cudalint.settings.model import Settings
from cudalint.source import SourceFile
from cudalint.syntax.model import Broken, FileModel
from cudalint.syntax.read import read_model

Rules = Callable[[str, bytes], list[Finding]]


def found(code: str, path: str, *edits: tuple[int, int, str], safe: bool = True) -> Finding:
    fix = Fix("", tuple(Edit(Span(path, start, end), text) for start, end, text in edits), safe)
    return Finding(code, Level.ERROR, "", Span(path, 0, 0), "", fix=fix)


def linting(root: Path, rules: Rules) -> Callable[[Request], Run]:
    """A lint that reads every file below `root`, and has what `rules` find in each."""

    def lint(request: Request) -> Run:
        sources = {}
        for file in sorted(path for path in root.rglob("*") if path.is_file()):
            name = file.relative_to(root).as_posix()
            data = request.contents.get(str(file), file.read_bytes())
            sources[name] = SourceFile(name, data)
        findings = [f for name, file in sources.items() for f in rules(name, file.data)]
        return Run(
            root=str(root),
            settings=Settings(),
            rules=(),
            findings=tuple(findings),
            suppressed=(),
            sources=sources,
            counts=Counts(),
            models={name: read_model(name, file.data) for name, file in sources.items()},
        )

    return lint


def fixing(root: Path, rules: Rules, *, unsafe: bool = False) -> tuple[dict[str, bytes], list[str]]:
    """The new contents, and what is said."""
    mended = mend(Request((".",), root), linting(root, rules), unsafe=unsafe)
    return mended.contents, [note.message for note in mended.notifications]


def test_clashing_fixes_are_made_in_several_passes(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(b"int a;\n")

    def rules(path: str, data: bytes) -> list[Finding]:
        wanted = [(b"a", "b"), (b"b", "c"), (b"c", "d")]
        at = 4
        every = [found("CU1", path, (at, at + 1, n)) for old, n in wanted if data[4:5] == old]
        return [*every, *every]

    assert fixing(tmp_path, rules) == ({"a.cu": b"int d;\n"}, [])
    assert (tmp_path / "a.cu").read_bytes() == b"int a;\n"


def test_a_change_that_comes_back_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(b"int a;\n")

    def rules(path: str, data: bytes) -> list[Finding]:
        return [found("CU7", path, (4, 5, "b" if data[4:5] == b"a" else "a"))]

    contents, said = fixing(tmp_path, rules)
    assert contents == {}
    assert said == [f"after {PASSES} passes there are still fixes of CU7 to make"]


def test_unsafe_fixes_are_made_on_request(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(b"int a;\n")

    def rules(path: str, data: bytes) -> list[Finding]:
        return [found("CU7", path, (4, 5, "b"), safe=False)] if b"a" in data else []

    assert fixing(tmp_path, rules) == ({}, [])
    assert fixing(tmp_path, rules, unsafe=True) == ({"a.cu": b"int b;\n"}, [])


def test_a_fix_that_breaks_a_file_is_left_out_and_the_rest_is_made(tmp_path: Path) -> None:
    for name in ("a.cu", "b.cu"):
        (tmp_path / name).write_bytes(b"void f() { g(); }\n")

    def rules(path: str, data: bytes) -> list[Finding]:
        text = "(" if path == "a.cu" else "h"
        return [found("CU7", path, (11, 12, text))] if b"g" in data else []

    contents, said = fixing(tmp_path, rules)
    assert contents == {"b.cu": b"void f() { h(); }\n"}
    assert said == ["'a.cu' is not mended: after the fix of CU7 it can't be read"]


def test_links_are_followed_inside_the_project_only(tmp_path: Path) -> None:
    root, other = tmp_path / "project", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (other / "far.cu").write_bytes(b"int a;\n")
    (root / "near.txt").write_bytes(b"int a;\n")
    (root / "far.cu").symlink_to(other / "far.cu")
    (root / "near.cu").symlink_to("near.txt")

    def rules(path: str, data: bytes) -> list[Finding]:
        return [found("CU7", path, (4, 5, "b"))] if b"a" in data and path != "near.txt" else []

    contents, said = fixing(root, rules)
    assert contents == {"near.cu": b"int b;\n"}
    place = os.path.realpath(other / "far.cu")
    assert said == [f"'far.cu' is not mended: it leads to '{place}', outside the project"]


def test_what_touches_a_broken_region_has_no_fix() -> None:
    model = FileModel("a.cu", 100, broken=(Broken(Span("a.cu", 20, 30), True),))
    findings = [
        found("CU1", "a.cu", (0, 19, "")),
        found("CU2", "a.cu", (0, 20, "")),
        found("CU3", "a.cu", (25, 25, "x")),
        found("CU4", "a.cu", (0, 1, ""), (30, 40, "")),
        found("CU5", "a.cu", (31, 40, "")),
        found("CU6", "b.cu", (25, 25, "")),
        msgspec.structs.replace(found("CU7", "a.cu"), fix=None),
    ]
    left = offered(findings, {"a.cu": model})
    assert [f.code for f in left] == [f.code for f in findings]
    assert [f.code for f in left if f.fix] == ["CU1", "CU5", "CU6"]
