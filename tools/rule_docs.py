"""Writes docs/rules.md: every rule's page, from its docstring. `--check` only compares.

python tools/rule_docs.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from cudalint.registry import all_rules
from cudalint.rulepage import anchor, markdown

FILE = Path(__file__).parents[1] / "docs" / "rules.md"
GROUPS = {
    "CU0": "The tool itself",
    "CU1": "Source file and entry point",
    "CU2": "Device code",
    "CU3": "Launch path (host)",
    "CU4": "Kernel tree",
    "CU5": "Compiled resources (nvcc)",
}


def text() -> str:
    """The whole document."""
    rules = all_rules()
    parts = [
        "# Rules\n\nWritten by `make docs` from the rules themselves; `cudalint rule CODE` prints"
        " one page.\n"
    ]
    for prefix, title in GROUPS.items():
        rows = ["| code | name | level | fix |", "|---|---|---|---|"]
        rows += [
            f"| [{rule.code}](#{anchor(rule)}) | {rule.name} | {rule.level.value} "
            f"| {rule.fix.value} |"
            for rule in rules
            if rule.code.startswith(prefix)
        ]
        parts.append(f"**{prefix}: {title}**\n\n" + "\n".join(rows) + "\n")
    parts += [markdown(rule, depth=2) for rule in rules]
    return "\n".join(parts)


def main() -> int:
    """Write or compare. Returns the exit code."""
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text())
        return 0
    fresh = FILE.is_file() and FILE.read_text() == text()
    if not fresh:
        print("docs/rules.md is not what the rules say: run `make docs`", file=sys.stderr)
    return int(not fresh)


if __name__ == "__main__":
    raise SystemExit(main())
