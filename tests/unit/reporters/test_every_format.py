"""What holds for each format, whatever the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from sample_runs import run_of, runs

import cudalint.reporters
from cudalint.finding import Level
from cudalint.reporters.formats import FORMATS, report
from cudalint.run import Notification, Run


def test_each_format_is_a_module_with_a_function_of_its_name() -> None:
    folder = Path(cudalint.reporters.__file__).parent
    for name in FORMATS:
        assert (folder / f"{name.replace('-', '_')}.py").is_file()
        assert report(name, run_of({"a.cu": b"int x;\n"})).endswith("\n")


@pytest.mark.parametrize("name", FORMATS)
@given(run=runs())
@settings(max_examples=25)
def test_any_run_can_be_told(name: str, run: Run) -> None:
    text = report(name, run)
    assert text == report(name, run)
    text.encode("utf-8")
    assert "\x1b" not in text
    assert "\r" not in text


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("text", "concise")])
def test_a_run_that_failed_says_so(name: str) -> None:
    problem = Notification("invalid-settings", Level.ERROR, "cudalint.toml:1:1: no such key")
    run = run_of({}, notifications=(problem,), exit_code=2)
    assert "no such key" in report(name, run)
    assert report(name, run) != report(name, run_of({}))


@pytest.mark.parametrize("name", ["text", "concise"])
def test_for_people_the_last_line_says_that_the_run_failed(name: str) -> None:
    run = run_of({"a.cu": b""}, exit_code=2)
    assert report(name, run).splitlines()[-1] == "the run failed; 1 kernel in 1 file"


def test_a_format_costs_nothing_until_it_is_asked_for() -> None:
    code = (
        "import sys, cudalint.reporters.formats, cudalint.cli.check;"
        "print([m for m in sys.modules if m.startswith('cudalint.reporters')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['cudalint.reporters', 'cudalint.reporters.formats']"


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "sarif"])
def test_the_object_model_of_sarif_is_for_sarif(name: str) -> None:
    code = (
        "import sys, cudalint.reporters.formats as f, importlib;"
        f"importlib.import_module('cudalint.reporters.{name.replace('-', '_')}');"
        "print(sorted({'rich', 'sarif_om', 'attr'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_a_format_does_not_take_is_not_passed_to_it() -> None:
    everything: dict[str, Any] = {"colour": True, "embed": True, "category": "x", "odd": 1}
    assert "\x1b[" not in report("github", run_of({"a.cu": b""}), **everything)


def test_help_costs_no_records() -> None:
    code = (
        "import sys, cudalint.cli.check;"
        "print(sorted({'msgspec', 'cudalint.run', 'cudalint.settings.model'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
