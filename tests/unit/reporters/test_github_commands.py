"""GitHub's workflow commands: read back by the rules of the runner, held to its toolkit."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from sample_runs import SampleNote, SampleRecord, run_of, runs, span_of

from cudalint.finding import Level, Related, Span
from cudalint.reporters.github import github
from cudalint.reporters.visible import visible
from cudalint.run import Notification, Run

TOOLKIT = Path(__file__).parents[3] / ".tools/node_modules/@actions/core/lib/command.js"
UNESCAPED = {"%25": "%", "%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","}

Command = tuple[str, dict[str, str], str]


def read_command(line: str) -> Command | None:
    """A command as the runner reads it, None for a line of plain text.

    `::name key=value,key=value::data`; in data `%25`, `%0D` and `%0A` are
    escapes, in values `%3A` and `%2C` too, and `%25` is undone last.
    """
    if not line.lstrip().startswith("::"):
        assert "##[" not in line
        return None
    head, _, data = line.lstrip()[2:].partition("::")
    name, _, rest = head.partition(" ")
    properties = dict(part.split("=", 1) for part in rest.split(",") if "=" in part)
    return (
        name,
        {key: _unescaped(value, properties=True) for key, value in properties.items()},
        _unescaped(data, properties=False),
    )


def _unescaped(text: str, *, properties: bool) -> str:
    for code in ("%0D", "%0A", *(("%3A", "%2C") if properties else ()), "%25"):
        text = text.replace(code, UNESCAPED[code])
    return text


def commands(run: Run) -> list[Command]:
    read = [read_command(line) for line in github(run).splitlines()]
    return [command for command in read if command is not None]


SOURCE = "void f() {\n\tcudaEventRecord(é);\n}\n".encode()


def sample() -> Run:
    path = "k/a,b: 100%.cu"
    whole = span_of(path, SOURCE, "cudaEventRecord(é)".encode())
    lines = Span(path, 0, len(SOURCE))
    return run_of(
        {path: SOURCE},
        [
            SampleRecord.report("missing", whole, "a::b, 50%\n::error::c"),
            SampleRecord.report("missing", lines, "f", level=Level.WARNING),
            SampleNote.report("lazy", whole, "x", "y", related=[Related(lines, "in here")]),
        ],
    )


def test_each_finding_is_an_annotation() -> None:
    first, second, third = commands(sample())
    message = "'a::b, 50%␊::error::c' names no stream and records on the null stream; name one."
    place = {"file": "k/a,b: 100%.cu", "line": "2", "endLine": "2", "col": "2", "endColumn": "20"}
    assert first == ("error", place | {"title": "CU302 event-record-without-stream"}, message)
    assert second[0] == "warning"
    # GitHub takes no columns for a span of several lines.
    assert {k: second[1].get(k) for k in ("line", "endLine", "col", "endColumn")} == {
        "line": "1",
        "endLine": "3",
        "col": None,
        "endColumn": None,
    }
    assert (third[0], third[1]["title"]) == ("notice", "CU310 lazy-initialisation")


@given(run=runs())
def test_any_run_is_read_back_whole(run: Run) -> None:
    read = commands(run)
    problems = [n for n in run.notifications if n.level is Level.ERROR]
    assert len(read) == len(run.findings) + len(problems)
    told = [*run.findings, *problems]
    for command, one in zip(read, told, strict=True):
        assert command[2] == visible(one.message)


def test_no_name_of_ours_or_theirs_starts_a_command() -> None:
    silly = Notification("rule-failed", Level.ERROR, "x\r\n::stop-commands::y")
    run = run_of({"::error::.cu": b""}, notifications=(silly,), exit_code=2)
    (command,) = commands(run)
    assert command[:2] == ("error", {"title": "cudalint rule-failed"})
    assert github(run).count("\n") == 2


@pytest.mark.skipif(
    not TOOLKIT.is_file() or shutil.which("node") is None,
    reason="no GitHub toolkit: npm install --prefix .tools --no-save @actions/core@1.11.1",
)
def test_the_toolkit_would_write_the_same() -> None:
    script = (
        f"const c = require({json.dumps(str(TOOLKIT))});"
        "for (const [n, p, d] of JSON.parse(require('fs').readFileSync(0, 'utf8')))"
        " c.issueCommand(n, p, d);"
    )
    run = sample()
    lines = [line for line in github(run).splitlines() if line.startswith("::")]
    done = subprocess.run(
        ["node", "-e", script],
        input=json.dumps(commands(run)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == lines
