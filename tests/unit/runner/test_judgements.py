"""What rules said is found again for just what they were given, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conftest import write_files
from cudalint.judging import Judge
from cudalint.run import Run
from cudalint.runner import Request, run
from cudalint.settings.select import Overrides
from cudalint.shard import Shard

SYNC = """\
// SPDX-License-Identifier: MIT
#include "wait.h"
void forward(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  wait(s);
}
"""
WAIT = """\
// SPDX-License-Identifier: MIT
#pragma once
inline void wait(cudaStream_t s) { cudaStreamSynchronize(s); }
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path / "tree", {"step.cu": SYNC, "wait.h": WAIT, "big.cu": "{" * 99_999})
    return tmp_path / "tree"


@pytest.fixture
def asked(root: Path, tmp_path: Path) -> Request:
    return Request((".",), root, isolated=True, compile="never", cache=tmp_path / "cache")


def shown(finished: Run) -> list[object]:
    return [*finished.findings, *finished.skips, *finished.notifications, finished.counts]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One item for each time that rules ran over the files."""
    times: list[str] = []
    files = Judge.files

    def counted(self: Judge, *arguments: object) -> None:
        times.append("files")
        files(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Judge, "files", counted)
    return times


def test_a_run_that_is_given_the_same_judges_nothing_and_says_the_same(
    asked: Request, judged: list[str]
) -> None:
    first = run(asked)
    again = run(asked)
    assert judged == ["files"]
    assert {finding.code for finding in first.findings} >= {"CU004", "CU301"}
    assert shown(again) == shown(first)
    assert {path: again.models[path] for path in again.models} == dict(first.models)
    assert [file.problem for file in again.sources.values()] == [
        file.problem for file in first.sources.values()
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"step.cu": SYNC + "\n"},
        {"wait.h": WAIT.replace("cudaStreamSynchronize", "look")},
        {"more.h": WAIT},
        {"KERNEL.toml": "", "common/a.cu": ""},
    ],
)
def test_another_file_is_judged_anew(
    asked: Request, root: Path, judged: list[str], change: dict[str, str]
) -> None:
    run(asked)
    write_files(root, change)
    again = run(asked)
    assert judged == ["files", "files"]
    assert shown(again) == shown(run(msgspec.structs.replace(asked, cache=None)))


@pytest.mark.parametrize(
    "change",
    [
        {"overrides": Overrides(ignore=("CU301",))},
        {"preview": True},
        {"paths": ("step.cu",)},
        {"shard": Shard(1, 2)},
        {"exclude": ("wait.h",)},
    ],
)
def test_who_asks_for_something_else_is_told_that(
    asked: Request, judged: list[str], change: dict[str, object]
) -> None:
    run(asked)
    other = msgspec.structs.replace(asked, **change)
    again = run(other)
    assert judged == ["files", "files"]
    assert shown(again) == shown(run(msgspec.structs.replace(other, cache=None)))


def test_code_of_another_version_judges_anew(
    asked: Request, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(asked)
    monkeypatch.setattr("cudalint.judgements._code_stamp", lambda: b"another")
    run(asked)
    assert judged == ["files", "files"]


def test_what_an_editor_gives_is_kept_nowhere(
    asked: Request, root: Path, tmp_path: Path, judged: list[str]
) -> None:
    given = msgspec.structs.replace(asked, contents={str(root / "step.cu"): b"int x;\n"})
    run(given)
    run(given)
    assert judged == ["files", "files"]
    assert not (tmp_path / "cache" / "models" / "runs").exists()


@pytest.mark.parametrize("damage", [b"", b"\xff" * 90, None])
def test_a_damaged_entry_is_as_good_as_none(
    asked: Request, tmp_path: Path, judged: list[str], damage: bytes | None
) -> None:
    first = run(asked)
    (entry,) = (tmp_path / "cache" / "models" / "runs").iterdir()
    entry.write_bytes(entry.read_bytes()[:-3] if damage is None else damage)
    assert shown(run(asked)) == shown(first)
    assert judged == ["files", "files"]
    run(asked)
    assert judged == ["files", "files"]


def test_a_rule_that_failed_is_asked_again(
    asked: Request, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cudalint.rules.cu101_spdx_header import SpdxHeader

    def fail(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(SpdxHeader, "check", fail)
    assert run(asked).exit_code == 2
    assert run(asked).exit_code == 2
    assert judged == ["files", "files"]


def test_a_file_whose_name_is_no_utf8_is_judged_each_time(
    asked: Request, root: Path, judged: list[str]
) -> None:
    try:
        (root / "bad\udcff.cu").write_text("__global__ void k() {}\n")
    except OSError:
        pytest.skip("this file system takes names that are UTF-8 only")
    first = run(asked)
    assert shown(run(asked)) == shown(first)
    assert judged == ["files", "files"]
