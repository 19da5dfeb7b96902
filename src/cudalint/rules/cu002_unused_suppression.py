"""CU002 unused-suppression."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.finding import Finding, Fix, Level
from cudalint.rule import Example, FixSafety, SuppressionRule
from cudalint.suppress.model import FileSuppressions


class UnusedSuppression(SuppressionRule):
    """A suppression that names a rule of cudalint, and silences nothing.

    What it does
        Reports each name in a `NOLINT` or `cudalint: ignore` comment that
        silences no finding, that is no rule's code or name, or whose
        `NOLINTBEGIN` or `NOLINTEND` has no partner. A rule's name is judged only
        when that rule ran on the file: a suppression of CU501 is not unused
        because nvcc is absent, nor one of a rule that is not selected. A bare
        `NOLINT`, and the names of other tools, are left alone.

    Why it matters
        A suppression that outlives its reason hides the next fault that someone
        makes on that line, and a misspelt one hides nothing although it looks
        as if it did.

    Example
            cudaEventRecord(done, stream);  // NOLINT(CU302): no stream at hand

    How to fix
        Delete the name, or the whole comment when nothing is left in its list;
        the safe fix does that. Correct a misspelt name. Close a block with the
        same names that open it.

    Sources
        clang-tidy's documentation, "Suppressing undesired diagnostics", for the
        forms; ruff's rule RUF100 for the idea.
    """

    code = "CU002"
    name = "unused-suppression"
    level = Level.WARNING
    fix = FixSafety.SAFE
    messages = {
        "unused": "'{0}' is silenced here, but there is nothing to silence; remove it.",
        "unknown": "'{0}' is no rule of cudalint and silences nothing; correct or remove it.",
        "misspelt": "'{0}' is no rule of cudalint and silences nothing; write '{1}' or remove it.",
        "unclosed": "'{0}' silences nothing without '{1}' after it; close the block or remove it.",
        "unopened": "'{0}' closes nothing: no '{1}' is open before it; remove it.",
        "late": "'{0}' for a whole file works only above its first line of code; move it up.",
    }
    INVALID = (
        Example(
            code="""\
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);  // NOLINT(CU302): calibration tool
                                    ~~~~~
}
""",
            message="'CU302' is silenced here, but there is nothing to silence; remove it.",
            fixed="""\
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);
}
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e) {
  cudaEventRecord(e);  // NOLINT(CU302, CU201): single-stream tool
                                        ~~~~~
}
""",
            fixed="""\
void record(cudaEvent_t e) {
  cudaEventRecord(e);  // NOLINT(CU302): single-stream tool
}
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e) {
  // NOLINTNEXTLINE(banned-include,bugprone-foo,event-record-without-stream,cudalint-CU201): tool
                    ~~~~~~~~~~~~~~                                          ~~~~~~~~~~~~~~
  cudaEventRecord(e);
}
""",
            fixed="""\
void record(cudaEvent_t e) {
  // NOLINTNEXTLINE(bugprone-foo,event-record-without-stream): tool
  cudaEventRecord(e);
}
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e, cudaStream_t s) {
  // NOLINTNEXTLINE(cudalint-event-record-without-stream): the stream is the default
                    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  cudaEventRecord(e, s);
}
""",
            fixed="""\
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);
}
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e, cudaStream_t s) {
  // NOLINTBEGIN(CU302): legacy block
                 ~~~~~
  cudaEventRecord(e, s);
  // NOLINTEND(CU302)
  cudaEventRecord(e, s);
}
""",
            fixed="""\
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);
  cudaEventRecord(e, s);
}
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e) {
  // NOLINTBEGIN(CU302): legacy block
                 ~~~~~
  cudaEventRecord(e);
  // NOLINTEND(CU301)
               ~~~~~
}
""",
            message="'NOLINTBEGIN(CU302)' silences nothing without 'NOLINTEND(CU302)' after it;",
            fixed="""\
void record(cudaEvent_t e) {
  cudaEventRecord(e);
}
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);  // see the manual NOLINT(CU999): old code
                                                   ~~~~~
}
""",
            message="'CU999' is no rule of cudalint and silences nothing;",
            fixed="""\
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);  // see the manual
}
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, /* cudalint: ignore[cudalint-device-prinft] tool */ s);
                                         ~~~~~~~~~~~~~~~~~~~~~~
}
""",
            message="write 'cudalint-device-printf' or remove it.",
            fixed="""\
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);
}
""",
        ),
        Example(
            code="""\
#include <cuda_runtime.h>
int scale = 3;
// cudalint: ignore-file[CU302] a tool
                         ~~~~~
void record(cudaEvent_t e, cudaStream_t s) { cudaEventRecord(e, s); }
""",
            message="works only above its first line of code;",
            fixed="""\
#include <cuda_runtime.h>
int scale = 3;
void record(cudaEvent_t e, cudaStream_t s) { cudaEventRecord(e, s); }
""",
        ),
        Example(
            code="""\
#define RECORD(e, s) cudaEventRecord(e, s) /* NOLINT(CU302): in a macro */
                                                     ~~~~~
void record(cudaEvent_t e, cudaStream_t s) { RECORD(e, s); }
""",
            fixed="""\
#define RECORD(e, s) cudaEventRecord(e, s)
void record(cudaEvent_t e, cudaStream_t s) { RECORD(e, s); }
""",
        ),
        Example(
            code="""\
// NOLINTEND
   ~~~~~~~~~
int scale = 3;
""",
            message="'NOLINTEND' closes nothing: no 'NOLINTBEGIN' is open before it; remove it.",
            fixed="""\
int scale = 3;
""",
        ),
    )
    VALID = (
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e) {
  cudaEventRecord(e);  // NOLINT(CU302): single-stream tool
}
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);  // NOLINT
  cudaEventRecord(e, s);  // NOLINT(bugprone-foo)
  cudaEventRecord(e, s);  // NOLINT(readability/casting)
  // NOLINTBEGIN(google-runtime-int)
  cudaEventRecord(e, s);
}
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
// cudalint: ignore-file[CU302] every event here is timed on the null stream
#include <cuda_runtime.h>
void record(cudaEvent_t e) { cudaEventRecord(e); }
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
const char* words = "// NOLINT(CU302): text in a string is no suppression";
const char* raw = R"(/* NOLINTBEGIN(CU302) cudalint: ignore[CU999] */)";
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
int scale = 3;  // nolint(CU302): the words are case-sensitive
int shift = 4;  // NOLINTER(CU302): another word
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e) {
  // NOLINTBEGIN(CU302): legacy block
  cudaEventRecord(e);
  cudaEventRecord(e, 0);
  // NOLINTEND(event-record-without-stream)
}
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e) {
  cudaEventRecord(
      e,
      nullptr);  // cudalint: ignore[cudalint-event-record-without-stream] on its last line
}
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);  // NOLINT(CU302): judged only where the rule runs
}
""",
            settings='ignore = ["CU302"]',
        ),
    )

    def check(self, file: FileSuppressions) -> Iterator[Finding]:
        """Report the faults of the file's suppressions."""
        for fault in file.faults:
            misspelt = fault.kind == "unknown" and len(fault.arguments) > 1
            yield self.report(
                "misspelt" if misspelt else fault.kind,
                fault.span,
                *fault.arguments,
                fix=Fix(f"Remove '{fault.arguments[0]}'", fault.edits),
            )
