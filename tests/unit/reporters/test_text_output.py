"""The whole text of whole runs, held to files.

CUDALINT_UPDATE_OUTPUT=1 writes the files anew; look at their difference then.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sample_runs import SampleHeader, SampleNote, SampleRecord, run_of, span_of

from cudalint.finding import Edit, Finding, Fix, Level, Related, Span
from cudalint.reporters.concise import concise
from cudalint.reporters.text import text
from cudalint.run import Counts, Run, Skip, Suppressed
from cudalint.source import SourceFile

FOLDER = Path(__file__).parents[2] / "fixtures" / "output"
SOURCE = (
    b"// some other header\n"
    b"#include <cuda_runtime.h>\n"
    b"\n"
    b"void record(cudaEvent_t done) {\n"
    b"\tcudaEventRecord(done);\n"
    b"\tcudaEventRecord(\n"
    b"\t\tdone,\n"
    b"\t\tnullptr);\n"
    b"}\n"
)


def findings() -> list[Finding]:
    """One finding of each shape."""
    path = "k/a.cu"
    first = span_of(path, SOURCE, "cudaEventRecord")
    second = span_of(path, SOURCE, "cudaEventRecord(\n\t\tdone,\n\t\tnullptr)")
    header = Edit(Span(path, 0, 0), "// SPDX-License-Identifier: MIT OR Apache-2.0\n")
    stream = Edit(span_of(path, SOURCE, "done)", 0), "done, stream)")
    return [
        SampleHeader.report("missing", Span(path, 0, 0), "MIT", fix=Fix("Add it", (header,))),
        SampleRecord.report(
            "missing",
            first,
            "cudaEventRecord",
            related=[Related(span_of(path, SOURCE, "done", 0), "the event comes in here")],
            fix=Fix("Name the stream", (stream,), safe=False),
            flow=[
                Related(span_of(path, SOURCE, "void record"), "'record' starts"),
                Related(first, "records"),
            ],
        ),
        SampleRecord.report("missing", second, "cudaEventRecord", level=Level.WARNING),
        SampleNote.report("lazy", Span("k/gone\nnow.cu", 3, 9), "x", "\x1b[31my"),
    ]


def runs() -> dict[str, Run]:
    """The runs by the name of their files."""
    files = {"k/a.cu": SOURCE, "k/b.cu": b""}
    silenced = Suppressed(findings()[1], "one stream", Span("k/a.cu", 0, 0))
    unread = run_of(
        {"k/a.cu": SOURCE}, [SampleHeader.report("missing", Span("k/c.cu", 0, 0), "MIT")]
    )
    unread.sources["k/c.cu"] = SourceFile("k/c.cu", b"", problem="permission denied")
    return {
        "findings": run_of(
            files, findings(), suppressed=[silenced], skips=(Skip("CU5", "no nvcc"),)
        ),
        "clean": run_of(files, counts=Counts(files=41, kernels=248)),
        "clean-but-skipped": run_of(
            files,
            suppressed=[silenced],
            skips=(Skip("CU5", "no nvcc"),),
            counts=Counts(files=41, kernels=248),
        ),
        "unread": unread,
    }


def held_to(name: str, output: str) -> None:
    """Compare an output with its file."""
    file = FOLDER / name
    if os.environ.get("CUDALINT_UPDATE_OUTPUT"):
        file.write_text(output, encoding="utf-8")
    assert output == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", runs())
def test_text(name: str) -> None:
    held_to(f"{name}.txt", text(runs()[name]))


@pytest.mark.parametrize("name", runs())
def test_concise(name: str) -> None:
    held_to(f"{name}.concise.txt", concise(runs()[name]))


def test_colour_changes_nothing_but_colour() -> None:
    import re

    for run in runs().values():
        for report in (text, concise):
            coloured = report(run, colour=True)
            assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == report(run)
    held_to("findings.colour.txt", text(runs()["findings"], colour=True).replace("\x1b", "ESC"))


def test_the_last_line_says_what_was_analysed() -> None:
    for report in (text, concise):
        last = report(runs()["clean-but-skipped"]).splitlines()[-1]
        assert last == "248 kernels in 41 files; CU5 skipped (no nvcc)"


def test_rich_is_not_imported() -> None:
    import subprocess
    import sys

    code = (
        "import sys, cudalint.reporters.text, cudalint.reporters.concise;"
        "print(sorted({'rich', 'sarif_om', 'unicodedata'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
