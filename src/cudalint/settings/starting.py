"""The files that a project starts with: a commented cudalint.toml, and pre-commit's stanza."""

from __future__ import annotations

import textwrap
from typing import Any

import msgspec

import cudalint
from cudalint.settings.inforce import default_of
from cudalint.settings.meaning import MEANING

_WIDTH = 98

_HEAD = """\
# Settings of cudalint. Every key stands at its default, commented out;
# `cudalint config KEY` says more, `cudalint rules` lists the rules.
"""

_TABLES = """\

# How the kernels whose name fits are launched, where the sources do not say.
# [launches."*_decode"]
# threads = 256
# dynamic-shared = 0

# Rules that are not reported in the files that a pattern matches.
# [per-file-ignores]
# "tests/**" = ["CU1"]

# A rule's level, and its own options: `cudalint rule CU501` has them.
# [rules.CU501]
# level = "warning"
"""

PRE_COMMIT = f"""\
  - repo: https://github.com/cudalint/cudalint
    rev: v{cudalint.__version__}
    hooks:
      - id: cudalint            # the changed sources; cross-file rules see the tree around them
      - id: cudalint-tree       # manifests and shadows of every tree
      - id: cudalint-compile    # nvcc on the changed sources
        additional_dependencies: ["cudalint[nvcc]"]
"""
"""An entry of `repos` in .pre-commit-config.yaml."""


def starting_settings() -> str:
    """The text of a cudalint.toml that says nothing yet, and shows all that it may say."""
    parts = [_HEAD]
    for key, meaning in MEANING.items():
        default = default_of(key)
        if isinstance(default, dict):
            continue
        comment = textwrap.fill(f"{meaning[0].upper()}{meaning[1:]}.", _WIDTH - 2)
        parts.append("\n" + textwrap.indent(f"{comment}\n{_line(key, default)}\n", "# "))
    return "".join([*parts, _TABLES])


def _line(key: str, default: Any) -> str:
    """A default as TOML, which spells lists, texts, numbers and truth as JSON does."""
    if default is None:
        return f"{key} ="
    line = f"{key} = {msgspec.json.encode(default).decode()}"
    if len(line) <= _WIDTH:
        return line
    items = "".join(f"    {msgspec.json.encode(item).decode()},\n" for item in default)
    return f"{key} = [\n{items}]"
