"""The SARIF Multitool's opinion: no result of its rules, the same snippets, the same hashes.

The tool is `Sarif.Multitool` of the npm package `@microsoft/sarif-multitool-linux`,
in `.tools/` of the work tree or named by SARIF_MULTITOOL. Its exit code says
nothing, so its own log is read.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sample_runs import SampleHeader, SampleNote, SampleRecord, run_of, span_of

from cudalint.finding import Edit, Fix, Level, Related, Span
from cudalint.registry import all_rules
from cudalint.reporters.sarif import sarif
from cudalint.run import Notification, RuleInForce, Run, Skip, Suppressed

PLACE = ".tools/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool"
OFFLINE = {"SARIF2006.UrisShouldBeReachable.Options": {"RuleEnabled": "Disabled"}}
SOURCE = (
    "// a header that is no licence, 😀\r\n"
    "#include <cuda_runtime.h>\n"
    "void record(cudaEvent_t é) {\n"
    "\tcudaEventRecord(é); /* 😀😀 */ cudaEventRecord(é, 0);\n"
    "  cudaEventRecord(\r\n"
    "      é);\r\n"
    "\n"
    "}\n"
).encode()


@pytest.fixture(scope="module")
def multitool() -> Path:
    """The validator's binary; skips where it is not installed."""
    named = os.environ.get("SARIF_MULTITOOL")
    binary = Path(named) if named else Path(__file__).parents[3] / PLACE
    if not binary.is_file():
        if named:
            pytest.fail(f"SARIF_MULTITOOL names no file: {named}")
        pytest.skip(
            "no SARIF Multitool: npm install --prefix .tools --no-save "
            "@microsoft/sarif-multitool-linux@5.7.0"
        )
    return binary


def call(binary: Path, *arguments: str | Path) -> None:
    """Run the tool; a machine without ICU is told to do without."""
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    done = subprocess.run(
        [binary, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def opinion(binary: Path, log: Path) -> list[str]:
    """Everything that the validator has to say of a log, notes included."""
    settings, said = log.with_suffix(".json"), log.with_suffix(".said")
    settings.write_text(json.dumps(OFFLINE), encoding="utf-8")
    kinds = ("--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note")
    size = ("--max-file-size-in-kb", "1000000", "--log", "ForceOverwrite")
    call(binary, "validate", log, "-o", said, *kinds, *size, "-c", settings)
    run = json.loads(said.read_text(encoding="utf-8-sig"))["runs"][0]
    notes = [
        note["message"]["text"]
        for invocation in run.get("invocations", [])
        for note in invocation.get("toolExecutionNotifications", [])
        if note["descriptor"]["id"] != "WRN999.RuleExplicitlyDisabled"
    ]
    return notes + [
        f"{result['ruleId']} {result['message'].get('arguments')}" for result in run["results"]
    ]


@pytest.fixture
def sample(tmp_path: Path) -> Run:
    """A run with everything in it that a log can hold, in a repository with a remote."""
    git = tmp_path / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text("0123456789" * 4 + "\n")
    (git / "config").write_text('[remote "origin"]\n\turl = https://example.org/engine.git\n')
    path = "k/a b#é.cu"
    (tmp_path / "k").mkdir()
    (tmp_path / path).write_bytes(SOURCE)
    call_ = span_of(path, SOURCE, "cudaEventRecord(é)")
    second = span_of(path, SOURCE, "cudaEventRecord(é, 0)")
    third = span_of(path, SOURCE, "cudaEventRecord(\r\n      é)")
    edit = Edit(span_of(path, SOURCE, "é", 1), "é, stream")
    header = Edit(Span(path, 0, 0), "// SPDX-License-Identifier: MIT\n")
    findings = [
        SampleHeader.report("missing", Span(path, 0, 0), "MIT", fix=Fix("Add it", (header,))),
        SampleRecord.report("braces", span_of(path, SOURCE, "#include"), "é"),
        SampleRecord.report(
            "missing",
            call_,
            "[](int x) { é }",
            related=[Related(second, "and here"), Related(third, "and there")],
            fix=Fix("Name the stream", (edit,), safe=False),
            flow=[Related(second, "launches 'k'"), Related(call_, "waits here")],
            bytes=48,
        ),
        SampleRecord.report("missing", second, "x", level=Level.WARNING),
        SampleNote.report("lazy", third, "x", "y"),
        SampleNote.report("lazy", Span(path, len(SOURCE) - 2, len(SOURCE) - 2), "x", "y"),
    ]
    silenced = SampleRecord.report("missing", span_of(path, SOURCE, "void record"), "x")
    notes = (
        Notification("regions-not-understood", Level.NOTE, "3 regions in 1 file not understood."),
        Notification("rule-failed", Level.ERROR, "Internal error.", Span(path, 3, 5)),
    )
    return run_of(
        {path: SOURCE},
        findings,
        suppressed=[Suppressed(silenced, "one stream", call_)],
        root=str(tmp_path),
        notifications=notes,
        skips=(Skip("CU5", "no nvcc"),),
        exit_code=2,
    )


@pytest.mark.parametrize("embed", [False, True])
@pytest.mark.parametrize("suppressed", [False, True])
def test_nothing_to_complain_of(
    multitool: Path, sample: Run, tmp_path: Path, suppressed: bool, embed: bool
) -> None:
    log = tmp_path / "log.sarif"
    text = sarif(sample, suppressed=suppressed, embed=embed, category="kernels")
    log.write_text(text, encoding="utf-8")
    assert opinion(multitool, log) == []


def test_a_clean_log(multitool: Path, sample: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.sarif"
    clean = run_of({"a.cu": b""}, root=sample.root)
    log.write_text(sarif(clean), encoding="utf-8")
    assert opinion(multitool, log) == []


def test_every_rule_is_described_well(multitool: Path, sample: Run, tmp_path: Path) -> None:
    rules = tuple(RuleInForce(rule, rule.level) for rule in all_rules())
    log = tmp_path / "log.sarif"
    log.write_text(sarif(replace(sample, rules=rules, findings=(), suppressed=())), "utf-8")
    assert opinion(multitool, log) == []


def test_the_validator_would_complain(multitool: Path, sample: Run, tmp_path: Path) -> None:
    data = json.loads(sarif(sample))
    data["runs"][0]["results"][0]["message"].pop("id")
    data["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"] = ""
    log = tmp_path / "log.sarif"
    log.write_text(json.dumps(data), encoding="utf-8")
    assert len(opinion(multitool, log)) >= 2


def results(log: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a log with one run."""
    found: list[dict[str, Any]] = log["runs"][0]["results"]
    return found


def test_snippets_and_hashes_are_the_same(multitool: Path, sample: Run, tmp_path: Path) -> None:
    ours = json.loads(sarif(sample))
    bare = json.loads(sarif(sample))
    base = {"uri": tmp_path.as_uri() + "/"}
    bare["runs"][0]["originalUriBaseIds"] = {"SRCROOT": base}
    for result in results(bare):
        result["locations"][0]["physicalLocation"]["region"].pop("snippet")
        result["locations"][0]["physicalLocation"].pop("contextRegion", None)
        result.pop("partialFingerprints")
    log, out = tmp_path / "bare.sarif", tmp_path / "out.sarif"
    log.write_text(json.dumps(bare), encoding="utf-8")
    inserts = "RegionSnippets;RollingHashPartialFingerprints"
    call(multitool, "rewrite", log, "-o", out, "--log", "ForceOverwrite", "--insert", inserts)
    theirs = json.loads(out.read_text(encoding="utf-8-sig"))
    assert len(results(theirs)) == len(results(ours)) == 6

    def told(log: dict[str, Any]) -> list[tuple[str, str]]:
        places = [result["locations"][0]["physicalLocation"]["region"] for result in results(log)]
        hashes = [r["partialFingerprints"]["primaryLocationLineHash"] for r in results(log)]
        return [(p["snippet"]["text"], h) for p, h in zip(places, hashes, strict=True)]

    assert told(theirs) == told(ours)
