"""Runs the quick tests with the oldest dependencies that are allowed, and with the newest.

    python tools/bounds.py OLDEST_PYTHON NEWEST_PYTHON

The oldest go with the first interpreter, the newest with the second, each in an
environment of its own that nothing else is installed into. Needs uv.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What a run of the linter goes through; what nvcc, npm or a browser say is no part of it.
TESTS = (
    *("tests/test_cases.py", "tests/unit/syntax", "tests/unit/tree", "tests/unit/settings"),
    *("tests/unit/discovery", "tests/unit/lines", "tests/unit/suppress", "tests/unit/reporters"),
    *("tests/unit/semantics", "tests/unit/rules", "tests/unit/runner", "tests/unit/cli"),
)


def run(*command: str) -> None:
    """Run a program in the repository. Raises CalledProcessError."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def try_bound(python: str, resolution: str, folder: Path) -> None:
    """Install by `resolution` ("lowest-direct" or "highest") and test."""
    program = str(folder / "bin" / "python")
    run("uv", "venv", "--quiet", "--no-python-downloads", "--python", python, str(folder))
    install = ("uv", "pip", "install", "--quiet", "--python", program)
    run(*install, "--resolution", resolution, f"{ROOT}[lsp,watch]")
    # What tests need, beside what is tested: any version will do, so it changes nothing.
    kept = subprocess.run(
        ["uv", "pip", "freeze", "--python", program, "--exclude-editable"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    constraints = folder / "constraints.txt"
    pins = [line for line in kept.splitlines() if not line.startswith("cudalint")]
    constraints.write_text("\n".join(pins) + "\n")
    run(*install, "--constraint", str(constraints), f"{ROOT}[dev]")
    run(
        program,
        "-m",
        "pytest",
        "-o",
        "addopts=-q --strict-markers",
        "-p",
        "no:cacheprovider",
        *TESTS,
    )
    print(f"{python}, {resolution}: passed with")
    print("".join(f"  {pin}\n" for pin in pins if _is_direct(pin)), end="")


def _is_direct(pin: str) -> bool:
    """Whether pyproject.toml asks for it, and not only what it asks for."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return f'"{pin.partition("==")[0]}' in text


def main(oldest: str, newest: str) -> int:
    """Run the command line; the exit code."""
    for python, resolution in ((oldest, "lowest-direct"), (newest, "highest")):
        with tempfile.TemporaryDirectory() as folder:
            try:
                try_bound(python, resolution, Path(folder))
            except subprocess.CalledProcessError as error:
                print(f"{python}, {resolution}: failed: {error}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
