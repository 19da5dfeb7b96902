"""What must not change the findings of a whole run, over every case and every rule's examples."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.lines import LineIndex
from cudalint.registry import all_rules
from cudalint.rule import FileRule, ProjectRule
from cudalint.testing.annotated import read_annotated

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
SOURCES = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc")

Place = tuple[str, int, int, str, str]


def _findings(root: Path) -> list[Place]:
    """Every rule's findings: path, line, column (from 1), code, message."""
    isolated = not (root / "cudalint.toml").exists()
    finished = lint(root, select=("ALL",), isolated=isolated, preview=True)
    places = []
    for finding in finished.findings:
        path, start = finding.span.path, finding.span.start
        place = LineIndex(finished.sources[path].data).position(start)
        places.append((path, place.line, place.column, finding.code, finding.message))
    return places


def _examples() -> dict[str, bytes]:
    """The first examples of what each source rule reports, each a file of its own."""
    return {
        f"{rule.code}/{number}.cu": read_annotated("a.cu", example.code)[0]
        for rule in all_rules()
        if issubclass(rule, (FileRule, ProjectRule)) and rule.code != "CU004"
        for number, example in enumerate(rule.INVALID[:3])
    }


def _folders() -> list[object]:
    folders = [folder for folder in sorted(CASES.iterdir()) if folder.is_dir()]
    return [pytest.param(folder, id=folder.name) for folder in folders] + [
        pytest.param(None, id="examples")
    ]


@pytest.fixture(params=_folders())
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    if request.param is None:
        write_files(root, dict(_examples()))
    else:
        shutil.copytree(request.param, root)
    return root


def _rewrite(root: Path, change: Callable[[bytes], bytes]) -> None:
    for file in sorted(root.rglob("*")):
        if file.suffix in SOURCES:
            file.write_bytes(change(file.read_bytes()))


def test_line_endings_do_not_matter(tree: Path) -> None:
    before = _findings(tree)
    _rewrite(tree, lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert _findings(tree) == before


def test_a_missing_final_newline_does_not_matter(tree: Path) -> None:
    before = _findings(tree)
    _rewrite(tree, lambda data: data.rstrip(b"\r\n"))
    assert _findings(tree) == before


def test_a_byte_order_mark_matters_to_the_licence_line_alone(tree: Path) -> None:
    before = _findings(tree)
    _rewrite(tree, lambda data: b"\xef\xbb\xbf" + data.removeprefix(b"\xef\xbb\xbf"))
    after = _findings(tree)
    others = [place for place in before if place[3] != "CU101"]
    assert [place for place in after if place[3] != "CU101"] == others


def test_blank_lines_elsewhere_shift_the_lines_alone(tree: Path) -> None:
    """After the first line, which is the licence's, and at the end."""
    before = _findings(tree)
    _rewrite(tree, lambda data: data.replace(b"\n", b"\n\n\n", 1) + b"\n\n")
    shifted = [
        (path, line + 2 * (line > 1 and path.endswith(SOURCES)), column, code, message)
        for path, line, column, code, message in before
    ]
    assert [place[:4] for place in _findings(tree)] == [place[:4] for place in shifted]


def test_wide_characters_before_a_finding_count_as_one_column_each(tree: Path) -> None:
    """Line by line, for findings in code; a comment's own findings are left out."""
    before = _findings(tree)
    comment = "/*漢字e\u0301\U0001f680*/"
    for path, line, _, _, _ in {(path, line, 0, "", "") for path, line, *_ in before}:
        file = tree / path
        lines = file.read_bytes().split(b"\n") if file.suffix in SOURCES else []
        if not lines or line == 1 or b"//" in lines[line - 1] or b"*" in lines[line - 1]:
            continue
        changed = [*lines]
        changed[line - 1] = comment.encode() + changed[line - 1]
        file.write_bytes(b"\n".join(changed))
        expected = [
            (p, n, column + len(comment) * ((p, n) == (path, line)), code)
            for p, n, column, code, _ in before
        ]
        assert [place[:4] for place in _findings(tree)] == expected
        file.write_bytes(b"\n".join(lines))


def test_neither_order_nor_processes_nor_cache_nor_hash_seed_matter(tmp_path: Path) -> None:
    """The same bytes of SARIF from runs that differ in all of these."""
    for folder in CASES.iterdir():
        if folder.is_dir():
            shutil.copytree(folder, tmp_path / "tree" / "cases" / folder.name)
    write_files(tmp_path / "tree" / "examples", dict(_examples()))
    (tmp_path / "tree" / "cudalint.toml").write_text("")
    files = [str(file) for file in (tmp_path / "tree").rglob("*") if file.suffix in SOURCES]
    assert len(files) > 100, "fewer are read by one process whatever --jobs says"
    dice = random.Random(7)
    reports = []
    for seed, jobs, cache in (("0", "1", ["--no-cache"]), ("1", "3", []), ("2", "2", [])):
        dice.shuffle(files)
        options = ["--select", "ALL", "--preview", "--compile", "never", "--output-format", "sarif"]
        done = subprocess.run(
            [sys.executable, "-m", "cudalint", *options, "--jobs", jobs, *cache, *files],
            cwd=tmp_path / "tree",
            env={"PYTHONHASHSEED": seed, "CUDALINT_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            timeout=300,
        )
        assert done.returncode in (1, 2), done.stderr
        reports.append((done.returncode, done.stdout, done.stderr))
    assert reports[1] == reports[0]
    assert reports[2] == reports[0]
