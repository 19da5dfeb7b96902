"""`cudalint new`: a stub whose tests fail until the rule is written, and that changes no file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from conftest import write_files
from cudalint.plugins import GROUP
from cudalint.rule import Rule
from cudalint.ruleform import rules_in
from cudalint.stub.text import KINDS, Stub, rule_text
from cudalint.testing import check_form, examples
from inside import inside

OWN = '[project]\nname = "cudalint"\n'
MODULE = "src/house_rules/ho001_double_literal.py"


def files(root: Path) -> dict[str, str]:
    return {
        str(file.relative_to(root)): file.read_text()
        for file in sorted(root.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    }


def pytest_says(folder: Path) -> str:
    """The last line of what pytest says in the folder."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout.splitlines()[-1]


def test_the_tests_of_a_stub_fail_until_it_is_filled_in(tmp_path: Path) -> None:
    said = inside(tmp_path, "new", "HO001", "double-literal", "--into", "house-rules")
    assert (said.code, said.err) == (0, "")
    assert '  plugins = ["house-rules"]    in cudalint.toml\n' in said.out
    folder = tmp_path / "house-rules"
    assert list(files(folder)) == [
        "pyproject.toml",
        "src/house_rules/__init__.py",
        MODULE,
        "tests/test_ho001_double_literal.py",
    ]
    assert f'[project.entry-points."{GROUP}"]\nhouse-rules = "house_rules"\n' in (
        (folder / "pyproject.toml").read_text()
    )
    assert pytest_says(folder).startswith("1 failed, 2 passed")
    filled = """\
        for kernel in file.kernels:
            if kernel.name == "bad":
                yield self.report("found", kernel.name_span, kernel.name)
"""
    text = (folder / MODULE).read_text()
    assert text.count("        yield from ()\n") == 1
    write_files(folder, {MODULE: text.replace("        yield from ()\n", filled)})
    assert pytest_says(folder).startswith("3 passed")


def test_one_rule_more_in_a_plugin_that_is_there(tmp_path: Path) -> None:
    inside(tmp_path, "new", "HO001", "double-literal", "--into", "house-rules")
    folder = tmp_path / "house-rules"
    before = files(folder)
    said = inside(folder, "new", "HO002", "kernel-name", "--kind", "project")
    assert (said.code, said.err) == (0, "")
    after = files(folder)
    assert after.keys() - before.keys() == {
        "src/house_rules/ho002_kernel_name.py",
        "tests/test_ho002_kernel_name.py",
    }
    assert {path: after[path] for path in before} == before


def test_a_project_without_the_entry_point_is_told_what_it_lacks(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"house/pyproject.toml": '[project]\nname = "other"\n', "house/house/a": ""}
    )
    said = inside(tmp_path / "house", "new", "HO001", "double-literal")
    assert said.code == 0
    assert (
        f'put this into pyproject.toml:\n\n[project.entry-points."{GROUP}"]\nhouse = "house"\n'
        in (said.out)
    )
    assert (tmp_path / "house/house/ho001_double_literal.py").is_file()
    assert (tmp_path / "house/pyproject.toml").read_text() == '[project]\nname = "other"\n'


def test_a_rule_of_cudalint_itself(tmp_path: Path) -> None:
    write_files(tmp_path, {"pyproject.toml": OWN, "src/cudalint/rules/cu101_spdx_header.py": ""})
    said = inside(tmp_path, "new", "CU399", "slow-step")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        "wrote src/cudalint/rules/cu399_slow_step.py",
        "fill in what says TODO; tests/test_examples.py fails until then",
    ]
    (rule,) = made((tmp_path / "src/cudalint/rules/cu399_slow_step.py").read_text())
    assert (rule.code, rule.name, rule.__name__) == ("CU399", "slow-step", "SlowStep")
    with pytest.raises(AssertionError, match="expected"):
        examples(rule)[0].check(tmp_path / "case")


def made(text: str) -> list[type[Rule]]:
    """The rules of a module with this text."""
    module = ModuleType("made")
    exec(compile(text, "made.py", "exec"), vars(module))
    return rules_in(module)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_rule_has_the_form_of_one(kind: str, tmp_path: Path) -> None:
    (rule,) = made(rule_text(Stub("HO001", "double-literal", kind), "0.1.0", 88))
    check_form(rule)
    assert KINDS[kind].base in [base.__name__ for base in rule.__bases__]
    if kind != "compile":
        invalid, valid = examples(rule)
        valid.check(tmp_path / "valid")
        with pytest.raises(AssertionError, match="expected"):
            invalid.check(tmp_path / "invalid")


def test_a_class_takes_no_name_that_is_imported() -> None:
    (rule,) = made(rule_text(Stub("HO001", "file-rule"), "0.1.0", 88))
    assert (rule.name, rule.__name__) == ("file-rule", "FileRuleRule")


BROKEN = '[project.entry-points."cudalint.rules"]\nhouse = "gone"\n'
CLASS = '[project.entry-points."cudalint.rules"]\nhouse = "house:Rule"\n'


@pytest.mark.parametrize(
    ("there", "arguments", "complaint"),
    [
        ({}, ("HO", "two-words"), "'HO' is no code: capital letters and then digits"),
        ({}, ("ho001", "two-words"), "'ho001' is no code"),
        ({}, ("HO001", "word"), "'word' is no name: lower-case words with hyphens"),
        ({}, ("HO001", "Two-Words"), "'Two-Words' is no name"),
        ({}, ("HO001", "../etc-x"), "'../etc-x' is no name"),
        ({}, ("CU999", "two-words"), "codes with CU are cudalint's own"),
        ({"pyproject.toml": OWN}, ("HO001", "two-words"), "a rule of cudalint's own has a code"),
        ({"src/p/ho001_x.py": ""}, ("HO001", "two-words"), "there is a rule HO001 already"),
        ({"src/p/ho002_two_words.py": ""}, ("HO001", "two-words"), "there is a rule 'two-words'"),
        ({"tests/test_ho001_two_words.py": ""}, ("HO001", "two-words"), "is left as it is"),
        ({"pyproject.toml": "x = "}, ("HO001", "two-words"), "invalid TOML"),
        ({"pyproject.toml": BROKEN}, ("HO001", "two-words"), "there is no such folder"),
        ({"pyproject.toml": CLASS}, ("HO001", "two-words"), "no package that a rule could"),
        ({"pyproject.toml/x": ""}, ("HO001", "two-words"), "cannot read"),
    ],
)
def test_what_can_not_be_is_one_line_and_changes_nothing(
    there: dict[str, str], arguments: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    write_files(tmp_path, {f"p/{path}": text for path, text in there.items()})
    before = files(tmp_path)
    said = inside(tmp_path, "new", *arguments, "--into", "p")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert complaint in said.err
    assert files(tmp_path) == before


def test_a_folder_that_can_name_no_package(tmp_path: Path) -> None:
    said = inside(tmp_path, "new", "HO001", "two-words", "--into", "1 odd")
    assert (said.code, said.out) == (2, "")
    assert "give another folder: --into FOLDER" in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    write_files(tmp_path, {"file": ""})
    said = inside(tmp_path, "new", "HO001", "two-words", "--into", "file/house")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "Not a directory" in said.err
