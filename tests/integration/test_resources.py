"""`cudalint resources` as a process, with a stand-in for nvcc: what it prints, how it exits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from conftest import write_files
from forked import run_cudalint_text

KERNEL = 'extern "C" __global__ void k(float* y) { y[0] = 1; }\n'
NVCC = """\
#!/bin/sh
case "$1" in
  --version) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit;;
  --list-gpu-code) printf 'sm_90\\nsm_121\\n'; exit;;
esac
for source; do :; done
while [ $# -gt 1 ]; do
  case "$1" in -o) output=$2;; -MF) listing=$2;; -arch=*) arch=${1#-arch=};; esac
  shift
done
case "$source" in *broken*) echo "$source(1): error: no such thing"; exit 2;; esac
case "$arch" in sm_90) registers=32;; *) registers=48;; esac
for kernel in $(cat @NAMES@); do
  echo "ptxas info    : Compiling entry function '$kernel' for '$arch'"
  echo "ptxas info    : Function properties for $kernel"
  echo "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads"
  echo "ptxas info    : Used $registers registers, used 1 barriers, 2048 bytes smem"
done
echo ".visible .entry k()\n.maxntid 256\n{\n}" > k.ptx
echo "$output : $source" > "$listing"
: > "$output"
"""


class Project:
    """A folder with sources, and a PATH with the stand-in alone."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.bin = folder / "bin"
        (folder / "names").write_text("k")
        write_files(self.bin, {"nvcc": NVCC.replace("@NAMES@", str(folder / "names"))})
        write_files(self.bin, {"gcc": "#!/bin/sh\nexit 1\n"})
        for program in ("nvcc", "gcc"):
            (self.bin / program).chmod(0o755)
        write_files(self.root, {"cudalint.toml": 'targets = ["sm_121", "sm_90"]\n', "a.cu": KERNEL})

    def run(self, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": path or f"{self.bin}:/usr/bin:/bin"}
        command = ["resources", "--no-cache", *arguments]
        return run_cudalint_text(command, cwd=self.root, env=environment)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_kernel_has_a_row_of_each_arch(project: Project) -> None:
    done = project.run(".")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[1].split()[:8] == ["k", "sm_90", "32", "4", "12", "8", "2048", "1"]
    assert lines[1].split()[8:12] == ["256", "8", "100", "%"]
    assert lines[2].split() == [
        *("sm_121", "48", "4", "12", "8", "2048", "1", "256", "5", "83", "%", "registers")
    ]
    assert lines[-1] == "1 kernel on sm_90, sm_121 with nvcc 13.0.88, 1 of them spills"


@pytest.mark.parametrize("format_", ["text", "json", "csv", "markdown", "html"])
def test_every_format_goes_to_a_file_too(project: Project, format_: str) -> None:
    shown = project.run("a.cu", "--format", format_)
    done = project.run("a.cu", "--format", format_, "--output-file", "table.out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with (project.root / "table.out").open(newline="", encoding="utf-8") as written:
        assert written.read().replace("\r\n", "\n") == shown.stdout.replace("\r\n", "\n")


def test_rows_are_sorted(project: Project, tmp_path: Path) -> None:
    write_files(project.root, {"b.cu": KERNEL.replace("k(", "j(")})
    (tmp_path / "names").write_text("k j")
    by_name = project.run("a.cu", "--format", "csv", "--sort", "kernel").stdout.splitlines()
    assert [line.split(",")[2:4] for line in by_name[1:]] == [
        ["j", "sm_90"],
        ["j", "sm_121"],
        ["k", "sm_90"],
        ["k", "sm_121"],
    ]
    by_occupancy = project.run("a.cu", "--format", "csv", "--sort", "occupancy").stdout
    assert by_occupancy.splitlines()[1].startswith("a.cu,1,k,sm_90")  # j's block size is unknown


def test_a_file_that_does_not_compile_is_said_and_the_others_are_shown(project: Project) -> None:
    write_files(project.root, {"broken.cu": KERNEL})
    done = project.run(".", "--format", "json")
    assert done.returncode == 1
    assert "cudalint: error: broken.cu does not compile for sm_121: no such thing\n" in done.stderr
    document = msgspec.json.decode(done.stdout)
    assert [row["arch"] for row in document["rows"]] == ["sm_90", "sm_121"]
    assert [failure["path"] for failure in document["failures"]] == ["broken.cu", "broken.cu"]


def test_the_default_arch_has_a_name_where_there_are_no_targets(project: Project) -> None:
    write_files(project.root, {"cudalint.toml": "", "broken.cu": KERNEL})
    done = project.run("broken.cu")
    assert (done.returncode, done.stderr) == (
        1,
        "cudalint: error: broken.cu does not compile for the default arch: no such thing\n",
    )
    page = project.run("broken.cu", "--format", "html").stdout
    assert "broken.cu on the default arch: no such thing" in page


def test_settings_tell_the_block_size(project: Project) -> None:
    more = 'targets = ["sm_90"]\ncompile = "never"\n[launches.k]\nthreads = 64\n'
    write_files(project.root, {"cudalint.toml": f"{more}dynamic-shared = 8192\n"})
    (row,) = msgspec.json.decode(project.run("--format", "json").stdout)["rows"]
    assert (row["threads"], row["threads_from"], row["dynamic_shared"]) == (64, "settings", 8192)
    assert row["limiters"] == ["shared memory"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--sort", "speed"], "'speed' is not one of"),
        (["--format", "xml"], "'xml' is not one of"),
        (["absent.cu"], "no such file or folder: 'absent.cu'"),
        (["a.cu", "--output-file", "no/such/folder/x"], "cannot write no/such/folder/x: "),
        (["a.cu", "--config", "absent.toml"], "cannot read absent.toml: "),
        (["a.cu", "-j", "none"], "neither a positive number nor 'auto'"),
    ],
)
def test_an_error_of_the_user_is_one_line(
    project: Project, arguments: list[str], complaint: str
) -> None:
    done = project.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cudalint: error: ")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_usable_nvcc_is_an_error(project: Project) -> None:
    (project.bin / "gcc").unlink()
    done = project.run(".", path=str(project.bin))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "cudalint: error: resources are what nvcc says, and there is no usable one:"
        " nvcc needs a host compiler, and PATH has no gcc\n"
    )


def test_the_help_teaches(project: Project) -> None:
    done = project.run("--help")
    assert done.returncode == 0
    for word in (
        "--format",
        "--sort",
        "occupancy",
        "Examples:",
        "Exit codes:",
        "docs/resources.md",
    ):
        assert word in done.stdout
