"""All cases at once, with the same findings by every way there is to ask for them.

The scratch project holds each case in a folder of its own. What is expected stands
in the cases' EXPECT files; beyond that, everything that JSON says of a finding has to
be the same by every way. A file that comes on stdin, or lies open in an editor, is
another one on the disk, so that it can't be what was read.

By their nature two ways are asked for less at a time: stdin brings one file, and is
asked for each in turn; the hook `cudalint` is given sources of CUDA alone (`.cu`,
`.cuh`), as its `files` pattern says, so what is found in host sources it finds where
the pattern of the configuration takes them too, as docs/input.md has it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lsprotocol import types
from pygls import uris

from cudalint.api import Finding, check
from cudalint.discovery.kinds import is_ours
from cudalint.lines import LineIndex
from cudalint.registry import all_rules
from cudalint.settings.select import specificity
from editor import Editor, with_editor
from forked import run_cudalint_text
from published import Published

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
GUIDE = Path(__file__).parents[2] / "docs" / "input.md"
FOLDERS = sorted(folder for folder in CASES.iterdir() if folder.is_dir())
STALE = b"int stale;\n"
CUDA = (".cu", ".cuh")


def _expectation(folder: Path) -> tuple[frozenset[str], list[str]]:
    """The codes that a case selects, and the `path:line CODE` that it expects."""
    _, select, *expected = (folder / "EXPECT").read_text().splitlines()
    selectors = select.removeprefix("# select: ").split(",")
    return frozenset(
        rule.code
        for rule in all_rules()
        if any(specificity(selector, rule) is not None for selector in selectors)
    ), [f"{folder.name}/{line}" for line in expected]


EXPECTATIONS = {folder.name: _expectation(folder) for folder in FOLDERS}


class Cases:
    """The project, what the command line finds in it, and the files there are."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in FOLDERS:
            copy = root / folder.name
            shutil.copytree(folder, copy)
            # One project has one settings file; two cases have one that names an arch.
            copy.joinpath("cudalint.toml").unlink(missing_ok=True)
        codes = sorted({code for selected, _ in EXPECTATIONS.values() for code in selected})
        settings = f'compile = "never"\ntargets = ["sm_121"]\nextend-select = {codes}\n'
        (root / "cudalint.toml").write_text(settings)
        files = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        self.files = sorted(name for name in files if is_ours(name))
        self.said = self.command_line(".")

    def command_line(self, *arguments: str) -> dict[str, Any]:
        """What `cudalint` says as JSON."""
        done = run_cudalint_text([*arguments, "--output-format", "json"], cwd=self.root)
        assert done.stderr == ""
        said: dict[str, Any] = json.loads(done.stdout)
        return said

    def of(self, kind: str, *names: str) -> list[Any]:
        """Those of the findings that stand in these files; or what is silenced there."""
        return [one for one in self.said[kind] if _path(one) in names]

    def data(self, name: str) -> bytes:
        return (self.root / name).read_bytes()


def _path(record: dict[str, Any]) -> str:
    path: str = record.get("finding", record)["place"]["path"]
    return path


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    return Cases(tmp_path_factory.mktemp("cases"))


@pytest.fixture
def stale(cases: Cases, tmp_path: Path) -> Path:
    """The same project, with other files on the disk."""
    shutil.copytree(cases.root, tmp_path / "stale")
    return tmp_path / "stale"


def test_the_command_line(cases: Cases) -> None:
    found = {
        (f["place"]["path"], f["place"]["start"]["line"], f["code"]) for f in cases.said["findings"]
    }
    for name, (selected, expected) in EXPECTATIONS.items():
        of_case = sorted(
            f"{path}:{line} {code}"
            for path, line, code in found
            if path.startswith(f"{name}/") and code in selected
        )
        assert of_case == sorted(expected)
    assert cases.said["notifications"] == []
    assert cases.said["suppressed"]


def test_the_python_api(cases: Cases) -> None:
    result = check(cwd=cases.root)
    assert [_flat(record) for record in cases.said["findings"]] == list(
        map(_plain, result.findings)
    )
    silenced = [(_flat(one["finding"]), one["reason"]) for one in cases.said["suppressed"]]
    assert [(_plain(one.finding), one.reason) for one in result.suppressed] == silenced
    assert list(result.rules) == cases.said["summary"]["rules"]


def _plain(finding: Finding) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(msgspec.json.encode(finding))
    return plain


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """A JSON record in the API's form."""
    left_out = ("type", "place", "message_id", "arguments", "flow")
    rest = {key: value for key, value in record.items() if key not in left_out}
    fix = record["fix"] and {
        **record["fix"],
        "edits": [
            {
                "path": edit["place"]["path"],
                "start": edit["place"]["start"]["offset"],
                "end": edit["place"]["end"]["offset"],
                "text": edit["text"],
            }
            for edit in record["fix"]["edits"]
        ],
    }
    return rest | {
        **_place(record["place"]),
        "related": [_place(one["place"]) | {"label": one["label"]} for one in record["related"]],
        "chain": [_place(one["place"]) | {"label": one["label"]} for one in record["flow"]],
        "fix": fix,
    }


def _place(place: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": place["path"],
        "line": place["start"]["line"],
        "column": place["start"]["column"],
        "end_line": place["end"]["line"],
        "end_column": place["end"]["column"],
    }


def test_stdin(cases: Cases, stale: Path) -> None:
    """Each file in turn, with its case around it as a project of its own."""
    settings = cases.data("cudalint.toml")
    (stale / "cudalint.toml").unlink()
    for case in EXPECTATIONS:
        (stale / case / "cudalint.toml").write_bytes(settings)
        whole = check(cwd=stale / case)
        alone = {(f"{case}/{f.path}", f.line, f.code) for f in whole.findings}
        files = [name for name in cases.files if name.startswith(f"{case}/")]
        assert alone == set(map(_spot, cases.of("findings", *files)))
        for name in (name.removeprefix(f"{case}/") for name in files):
            said = _from_stdin(stale / case, name)
            expected = [_plain(f) for f in whole.findings if f.path == name]
            assert [_flat(record) for record in said["findings"]] == expected, (case, name)
            silenced = [_plain(s.finding) for s in whole.suppressed if s.finding.path == name]
            assert [_flat(s["finding"]) for s in said["suppressed"]] == silenced, (case, name)


def _from_stdin(root: Path, name: str) -> dict[str, Any]:
    """What is said of a file's text when the file itself holds something else."""
    text = (root / name).read_bytes()
    (root / name).write_bytes(STALE)
    command = ["-", "--stdin-filename", name, "--output-format", "json"]
    done = run_cudalint_text(command, cwd=root, given=text.decode("utf-8", "surrogateescape"))
    (root / name).write_bytes(text)
    assert done.stderr == "", name
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _spot(record: dict[str, Any]) -> tuple[str, int, str]:
    return _path(record), record["place"]["start"]["line"], record["code"]


def test_the_language_server(cases: Cases, stale: Path) -> None:
    """All files open at once, with their text in the editor alone."""
    for name in cases.files:
        (stale / name).write_bytes(STALE)

    async def play(editor: Editor) -> None:
        for name in cases.files:
            editor.open(name, cases.data(name).decode())
        await editor.until(lambda: len(editor.shown) == len(cases.files))
        for name in cases.files:
            shown = [_of_editor(diagnostic, editor) for diagnostic in editor.shown[name]]
            expected = [_diagnostic(cases, record) for record in cases.of("findings", name)]
            assert shown == expected, name

    with_editor(stale, play)


_SEVERITIES = {"error": 1, "warning": 2, "note": 3}


def _diagnostic(cases: Cases, record: dict[str, Any]) -> dict[str, Any]:
    """What an editor is to be told of a finding."""
    around = [*record["related"], *(s for s in record["flow"] if s not in record["related"])]
    return {
        "range": _range(cases, record["place"]),
        "code": record["code"],
        "message": record["message"],
        "severity": _SEVERITIES[record["level"]],
        "page": record["url"],
        "related": [(*_range(cases, one["place"]), one["label"]) for one in around],
    }


def _range(cases: Cases, place: dict[str, Any]) -> tuple[Any, ...]:
    """A JSON place as path and lines and columns of the protocol."""
    index = LineIndex(cases.data(place["path"]))
    found = index.range(place["start"]["offset"], place["end"]["offset"], "utf16")
    points = (found.start, found.end)
    return (place["path"], *((point.line - 1, point.column - 1) for point in points))


def _of_editor(diagnostic: types.Diagnostic, editor: Editor) -> dict[str, Any]:
    """What an editor was told, with paths as findings have them."""
    related = diagnostic.related_information or ()
    name = next(n for n, shown in editor.shown.items() if any(d is diagnostic for d in shown))
    assert diagnostic.code_description is not None
    return {
        "range": (name, *_points(diagnostic.range)),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "severity": diagnostic.severity,
        "page": diagnostic.code_description.href,
        "related": [
            (_name(one.location.uri, editor), *_points(one.location.range), one.message)
            for one in related
        ],
    }


def _name(uri: str, editor: Editor) -> str:
    path = uris.to_fs_path(uri)
    assert path
    return Path(path).relative_to(editor.root).as_posix()


def _points(range_: types.Range) -> Iterable[tuple[int, int]]:
    return ((point.line, point.character) for point in (range_.start, range_.end))


_FILES = re.search(r"^ +files: (.+)$", GUIDE.read_text(), re.MULTILINE)
assert _FILES is not None
_CONFIG = f"""\
repos:
  - repo: https://github.com/cudalint/cudalint
    rev: v0.1.0
    hooks:
      - id: cudalint
        args: [--output, json:cuda.json]
      - id: cudalint
        alias: everything
        files: {_FILES[1]}
        args: [--output, json:everything.json]
      - id: cudalint-tree
        args: [--output, json:tree.json]
"""


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_pre_commit(cases: Cases, stale: Path, published: Published) -> None:
    (stale / ".pre-commit-config.yaml").write_text(_CONFIG)
    published.git("init", "--quiet", folder=stale)
    published.git("add", "--all", folder=stale)
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
    done = subprocess.run(
        command, cwd=stale, env=published.environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1, done.stdout + done.stderr
    said = {name: json.loads((stale / f"{name}.json").read_text()) for name in _HOOKS}
    for kind in ("findings", "suppressed"):
        assert said["everything"][kind] == cases.said[kind]
        named = [name for name in cases.files if name.endswith(CUDA)]
        assert said["cuda"][kind] == cases.of(kind, *named)
        of_trees = [one for one in cases.said[kind] if _code(one).startswith("CU4")]
        assert said["tree"][kind] == of_trees
    left = [one for one in cases.said["findings"] if one not in said["cuda"]["findings"]]
    assert {Path(_path(one)).suffix for one in left} == {".cpp", ".toml"}


_HOOKS = ("cuda", "everything", "tree")


def _code(record: dict[str, Any]) -> str:
    code: str = record.get("finding", record)["code"]
    return code
