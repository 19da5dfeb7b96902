"""What the PyPI package sarif-tools reads out of a log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sample_runs import SampleNote, SampleRecord, run_of, span_of

from cudalint.finding import Level
from cudalint.reporters.sarif import sarif

DATA = b"cudaEventRecord(e);\ncudaEventRecord(f);\ncreate();\n"


def tool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `sarif` from the package."""
    return subprocess.run(
        [sys.executable, "-m", "sarif", *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("level", "code"), [(Level.ERROR, 1), (Level.WARNING, 0)])
def test_levels_are_read_as_written(tmp_path: Path, level: Level, code: int) -> None:
    findings = [
        SampleRecord.report("missing", span_of("a.cu", DATA, "cudaEventRecord(e)"), "e"),
        SampleNote.report("lazy", span_of("a.cu", DATA, "create"), "c", "f"),
    ]
    findings[0] = SampleRecord.report("missing", findings[0].span, "e", level=level)
    log = tmp_path / "log.sarif"
    run = run_of({"a.cu": DATA}, findings, levels={"CU302": level})
    log.write_text(sarif(run), encoding="utf-8")
    done = tool("--check", "error", "summary", log)
    assert done.returncode == code, done.stderr
    assert f"{level.value}: 1" in done.stdout
    assert "note: 1" in done.stdout
    assert "CU302" in done.stdout


def test_a_new_finding_is_the_only_difference(tmp_path: Path) -> None:
    first = SampleRecord.report("missing", span_of("a.cu", DATA, "cudaEventRecord(e)"), "e")
    second = SampleRecord.report("missing", span_of("a.cu", DATA, "cudaEventRecord(f)"), "f")
    old, new = tmp_path / "old.sarif", tmp_path / "new.sarif"
    old.write_text(sarif(run_of({"a.cu": DATA}, [first])), encoding="utf-8")
    new.write_text(sarif(run_of({"a.cu": DATA}, [first, second])), encoding="utf-8")
    assert tool("--check", "warning", "diff", old, old).returncode == 0
    assert tool("--check", "warning", "diff", old, new).returncode == 1
