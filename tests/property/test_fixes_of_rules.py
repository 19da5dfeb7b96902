"""Laws of every rule's fixes, on its own examples in other spellings.

A fix removes its finding and adds none; made twice it is made once; what lies
outside the edits stays byte for byte; line ends stay of their kind.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import lint, write_files
from cudalint.finding import Finding
from cudalint.fixes.edits import Joined, apply_edits, mendable
from cudalint.fixes.passes import mend
from cudalint.registry import all_rules
from cudalint.rule import CompileRule, Example, FixSafety, Rule
from cudalint.run import Run
from cudalint.runner import Request, run
from cudalint.settings.select import Overrides
from cudalint.testing.annotated import read_annotated

EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.code}-{number}")
    for rule in all_rules()
    if rule.fix is not FixSafety.NONE and not issubclass(rule, CompileRule)
    for number, example in enumerate(rule.INVALID)
]

spellings = st.fixed_dictionaries(
    {
        "ends": st.sampled_from(["as it is", "lf", "crlf", "mixed"]),
        "bom": st.booleans(),
        "last end": st.booleans(),
        "tabs": st.booleans(),
        "trailing": st.sampled_from(["", " ", " // ünï", " /* x */"]),
        "seed": st.integers(0, 7),
    }
)


def respelt(data: bytes, spelling: dict[str, object], path: str) -> bytes:
    """A file written by somebody with another editor."""
    if spelling["ends"] != "as it is":
        data = data.replace(b"\r\n", b"\n")
    trailing = str(spelling["trailing"]).encode()
    if trailing and not path.endswith(".toml") and b"R" + b'"' not in data:
        lines = data.split(b"\n")
        at = 1 + int(str(spelling["seed"])) % max(1, len(lines) - 1)
        if at < len(lines) - 1 and re.search(rb"[;{}>]\Z", lines[at]) and b"//" not in lines[at]:
            lines[at] += trailing
        data = b"\n".join(lines)
    if spelling["tabs"]:
        data = data.replace(b"\n  ", b"\n\t")
    if spelling["ends"] == "crlf":
        data = data.replace(b"\n", b"\r\n")
    elif spelling["ends"] == "mixed":
        lines = data.split(b"\n")
        data = (
            b"".join(
                line + (b"\r\n" if (at + int(str(spelling["seed"]))) % 3 else b"\n")
                for at, line in enumerate(lines[:-1])
            )
            + (lines[-1])
        )
    if not spelling["last end"]:
        data = data.removesuffix(b"\n").removesuffix(b"\r")
    if spelling["bom"] and not path.endswith(".toml") and not data.startswith(b"\xef\xbb\xbf"):
        data = b"\xef\xbb\xbf" + data
    return data


def counted(finished: Run) -> Counter[str]:
    return Counter(finding.code for finding in finished.findings)


def check(rule: type[Rule], example: Example, spelling: dict[str, object], root: Path) -> None:
    texts = {**example.files, example.path: example.code}
    files = {
        path: respelt(read_annotated(path, text)[0], spelling, path) for path, text in texts.items()
    }
    write_files(root, {"cudalint.toml": example.settings, **files})
    before = lint(root, extend_select=(rule.code,))
    own = [f for f in before.findings if f.code == rule.code]
    joined, taken = Joined(), list[Finding]()
    for finding, fix in mendable(own, unsafe=True):
        assert rule.fix is FixSafety.SAFE or not fix.safe
        if joined.take(fix):
            taken.append(finding)
    mended = {p: apply_edits(files[p], edits) for p, edits in joined.by_path.items()}
    for path, edits in joined.by_path.items():
        _outside_is_kept(
            files[path], mended[path], sorted((e.span.start, e.span.end) for e in edits)
        )
        _ends_are_kept(files[path], mended[path])
    write_files(root, {**mended})
    after = lint(root, extend_select=(rule.code,))
    assert counted(after)[rule.code] == counted(before)[rule.code] - len(taken)
    added = counted(after) - counted(before)
    # The row that is to be filled in asks for its reason, and says so.
    assert not (added.keys() - ({"CU403"} if rule.code == "CU401" else set())), added
    _passes_are_stable(rule, root)


def _outside_is_kept(old: bytes, new: bytes, edits: list[tuple[int, int]]) -> None:
    """What is outside the edits is there, in order."""
    at = start = 0
    for first, last in [*edits, (len(old), len(old))]:
        kept = old[start:first]
        found = new.find(kept, at)
        assert found >= 0
        at, start = found + len(kept), last


def _ends_are_kept(old: bytes, new: bytes) -> None:
    """A file with line ends of one kind has no others after."""
    if b"\n" in old and not re.search(rb"(?<!\r)\n", old):
        assert not re.search(rb"(?<!\r)\n", new)
    if b"\r\n" not in old:
        assert b"\r\n" not in new


def _passes_are_stable(rule: type[Rule], root: Path) -> None:
    overrides = Overrides(None, (), (rule.code,))
    request = Request((".",), root, overrides=overrides, compile="never")
    whole = mend(request, run, unsafe=True)
    assert whole.notifications == ()
    write_files(root, {**whole.contents})
    again = mend(request, run, unsafe=True)
    assert (again.contents, again.fixed) == ({}, ())


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spelling=spellings)
@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_laws(rule: type[Rule], example: Example, spelling: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(rule, example, spelling, Path(folder))
