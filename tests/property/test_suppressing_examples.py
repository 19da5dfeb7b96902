"""Every rule's examples get comments, and are clean then; their code stays what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.adoption.placing import code_of
from cudalint.adoption.suppressing import silence
from cudalint.registry import all_rules
from cudalint.rule import CompileRule, Example, Rule
from cudalint.runner import Request, run
from cudalint.settings.select import Overrides
from cudalint.testing.annotated import read_annotated

NEVER_SILENCED = {"CU004"}
"""A file that can't be read holds no comment."""

EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.code}-{number}")
    for rule in all_rules()
    if not issubclass(rule, CompileRule) and rule.code not in NEVER_SILENCED
    for number, example in enumerate(rule.INVALID)
]


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_all_is_silenced(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    texts = {**example.files, example.path: example.code}
    files = {path: read_annotated(path, text)[0] for path, text in texts.items()}
    write_files(tmp_path, {"cudalint.toml": example.settings, **files})
    overrides = Overrides(None, (), (rule.code,))
    request = Request((".",), tmp_path, overrides=overrides, compile="never")
    silenced = silence(request, run, "known since the start")
    assert silenced.changed
    for path, (old, new) in silenced.changed.items():
        assert code_of(path, new) == code_of(path, old)
        assert new.replace(b"\r\n", b"\n").count(b"\r") == old.replace(b"\r\n", b"\n").count(b"\r")
    write_files(tmp_path, {path: new for path, (_, new) in silenced.changed.items()})
    left = lint(tmp_path, extend_select=(rule.code,))
    found = [(f.code, f.message) for f in left.findings]
    assert found == []
    # A manifest has no comments but at the ends of lines.
    told = [(note.id, "KERNEL.toml" in note.message) for note in silenced.notifications]
    assert set(told) <= {("silenced-file", True)}
