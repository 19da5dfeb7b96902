"""Ten thousand results, measured against JSON work on the same log in the same process."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

from sample_runs import SampleRecord, run_of

from cudalint.finding import Span
from cudalint.reporters.sarif import sarif
from cudalint.reporters.text import text

COUNT = 10_000


def seconds(work: Callable[[], object]) -> float:
    """The lesser processor time of two calls."""
    times = []
    for _ in range(2):
        before = time.process_time()
        work()
        times.append(time.process_time() - before)
    return min(times)


def test_ten_thousand_results() -> None:
    data = b"".join(b"  cudaEventRecord(e%d);  // line\n" % at for at in range(COUNT))
    spans = [Span("a.cu", m.start(), m.end()) for m in re.finditer(rb"cudaEventRecord", data)]
    run = run_of({"a.cu": data}, [SampleRecord.report("missing", span, "e") for span in spans])
    log = json.loads(sarif(run))
    assert len(log["runs"][0]["results"]) == COUNT
    reference = seconds(lambda: json.loads(json.dumps(log, indent=2)))
    assert seconds(lambda: sarif(run)) < 3 * reference
    assert seconds(lambda: text(run)) < 3 * reference
