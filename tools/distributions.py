"""Builds the sdist and the wheel of a source folder, and proves that the bytes are its alone.

    python tools/distributions.py SOURCE OUT SECONDS

Built twice, from copies in folders of other names, with other times of the files and
other permissions, and the wheel a third time from the sdist: all must be the same.
SECONDS (since 1970, as SOURCE_DATE_EPOCH has it) is the time that the archives tell.
Nothing is fetched: hatchling must be installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path


class BuildError(Exception):
    """The build failed, or two builds differ."""


def build(source: Path, out: Path, seconds: int, *kinds: str) -> dict[str, bytes]:
    """Build the `kinds` ("sdist", "wheel") of a folder; the files made, by name."""
    targets = [argument for kind in kinds for argument in ("-t", kind)]
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out), *targets]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds)}
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"the build failed:\n{done.stdout}{done.stderr}")
    return {file.name: file.read_bytes() for file in sorted(out.iterdir())}


def aged_copy(source: Path, copy: Path) -> Path:
    """The folder with other times and permissions, as another checkout may have them."""
    shutil.copytree(source, copy)
    for number, file in enumerate(sorted(copy.rglob("*"))):
        os.utime(file, (10**9 + number, 10**9 + number))
        if file.is_file():
            file.chmod(0o600 | (file.stat().st_mode & 0o111))
    return copy


def from_sdist(sdist: Path, folder: Path) -> Path:
    """The folder that the sdist unpacks to."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data") if hasattr(
            tarfile, "data_filter"
        ) else archive.extractall(folder)
    return folder / sdist.name.removesuffix(".tar.gz")


def differences(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    """The names of the files that are not the same in both."""
    return sorted(
        name for name in first.keys() | second.keys() if first.get(name) != second.get(name)
    )


def build_twice(source: Path, out: Path, seconds: int) -> dict[str, bytes]:
    """Build into `out`, and hold it to two more builds. Raises BuildError."""
    made = build(source, out, seconds, "sdist", "wheel")
    with tempfile.TemporaryDirectory() as folder:
        other = aged_copy(source, Path(folder, "a copy"))
        again = build(other, Path(folder, "again"), seconds, "sdist", "wheel")
        (sdist,) = (name for name in made if name.endswith(".tar.gz"))
        unpacked = from_sdist(out / sdist, Path(folder, "unpacked"))
        wheel = build(unpacked, Path(folder, "wheel"), seconds, "wheel")
    differing = differences(made, again)
    if differing:
        raise BuildError(f"a second build has other bytes: {', '.join(differing)}")
    if any(made[name] != content for name, content in wheel.items()):
        raise BuildError("the wheel that is built from the sdist is another one")
    return made


def main(source: str, out: str, seconds: str) -> int:
    """Run the command line; the exit code."""
    try:
        made = build_twice(Path(source), Path(out), int(seconds))
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    for name, content in made.items():
        print(f"{sha256(content).hexdigest()}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
