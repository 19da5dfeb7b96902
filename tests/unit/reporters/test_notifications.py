"""Notifications: each kind has a meaning, which the log and the documentation tell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
from sample_runs import run_of

import cudalint
from cudalint.finding import Level
from cudalint.reporters.sarif import sarif
from cudalint.run import Notification, Skip
from cudalint.sarif.notification import MEANINGS
from cudalint.source import SourceFile

PACKAGE = Path(cudalint.__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "notifications.md"


def test_every_id_in_the_package_has_a_meaning() -> None:
    ids = set()
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        ids |= set(re.findall(r'"([a-z]+(?:-[a-z]+)+)",\s*Level\.', text))
    assert len(ids) >= 8
    assert ids <= set(MEANINGS)


def test_the_page_has_them_all() -> None:
    page = PAGE.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\S+)\n\n(.+)$", page, re.MULTILINE))
    assert sections == MEANINGS
    assert list(sections) == sorted(sections)


def test_settings_and_steps_are_told_apart() -> None:
    notes = (
        Notification("invalid-settings", Level.ERROR, "No such key."),
        Notification("cache-unusable", Level.WARNING, "Disk full."),
    )
    run = run_of({}, notifications=notes, skips=(Skip("CU5", "no nvcc"),), exit_code=2)
    (invocation,) = json.loads(sarif(run))["runs"][0]["invocations"]
    (configuration,) = invocation["toolConfigurationNotifications"]
    assert configuration["message"]["text"] == "No such key."
    execution = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert execution == ["Disk full.", "CU5 skipped (no nvcc)."]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == 2


def test_files_that_were_not_read_make_the_run_a_failure() -> None:
    bad, good = SourceFile("a/b.cu", b"", "UTF-16, not UTF-8"), SourceFile("c.cu", b"int x;\n")
    context = SourceFile("d.cu", b"", "Permission denied", requested=False)
    sources = {file.path: file for file in (bad, good, context)}
    run = msgspec.structs.replace(run_of({}), sources=sources, exit_code=1)
    (invocation,) = json.loads(sarif(run))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == 1
    (told,) = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "'a/b.cu' was not analysed: UTF-16, not UTF-8."
    assert (told["level"], told["descriptor"]["id"]) == ("error", "unreadable-file")
    (place,) = told["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "a/b.cu"
