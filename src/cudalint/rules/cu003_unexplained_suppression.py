"""CU003 unexplained-suppression."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.finding import Finding, Level
from cudalint.rule import Example, SuppressionRule
from cudalint.suppress.model import FileSuppressions


class UnexplainedSuppression(SuppressionRule):
    """A suppression that names a rule of cudalint, and gives no reason.

    What it does
        Asks a reason of each comment that silences a rule by its code or name:
        after a `:` behind `NOLINT(…)`, `NOLINTNEXTLINE(…)` and
        `NOLINTBEGIN(…)`, and behind the bracket of `cudalint: ignore[…]` and
        `cudalint: ignore-file[…]`. A bare `NOLINT`, a `NOLINTEND`, and the names
        of other tools need none.

    Why it matters
        Whoever meets the line next can't tell a known and harmless exception
        from a fault that was in the way on a Friday evening. SARIF carries the
        reason as the suppression's justification, so that reviewers see it too.

    Example
            cudaEventRecord(done);  // NOLINT(CU302)

    How to fix
        Say in a few words why the finding does not apply here, or mend the code
        and delete the comment.

            cudaEventRecord(done);  // NOLINT(CU302): calibration tool, one stream

    Sources
        SARIF 2.1.0, section 3.35.3 (`justification`); golangci-lint's nolintlint
        with `require-explanation` for the idea.
    """

    code = "CU003"
    name = "unexplained-suppression"
    level = Level.NOTE
    messages = {
        "no-reason": "'{0}' gives no reason; write one after it as '{1}'.",
    }
    INVALID = (
        Example(
            code="""\
void record(cudaEvent_t e) {
  cudaEventRecord(e);  // NOLINT(CU302)
                          ~~~~~~~~~~~~~
}
""",
            message="'NOLINT(CU302)' gives no reason; write one after it as",
        ),
        Example(
            code="""\
void record(cudaEvent_t e) {
  // NOLINTNEXTLINE(event-record-without-stream) no colon before these words
     ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  cudaEventRecord(e);
}
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e) {
  /* NOLINTBEGIN(CU302): */
     ~~~~~~~~~~~~~~~~~~
  cudaEventRecord(e);
  /* NOLINTEND(CU302) */
}
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e) {
  cudaEventRecord(e);  // cudalint: ignore[CU302]
                          ~~~~~~~~~~~~~~~~~~~~~~~
}
""",
            message="as 'cudalint: ignore[CU302] reason'.",
        ),
        Example(
            code="""\
// cudalint: ignore-file[cudalint-CU302] --
   ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
void record(cudaEvent_t e) { cudaEventRecord(e); }
""",
        ),
        Example(
            code="""\
void record(cudaEvent_t e) {
  cudaEventRecord(e);  // NOLINT(bugprone-foo) NOLINT(CU302) NOLINT(readability-bar): words
                                               ~~~~~~~~~~~~~
}
""",
        ),
        Example(
            code="""\
#define RECORD(e) cudaEventRecord(e) /* NOLINT(CU302,bugprone-foo):
                                        ~~~~~~~~~~~~~~~~~~~~~~~~~~
                                      */
void record(cudaEvent_t e) { RECORD(e); }
""",
        ),
    )
    VALID = (
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e) {
  cudaEventRecord(e);  // NOLINT(CU302): calibration tool, one stream
}
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e) {
  cudaEventRecord(e);  // NOLINT
  // NOLINTNEXTLINE
  cudaEventRecord(e);
}
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
int scale = 3;  // NOLINT(bugprone-foo)
int shift = 4;  // NOLINT(readability/casting, runtime/int)
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e) {
  // cudalint: ignore[CU302] calibration tool, one stream
  cudaEventRecord(e);
}
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e) {
  // NOLINTBEGIN(CU302): legacy block
  cudaEventRecord(e);
  // NOLINTEND(CU302)
}
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
void record(cudaEvent_t e) {
  /* NOLINTNEXTLINE(CU302):
   * the event is only ever waited for by the host,
   * which has one stream.
   */
  cudaEventRecord(e);
}
"""
        ),
        Example(
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
const char* words = "NOLINT(CU302)";
"""
        ),
    )

    def check(self, file: FileSuppressions) -> Iterator[Finding]:
        """Report each directive that names one of our rules without a reason."""
        for directive in file.directives:
            if directive.form == "NOLINTEND" or directive.reason or not directive.names_a_rule:
                continue
            colon = ":" if directive.form.startswith("NOLINT") else ""
            example = f"{directive.text}{colon} reason"
            yield self.report("no-reason", directive.span, directive.text, example)
