"""The Python API: what docs/api.md shows, and what it promises beside that."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from cudalint.api import Result, SettingsError, check

GUIDE = Path(__file__).parents[2] / "docs" / "api.md"
SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
RECORD = SPDX + "void f(cudaEvent_t e, cudaStream_t s) { cudaEventRecord(e); }\n"


def test_the_guide_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GUIDE.read_text()
    monkeypatch.chdir(tmp_path)
    for name, content in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    shown = re.findall(r"```python\n(.*?)```\n\n```output\n(.*?)```", text, re.DOTALL)
    assert len(shown) == text.count("```python")
    names: dict[str, object] = {"__name__": "guide"}
    for source, output in shown:
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(source, "api.md", "exec"), names)
        assert printed.getvalue() == output


def test_it_prints_writes_and_keeps_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.cu").write_text(RECORD)
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir("/")
    result = check(Path("a.cu"), cwd=tmp_path, isolated=True, compile="never")
    assert [(f.path, f.line, f.code) for f in result.findings] == [("a.cu", 2, "CU302")]
    assert result.root == tmp_path
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["a.cu"]
    check("a.cu", cwd=tmp_path, compile="never", cache="kept")
    assert (tmp_path / "kept" / "models").is_dir()


def test_a_fix_and_a_suppression(tmp_path: Path) -> None:
    silenced = RECORD.replace("(e);", "(e);  // NOLINT(CU302): none here\n")
    result = check(
        ["a.cu", "b.cu"],
        cwd=tmp_path,
        contents={"a.cu": RECORD, "b.cu": silenced.encode()},
        compile="never",
    )
    ((finding,), (one,)) = result.findings, result.suppressed
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    assert (finding.fix.safe, edit.path, edit.text) == (False, "a.cu", ", s")
    assert RECORD.encode()[edit.start : edit.end] == b""
    assert (one.finding.path, one.reason, one.comment.line) == ("b.cu", "none here", 2)


def test_errors_and_what_is_none(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="unknown rule 'ZZ'"):
        check(cwd=tmp_path, select=["ZZ"])
    with pytest.raises(SettingsError, match=r"no-such\.toml"):
        check(cwd=tmp_path, config="no-such.toml")
    with pytest.raises(ValueError, match="NUL"):
        check("a\0b", cwd=tmp_path)
    with pytest.raises(TypeError, match="select takes a sequence of strings, not 'CU3'"):
        check(cwd=tmp_path, select="CU3")
    with pytest.raises(SettingsError):
        check(cwd=tmp_path, baseline="no-such.json")
    with pytest.raises(SettingsError):
        check(cwd=tmp_path, diff_base="no-such-commit")
    empty = check(cwd=tmp_path)
    assert ([n.id for n in empty.notifications], empty.exit_code) == (["nothing-to-lint"], 2)
    assert empty.notifications[0].place is None


def test_from_several_threads(tmp_path: Path) -> None:
    def lint(name: str) -> Result:
        return check(name, cwd=tmp_path, contents={name: RECORD}, compile="never")

    names = [f"{number}.cu" for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lint, names))
    assert [[f.path for f in result.findings] for result in found] == [[name] for name in names]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"jobs": 0}, ValueError, "jobs is at least 1, not 0"),
        ({"jobs": "many"}, TypeError, "jobs is a number, not 'many'"),
        ({"compile": "x"}, ValueError, "compile is 'auto', 'always' or 'never', not 'x'"),
        ({"rules": [int]}, TypeError, "rules takes rule classes, not <class 'int'>"),
        ({"select": ["CU3", 3]}, TypeError, "select takes strings, not 3"),
        ({"contents": {"n.cu": "\ud800"}}, ValueError, "the contents of 'n.cu' are no text"),
    ],
)
def test_what_means_nothing_is_said_so(
    given: dict[str, Any], error: type[Exception], words: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=re.escape(words)):
        check(cwd=tmp_path, **given)


def test_contents_outside_of_the_root_are_not_compiled(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    result = check("../n.cu", cwd=tmp_path / "in", contents={"../n.cu": "x;"}, compile="always")
    assert [f.code for f in result.findings] == ["CU101"]
    assert [(s.what, s.why) for s in result.skips] == [
        ("CU5 of ../n.cu", "nvcc can't see this content")
    ]
