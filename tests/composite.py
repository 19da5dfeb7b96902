"""Runs a composite GitHub Action as a runner would: its shell steps in bash, in their order.

Only the expressions that action.yml of this repository has are understood; any
other one fails. What a step `uses` is not run: the steps' `with` is kept.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_TERM = re.compile(r"(\S+) (==|!=) '([^']*)'")


@dataclass
class Outcome:
    """How a run of the action ended.

    `code` is the exit code of the first step that failed, else 0; `printed` what the
    steps wrote to stdout and stderr, `used` the `with` of each other action by name.
    """

    code: int = 0
    printed: str = ""
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)


def run_action(
    action: Path,
    inputs: Mapping[str, str],
    workspace: Path,
    temp: Path,
    environment: Mapping[str, str] | None = None,
    *,
    without: tuple[str, ...] = (),
) -> Outcome:
    """Run the steps of `action` (the folder of an action.yml) in `workspace`.

    `temp` is the runner's folder for temporary files; steps named in `without` are left
    out. An input that the action does not have raises AssertionError.
    """
    described = yaml.safe_load((action / "action.yml").read_text(encoding="utf-8"))
    assert set(inputs) <= set(described["inputs"]), set(inputs) - set(described["inputs"])
    known = {f"inputs.{k}": v.get("default", "") for k, v in described["inputs"].items()}
    known |= {f"inputs.{name}": value for name, value in inputs.items()}
    outcome = Outcome()
    for step in described["runs"]["steps"]:
        if step["name"] in without or not _wanted(step.get("if", ""), known):
            continue
        if "uses" in step:
            outcome.used[step["uses"]] = {k: _filled(v, known) for k, v in step["with"].items()}
            continue
        done, outputs = _run_step(step, known, action, workspace, temp, environment or os.environ)
        outcome.printed += done.stdout
        known |= {f"steps.{step.get('id')}.outputs.{name}": v for name, v in outputs.items()}
        if done.returncode:
            outcome.code = done.returncode
            break
    given = described["outputs"].items()
    outcome.outputs = {name: _filled(output["value"], known) for name, output in given}
    return outcome


def _run_step(
    step: dict[str, Any],
    known: Mapping[str, str],
    action: Path,
    workspace: Path,
    temp: Path,
    environment: Mapping[str, str],
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """One shell step, and what it wrote to GITHUB_OUTPUT."""
    assert step["shell"] == "bash"
    script, output = temp / "step.sh", temp / "output"
    script.write_text(step["run"], encoding="utf-8")
    output.write_text("", encoding="utf-8")
    env = {
        **environment,
        "GITHUB_ACTION_PATH": str(action),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_WORKSPACE": str(workspace),
        "RUNNER_TEMP": str(temp),
        **{name: _filled(value, known) for name, value in step.get("env", {}).items()},
    }
    # What GitHub's runner makes of `shell: bash`.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    done = subprocess.run(
        command,
        cwd=workspace,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    lines = output.read_text(encoding="utf-8").splitlines()
    return done, dict(line.split("=", 1) for line in lines)


def _wanted(condition: str, known: Mapping[str, str]) -> bool:
    """What an `if` says; it may hold comparisons with texts, joined by `&&`."""
    for term in filter(None, condition.split(" && ")):
        compared = _TERM.fullmatch(term)
        assert compared, f"an expression that is not known here: {term}"
        if (_value(compared[1], known) == compared[3]) != (compared[2] == "=="):
            return False
    return True


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: _value(match[1], known), text)


def _value(name: str, known: Mapping[str, str]) -> str:
    """A context's value; an output that no step wrote is empty, as on GitHub."""
    assert re.fullmatch(r"inputs\.[\w-]+|steps\.[\w-]+\.outputs\.[\w-]+", name), name
    return known[name] if name.startswith("inputs.") else known.get(name, "")
