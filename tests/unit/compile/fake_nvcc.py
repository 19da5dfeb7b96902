"""A program that stands in for nvcc: a shell script whose words and files a test chooses."""

from __future__ import annotations

from pathlib import Path

from cudalint.compile.toolchain import Toolchain, Toolchains

VERSION = "Cuda compilation tools, release 13.0, V13.0.88"
CLEAN = """\
ptxas info    : Compiling entry function 'k' for 'sm_121'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
"""


class FakeNvcc:
    """Writes the script to `folder`/nvcc. `calls` is what it was called with, one text each.

    A compile prints `says` (with the arch for each @ARCH@), writes a cubin and a
    dependency file of the source and `reads`, and then runs `ending`, a line of
    shell.
    """

    def __init__(
        self, folder: Path, says: str = CLEAN, reads: tuple[Path, ...] = (), ending: str = ":"
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "nvcc"
        self._log = folder / "calls"
        (folder / "says").write_text(says)
        (folder / "reads").write_text("".join(f" {file}" for file in reads))
        self.path.write_text(
            f"""\
#!/bin/sh
case "$1" in
  --version) echo '{VERSION}'; exit;;
  --list-gpu-code) printf 'sm_90\\nsm_121\\n'; exit;;
esac
echo "$*" >> {self._log}
for source; do :; done
while [ $# -gt 1 ]; do
  case "$1" in -o) output=$2;; -MF) listing=$2;; -arch=*) arch=${{1#-arch=}};; esac
  shift
done
sed "s/@ARCH@/$arch/g" {folder}/says
echo "$output : $source $(cat {folder}/reads)" > "$listing"
: > "$output"
{ending}
"""
        )
        self.path.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        """The arguments of each compile so far."""
        return self._log.read_text(errors="replace").splitlines() if self._log.exists() else []

    @property
    def toolchains(self) -> Toolchains:
        """It, as if it had been found."""
        tool = Toolchain(str(self.path), "13.0.88", (13, 0), frozenset({90, 121}))
        return Toolchains((tool,))
