"""Fuzzes one target, led by coverage (atheris, libFuzzer underneath).

    python fuzz/run.py TARGET [SECONDS]

The corpus is kept in fuzz/corpus/TARGET, a crash in fuzz/crash-…; both are left
out of git. A crash that is mended becomes a fixture of the tests. Prints how many
inputs were run.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["cudalint"]):
    from targets import FIXTURES, TARGETS


def main() -> None:
    """Fuzz; libFuzzer ends the process."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        sys.exit(f"give a target: {', '.join(TARGETS)}")
    seconds = sys.argv[2] if len(sys.argv) > 2 else "60"
    target, patterns = TARGETS[name]
    corpus = Path(__file__).parent / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for pattern in patterns:
        for file in FIXTURES.glob(pattern):
            if file.is_file() and file.stat().st_size < 50_000:
                seed = corpus / "-".join(file.relative_to(FIXTURES).parts)
                seed.write_bytes(file.read_bytes())
    folder = Path(tempfile.mkdtemp(prefix="cudalint-fuzz-"))
    # What is imported late would take the first input longer than an input may take.
    with atheris.instrument_imports(include=["cudalint"]):
        target(folder, b"")
    options = (
        f"-max_total_time={seconds}",
        "-max_len=4096",
        "-timeout=20",
        f"-artifact_prefix={Path(__file__).parent}/",
        "-print_final_stats=1",
    )
    atheris.Setup([sys.argv[0], *options, str(corpus)], lambda data: target(folder, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
