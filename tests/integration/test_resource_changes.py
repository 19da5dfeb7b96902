"""`cudalint resources --write-baseline` and `--diff`, with a stand-in for nvcc and a real git."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import write_files
from cudalint.git import GitError, git
from cudalint.resources.revision import export_commit
from forked import run_cudalint_text

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")

# It says of each kernel what a comment in the source says: // registers, spilled bytes
NVCC = """\
#!/bin/sh
case "$1" in
  --version) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit;;
  --list-gpu-code) echo sm_121; exit;;
esac
for source; do :; done
while [ $# -gt 1 ]; do
  case "$1" in -o) output=$2;; -MF) listing=$2;; esac
  shift
done
grep -q BROKEN "$source" && exit 1
sed -n 's/.* \\(\\w*\\)(float\\* x).*# \\([0-9]*\\) \\([0-9]*\\)$/\\1 \\2 \\3/p' "$source" |
while read -r name registers spilled; do
  echo "ptxas info    : Compiling entry function '$name' for 'sm_121'"
  echo "ptxas info    : Function properties for $name"
  echo "    $spilled bytes stack frame, $spilled bytes spill stores, $spilled bytes spill loads"
  echo "ptxas info    : Used $registers registers, used 0 barriers"
done
echo "$output : $source" > "$listing"
: > "$output"
"""


def kernel(name: str, registers: int, spilled: int = 0) -> str:
    head = f'extern "C" __global__ void __launch_bounds__(256) {name}(float* x)'
    return f"{head} {{ *x = 1; }}  // # {registers} {spilled}\n"


class Tree:
    """A repository whose project lies in `k`."""

    def __init__(self, folder: Path) -> None:
        self.top = folder / "repository"
        self.root = self.top / "k"
        self.bin = folder / "bin"
        for name, text in (("nvcc", NVCC), ("gcc", "#!/bin/sh\nexit 1\n")):
            write_files(self.bin, {name: text})
            (self.bin / name).chmod(0o755)
        settings = 'targets = ["sm_121"]\n[launches."*"]\nthreads = 256\n'
        self.write({"cudalint.toml": settings, "a.cu": kernel("f", 40) + kernel("g", 64, 16)})
        self.git("init", "-q")

    def write(self, files: dict[str, str]) -> None:
        write_files(self.root, files)

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=n@example.org")
        subprocess.run(["git", *who, *arguments], cwd=self.top, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "one")

    def start(self, *arguments: str, folder: str = "k") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        command = ["resources", "--no-cache", *arguments]
        return run_cudalint_text(command, cwd=self.top / folder, env=environment)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_baseline_is_written_and_says_what_changed_in_it(tree: Tree) -> None:
    done = tree.start("--write-baseline", "r.toml")
    assert (done.returncode, done.stdout) == (0, "r.toml: 2 lines, 2 new\n"), done.stderr
    first = (tree.root / "r.toml").read_text()
    assert first.count("{ path = ") == 2
    done = tree.start("--write-baseline", "r.toml")
    assert done.stdout == "r.toml: 2 lines, nothing changed\n"
    assert (tree.root / "r.toml").read_text() == first
    tree.write({"a.cu": kernel("f", 41) + kernel("h", 8), "b.cu": kernel("b", 9)})
    done = tree.start("--write-baseline", "r.toml")
    assert done.stdout == "r.toml: 3 lines, 1 changed, 2 new, 1 gone\n"
    # What was not measured now stays.
    tree.write({"b.cu": kernel("b", 10)})
    done = tree.start("a.cu", "--write-baseline", "r.toml")
    assert done.stdout == "r.toml: 3 lines, nothing changed\n"
    other = (tree.root / "r.toml").read_text().replace("13.0.88", "12.9.86")
    tree.write({"r.toml": other})
    done = tree.start("--write-baseline", "r.toml", "--keep-other-nvcc")
    assert done.stdout == "r.toml: 6 lines, 3 new\n"
    done = tree.start("--write-baseline", "r.toml")
    assert done.stdout == "r.toml: 3 lines, 3 gone\n"


def test_nothing_is_recorded_when_a_compile_fails(tree: Tree) -> None:
    tree.start("--write-baseline", "r.toml")
    before = (tree.root / "r.toml").read_text()
    tree.write({"a.cu": "// BROKEN\n"})
    done = tree.start("--write-baseline", "r.toml")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].endswith("r.toml is left as it is: not everything compiles")
    assert (tree.root / "r.toml").read_text() == before


def changed(tree: Tree) -> None:
    tree.commit()
    tree.write(
        {
            "a.cu": kernel("f", 80) + kernel("g", 64),
            "b.cu": kernel("fresh", 9),
            "c.cu": kernel("spilling", 30),
        }
    )
    tree.git("add", "-A")
    tree.write({"c.cu": kernel("spilling", 30, 8)})


def test_what_changed_since_a_commit_the_worst_first(tree: Tree) -> None:
    tree.write({"c.cu": kernel("spilling", 30), "old.cu": kernel("old", 12, 4)})
    changed(tree)
    (tree.root / "old.cu").unlink()
    state = subprocess.run(["git", "status", "--porcelain"], cwd=tree.top, capture_output=True)
    done = tree.start("--diff", "HEAD")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "worse   spilling (k/c.cu, sm_121): spill stores 0 to 8 bytes, spill loads 0 to 8 bytes,"
        " stack 0 to 8 bytes",
        "worse   f (k/a.cu, sm_121): warps 48 to 24 on an SM, registers 40 to 80",
        "better  g (k/a.cu, sm_121): spill stores 16 to 0 bytes, spill loads 16 to 0 bytes,"
        " stack 16 to 0 bytes",
        "new     fresh (k/b.cu, sm_121): 9 registers, stack 0 bytes",
        "gone    old (k/old.cu, sm_121): 12 registers, stack 4 bytes, spills",
        "2 worse, 1 better, 1 new, 1 gone since HEAD",
    ]
    assert done.returncode == 1
    again = subprocess.run(["git", "status", "--porcelain"], cwd=tree.top, capture_output=True)
    assert again.stdout == state.stdout
    done = tree.start("--diff", "HEAD", "k/a.cu", folder=".")
    assert done.stdout.splitlines()[-1] == "1 worse, 1 better since HEAD"
    done = tree.start("--diff", "HEAD", "--format", "json")
    document = json.loads(done.stdout)
    assert [(one["kernel"], one["became"]) for one in document["changed"]] == [
        *(("spilling", "worse"), ("f", "worse"), ("g", "better")),
    ]
    assert document["changed"][1]["changes"] == [
        {"what": "warps", "before": 48, "after": 24},
        {"what": "registers", "before": 40, "after": 80},
    ]
    done = tree.start("--diff", "HEAD", "--format", "markdown", "--output-file", "out.md")
    assert done.stdout == ""
    lines = (tree.root / "out.md").read_text().splitlines()
    assert lines[2].startswith("| worse | spilling | k/c.cu | sm\\_121 | spill stores 0 to 8")


def test_nothing_changed(tree: Tree) -> None:
    tree.commit()
    done = tree.start("--diff", "HEAD")
    assert (done.returncode, done.stdout) == (0, "2 unchanged since HEAD\n")


def test_files_that_did_not_compile_are_said(tree: Tree) -> None:
    tree.write({"b.cu": "// BROKEN\n"})
    tree.commit()
    tree.write({"b.cu": kernel("b", 9)})
    done = tree.start("--diff", "HEAD")
    assert done.returncode == 0
    assert done.stderr.startswith("cudalint: warning: k/b.cu of 'HEAD' does not compile for sm_121")
    assert done.stdout.splitlines()[0].startswith("new     b ")


def test_the_default_arch_of_a_commit_has_a_name(tree: Tree) -> None:
    tree.write({"cudalint.toml": "", "b.cu": "// BROKEN\n"})
    tree.commit()
    done = tree.start("--diff", "HEAD")
    assert "k/b.cu of 'HEAD' does not compile for the default arch: " in done.stderr


@pytest.mark.parametrize("revision", ["none", "HEAD~7"])
def test_the_commit_is_looked_for_before_anything_is_compiled(tree: Tree, revision: str) -> None:
    tree.commit()
    ran = tree.bin / "ran"
    (tree.bin / "nvcc").write_text(NVCC.replace("#!/bin/sh", f"#!/bin/sh\n: > '{ran}'"))
    done = tree.start("--diff", revision)
    assert done.returncode == 2
    assert done.stderr == f"cudalint: error: --diff: git knows no commit '{revision}'\n"
    assert not ran.exists()
    assert tree.start("--diff", "HEAD").returncode == 0
    assert ran.exists()


def test_nothing_of_the_repository_runs(tree: Tree, tmp_path: Path) -> None:
    """Filters, text conversions, hooks and monitors are the tree's own programs."""
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho $0 $* >> {ran}\ncat\n")
    script.chmod(0o755)
    tree.write({".gitattributes": "*.cu filter=f diff=d export-subst\n*.toml export-ignore\n"})
    tree.commit()
    for name, value in (
        *(("filter.f.smudge", script), ("filter.f.clean", script), ("filter.f.process", script)),
        *(("diff.d.textconv", script), ("diff.d.command", script), ("core.fsmonitor", script)),
        *(("core.pager", script), ("core.sshCommand", script), ("core.hooksPath", tmp_path)),
        ("core.gitProxy", script),
    ):
        tree.git("config", name, str(value))
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        shutil.copy(script, tmp_path / hook)
    ran.unlink(missing_ok=True)
    done = tree.start("--diff", "HEAD")
    assert (done.returncode, done.stdout) == (0, "2 unchanged since HEAD\n"), done.stderr
    assert not ran.exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--diff", "none"), "--diff: git knows no commit 'none'"),
        (("--diff", "--output=x"), "--diff: git knows no commit '--output=x'"),
        (("--diff", "HEAD", "/"), "--diff: '/' is not in the repository"),
        (("--diff", "HEAD", "--format", "html"), "--diff is written as one of text, markdown"),
        (("--diff", "HEAD", "--write-baseline", "x"), "--write-baseline and --diff are two"),
        (("--keep-other-nvcc",), "--keep-other-nvcc goes with --write-baseline only"),
        (("--write-baseline", "no/r.toml"), "cannot write no/r.toml: No such file or directory"),
        (("--write-baseline", "a.cu"), "a.cu:1:"),
    ],
)
def test_errors_are_one_line(tree: Tree, arguments: tuple[str, ...], expected: str) -> None:
    tree.commit()
    if "/" in arguments:
        arguments = ("--diff", "HEAD", str(tree.bin))
        write_files(tree.bin, {"x.cu": kernel("x", 1)})
        expected = f"--diff: '{tree.bin}' is not in the repository"
    done = tree.start(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"cudalint: error: {expected}")
    assert done.stderr.count("\n") == 1


def test_outside_a_repository(tree: Tree) -> None:
    shutil.rmtree(tree.top / ".git")
    done = tree.start("--diff", "HEAD")
    assert done.returncode == 2
    assert done.stderr.startswith("cudalint: error: --diff: git says: not a git repository")


def test_links_that_lead_out_and_large_files_stay_behind(tree: Tree, tmp_path: Path) -> None:
    (tree.root / "out.cuh").symlink_to("/etc/hostname")
    (tree.root / "up.cuh").symlink_to("../../secret")
    (tree.root / "in.cuh").symlink_to("a.cu")
    tree.write({"large.cu": "x" * 5000})
    tree.commit()
    into = tmp_path / "into"
    into.mkdir()
    export_commit(tree.top, "HEAD", into, largest=4000)
    names = sorted(path.name for path in (into / "k").iterdir())
    assert names == ["a.cu", "cudalint.toml", "in.cuh"]
    assert (into / "k" / "in.cuh").read_bytes() == (tree.root / "a.cu").read_bytes()


def test_a_missing_object_is_said(tree: Tree, tmp_path: Path) -> None:
    tree.commit()
    id_ = git(tree.top, "rev-parse", "HEAD:k/a.cu").decode().strip()
    (tree.top / ".git" / "objects" / id_[:2] / id_[2:]).unlink()
    with pytest.raises(
        GitError, match=r"^git lacks the object [0-9a-f]{40}: is the clone a partial one\?$"
    ):
        export_commit(tree.top, "HEAD", tmp_path, largest=4000)
