"""Everything that a release is, but for the upload: docs/releasing.md tells the steps.

    python tools/release.py OUT PYTHON...

Takes the commit HEAD (what is not committed is no part of it), builds sdist and wheel
into OUT, checks what a package index would show, installs the wheel for each
interpreter, where it must lint, and holds the CHANGELOG to the version. Needs
hatchling, twine and uv.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from distributions import BuildError, build_twice

ROOT = Path(__file__).parents[1]
FAULTY = "// no licence line\n"


class NotReleasableError(Exception):
    """Something that a release has to be is not so."""


def output(*command: str, cwd: Path = ROOT) -> str:
    """What a program prints. Raises NotReleasableError when it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise NotReleasableError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def commit(folder: Path) -> int:
    """Put the files of HEAD into a new folder; when it was committed, in seconds."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return int(output("git", "log", "-1", "--format=%ct"))


def check_changelog(source: Path) -> str:
    """The version, which the CHANGELOG must have a day for. Raises NotReleasableError."""
    said = (source / "src" / "cudalint" / "__init__.py").read_text("utf-8")
    version = re.search(r'__version__ = "(.+)"', said)
    assert version is not None
    changes = (source / "CHANGELOG.md").read_text("utf-8")
    latest = re.search(r"(?m)^## \[?([^\]\s]+)\]?(?: - (\S+))?$", changes)
    if latest is None or latest[1] != version[1] or not latest[2]:
        raise NotReleasableError(f"CHANGELOG.md does not begin with '## [{version[1]}] - <day>'")
    return version[1]


def try_wheel(python: str, wheel: Path, source: Path, folder: Path) -> str:
    """Install the wheel for an interpreter and lint with it; the interpreter's version."""
    bin_ = folder / "bin"
    output("uv", "venv", "--quiet", "--no-python-downloads", "--python", python, str(folder))
    output("uv", "pip", "install", "--quiet", "--python", str(bin_ / "python"), str(wheel))
    cudalint = str(bin_ / "cudalint")
    said = output(cudalint, "--version", cwd=folder)
    if said.splitlines()[0] != f"cudalint {wheel.name.split('-')[1]}":
        raise NotReleasableError(f"--version says {said!r}")
    output(cudalint, "--compile", "never", "--no-cache", str(source / "kernels"), cwd=source)
    (folder / "faulty.cu").write_text(FAULTY)
    arguments = ["--compile", "never", "--no-cache", "--output", "concise", "faulty.cu"]
    done = subprocess.run([cudalint, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 1 or "CU101" not in done.stdout:
        raise NotReleasableError(f"a faulty file: exit code {done.returncode}, {done.stdout!r}")
    return output(str(bin_ / "python"), "--version").strip()


def at_hand(python: str) -> bool:
    """Whether there is such an interpreter."""
    program = shutil.which(python)
    return bool(program) and not subprocess.run([program, "-c", ""], capture_output=True).returncode


def release(out: Path, pythons: list[str], work: Path) -> None:
    """All steps. Raises NotReleasableError, BuildError."""
    if output("git", "status", "--porcelain"):
        print("note: what is not committed is no part of this")
    seconds = commit(work / "source")
    shutil.rmtree(out, ignore_errors=True)
    made = build_twice(work / "source", out, seconds)
    for name, content in made.items():
        print(f"{sha256(content).hexdigest()}  {name}: built three times, the same bytes")
    files = [str(out / name) for name in made]
    output(sys.executable, "-m", "twine", "check", "--strict", *files)
    print("twine check --strict: passed")
    (wheel,) = out.glob("*.whl")
    usable = [python for python in pythons if at_hand(python)]
    for number, python in enumerate(usable):
        version = try_wheel(python, wheel, work / "source", work / str(number))
        print(f"{version}: installed, tells its version, lints")
    for python in pythons:
        if python not in usable:
            print(f"{python}: not at hand, not tried")
    if not usable:
        raise NotReleasableError("none of the interpreters is at hand")
    print(f"version {check_changelog(work / 'source')} is in CHANGELOG.md, with its day")


def main(out: str, *pythons: str) -> int:
    """Run the command line; the exit code."""
    with tempfile.TemporaryDirectory() as work:
        try:
            release(Path(out).resolve(), list(pythons), Path(work))
        except (NotReleasableError, BuildError) as error:
            print(f"not releasable: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
