"""The sample plugin of tests/fixtures/plugin, installed by pip into an environment of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from conftest import write_files

SAMPLE = Path(__file__).parents[1] / "fixtures" / "plugin"
SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
KERNEL = SPDX + (
    'extern "C" __global__ void __launch_bounds__(64) halve(float* x) {\n'
    "  x[threadIdx.x] *= 0.5;\n}\n"
)


class Environment:
    """A virtual environment that sees the packages of this one, and has its own beside them."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=True)
        self.folder = folder
        self._python = str(folder / "bin" / "python")
        (self.packages,) = folder.glob("lib/python*/site-packages")
        seen = "\n".join(path for path in sys.path if path.endswith(("-packages", "/src")))
        (self.packages / "surrounding.pth").write_text(seen + "\n")

    def python(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        command = [self._python, *arguments]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)

    def install(self, project: Path) -> None:
        """As `pip install` does it, without the network."""
        offline = ("--no-deps", "--no-build-isolation", "--no-index")
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *offline)
        done = self.python(*pip, str(project), cwd=self.folder)
        assert done.returncode == 0, done.stderr

    def cudalint(self, root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "cudalint", *arguments, cwd=root)

    def commands(self, root: Path, *commands: str) -> list[str]:
        """What several commands print, run by one process after the other."""
        done = self.python("-c", _COMMANDS, *commands, cwd=root)
        assert done.stderr == ""
        return done.stdout.split("\0\n")[:-1]


_COMMANDS = """\
import sys
from cudalint.cli.group import cli
for command in sys.argv[1:]:
    cli.main(command.split(), standalone_mode=False)
    print(end="\\0\\n")
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("environment") / "venv")
    # setuptools builds beside the sources.
    copy = tmp_path_factory.mktemp("sample") / "house-rules"
    shutil.copytree(SAMPLE, copy)
    made.install(copy)
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path, {"a.cu": KERNEL, "cudalint.toml": 'plugins = ["house"]\n'})
    return tmp_path


LINT = ("--compile", "never", "--output-format", "concise")


def test_its_rules_are_rules(environment: Environment, root: Path) -> None:
    done = environment.cudalint(root, *LINT, "a.cu")
    assert done.stdout.splitlines()[:2] == [
        "a.cu:2:50: note HO002 The name of kernel 'halve' does not fit 'house_*'. [kernel-name]",
        "a.cu:3:21: warning HO001 '0.5' is a double; write '0.5f', or 'double' where that is "
        "meant. [double-literal]",
    ]
    assert (done.stderr, done.returncode) == ("", 1)
    settings = 'plugins = ["house"]\n[rules.double-literal]\nallow = ["0.5"]\n'
    write_files(root, {"cudalint.toml": settings})
    assert "HO001" not in environment.cudalint(root, *LINT, "a.cu").stdout
    write_files(root, {"cudalint.toml": settings.replace("0.5", "1.0")})
    mended = environment.cudalint(
        root, *LINT, "--select", "HO001", "--fix", "--unsafe-fixes", "a.cu"
    )
    assert mended.returncode == 0, mended.stdout
    assert "  x[threadIdx.x] *= 0.5f;\n" in (root / "a.cu").read_text()
    wrong = settings.replace("allow", "alow")
    write_files(root, {"cudalint.toml": wrong})
    done = environment.cudalint(root, *LINT, "a.cu")
    assert done.stderr == (
        "cudalint: error: cudalint.toml:3:1: unknown key 'alow'; did you mean 'allow'?\n"
    )


def test_no_run_loads_it_unless_it_is_named(environment: Environment, root: Path) -> None:
    unnamed = environment.cudalint(root, *LINT, "--isolated", "a.cu")
    assert (unnamed.returncode, unnamed.stderr) == (0, "")
    hint = environment.cudalint(root, *LINT, "--isolated", "--select", "HO", "a.cu")
    assert hint.stderr.endswith("on the command line (installed and not in 'plugins': house)\n")
    named = environment.cudalint(
        root, "--isolated", "--plugin", "house", "--select", "HO", "--output", "sarif", "a.cu"
    )
    tool = json.loads(named.stdout)["runs"][0]["tool"]
    (extension,) = tool["extensions"]
    assert (extension["name"], extension["version"]) == ("house-rules", "1.2.0")
    assert [rule["id"] for rule in extension["rules"]] == ["HO001", "HO002"]
    assert extension["rules"][0]["helpUri"] == "https://example.org/house-rules#ho001"


def test_the_commands_know_it(environment: Environment, root: Path) -> None:
    commands = ("rules", "rule double-literal", "doctor", "config --schema", "config")
    rules, page, doctor, schema, config = environment.commands(root, *commands)
    assert "HO001  double-literal" in rules
    assert "warning, unsafe fix, plugin house\n       A literal without a suffix" in rules
    assert page.startswith("HO001 double-literal\n\nA literal without a suffix makes")
    assert "plugin    house (house-rules 1.2.0): HO001, HO002\n" in doctor
    assert "allow" in json.loads(schema)["properties"]["rules"]["properties"]["HO001"]["properties"]
    assert 'plugins = ["house"]' in " ".join(config.split())


def test_its_own_tests_pass(environment: Environment) -> None:
    """What docs/plugins.md tells plugin authors to write, run where the plugin is installed."""
    tests = (str(SAMPLE / "tests"), "--rootdir", str(SAMPLE), "-p", "no:cacheprovider")
    done = environment.python("-B", "-m", "pytest", "-q", "-n0", *tests, cwd=environment.folder)
    assert done.returncode == 0, done.stdout


def test_a_new_version_is_seen_though_the_cache_is_warm(
    environment: Environment, root: Path, tmp_path: Path
) -> None:
    """What is kept is what files say, not what rules find: no version can make it stale."""
    first = environment.cudalint(root, *LINT, "--cache-dir", str(tmp_path / "cache"), "a.cu")
    module = environment.packages / "house_rules" / "ho002_kernel_name.py"
    before = module.read_text()
    try:
        module.write_text(before.replace('"house_*"', '"ha*"'))
        second = environment.cudalint(root, *LINT, "--cache-dir", str(tmp_path / "cache"), "a.cu")
    finally:
        module.write_text(before)
    assert "HO002" in first.stdout
    assert "HO001" in second.stdout
    assert "HO002" not in second.stdout


def test_nothing_of_the_linted_tree_is_taken_for_a_plugin_or_a_library(
    environment: Environment, root: Path
) -> None:
    evil = "open('ran', 'w').close()\n"
    write_files(
        root,
        {
            "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
            "evil-1.0.dist-info/entry_points.txt": "[cudalint.rules]\nevil = evil\n",
            "evil.py": evil,
            "click.py": evil,
            "house_rules.py": evil,
            "cudalint.toml": 'plugins = ["evil", "house"]\n',
        },
    )
    done = environment.cudalint(root, *LINT, "a.cu")
    said = "cudalint: error: plugin 'evil' is not installed (installed: house)\n"
    assert (done.stderr, done.returncode) == (said, 2)
    assert "HO001" in done.stdout
    assert not (root / "ran").exists()
