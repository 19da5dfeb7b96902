"""The text of a rule that is yet to be written, of its tests, and of a plugin around it."""

from __future__ import annotations

import msgspec

from cudalint.plugins import GROUP


class Kind(msgspec.Struct, frozen=True):
    """One kind of rule: its base class, and what its `check` is given."""

    base: str
    argument: str
    type: str
    module: str
    path: str = ""


KINDS = {
    "file": Kind("FileRule", "file", "FileModel", "cudalint.syntax.model"),
    "project": Kind("ProjectRule", "project", "Project", "cudalint.project.project"),
    "tree": Kind("TreeRule", "tree", "KernelTree", "cudalint.tree.model", "gb10/common/example.cu"),
    "compile": Kind("CompileRule", "compiled", "CompiledFile", "cudalint.compile.model"),
}


class Stub(msgspec.Struct, frozen=True):
    """What a new rule goes by: its code, its name, and the kind of rule that it is."""

    code: str
    name: str
    kind: str = "file"

    @property
    def module(self) -> str:
        """The name of its file, without `.py`."""
        return f"{self.code}_{self.name}".lower().replace("-", "_")

    @property
    def class_name(self) -> str:
        """The name of its class, which is none of those that the file imports."""
        name = "".join(word.capitalize() for word in self.name.split("-"))
        return f"{name}Rule" if name in _imported(KINDS[self.kind]) else name


def _imported(kind: Kind) -> frozenset[str]:
    return frozenset(
        (kind.base, kind.type, "Context", "Example", "Finding", "Iterator", "Level", "NoOptions")
    )


def rule_text(stub: Stub, since: str, width: int) -> str:
    """The file of the rule, which runs and finds nothing, in lines of at most `width`.

    `since` is the version to come.
    """
    kind = KINDS[stub.kind]
    imports = sorted(
        (
            "from cudalint.context import Context",
            "from cudalint.finding import Finding, Level",
            f"from cudalint.rule import {', '.join(sorted((kind.base, 'Example', 'NoOptions')))}",
            f"from {kind.module} import {kind.type}",
        )
    )
    path = f'            path="{kind.path}",\n' if kind.path else ""
    given = f"self, {kind.argument}: {kind.type}, context: Context, options: NoOptions"
    check = f"    def check({given}) -> Iterator[Finding]:"
    if len(check) > width:
        check = f"    def check(\n        {given}\n    ) -> Iterator[Finding]:"
    return _RULE.format(
        stub=stub,
        kind=kind,
        imports="\n".join(imports),
        path=path,
        since=since,
        gap=" " * 49,
        check=check,
    )


def text_of_tests(stub: Stub, package: str) -> str:
    """The file of the rule's tests in a plugin with this package."""
    return _TEST.format(stub=stub, package=package)


def project_text(name: str, package: str) -> str:
    """The pyproject.toml of a plugin called `name`."""
    return _PROJECT.format(name=name, entry=entry_point(name, package))


def entry_point(name: str, package: str) -> str:
    """The part of a pyproject.toml by which cudalint finds the rules."""
    return f'[project.entry-points."{GROUP}"]\n{name} = "{package}"\n'


_RULE = '''\
"""{stub.code} {stub.name}."""

from __future__ import annotations

from collections.abc import Iterator

{imports}

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\\n"
_HEAD = f'{{_SPDX}}extern "C" __global__ void __launch_bounds__(64)'


class {stub.class_name}({kind.base}):
    """TODO: what is wrong, in one sentence.

    What it does
        TODO: what exactly is reported, and what is left alone.

    Why it matters
        TODO: what it costs when nobody says so.

    Example
            TODO: the least code that is reported

    How to fix
        TODO: what to write instead.

    Sources
        TODO: where that is known from.
    """

    code = "{stub.code}"
    name = "{stub.name}"
    level = Level.WARNING
    since = "{since}"
    messages = {{"found": "TODO: a sentence on '{{0}}' that can be understood alone."}}

    INVALID = (
        Example(
{path}            # Each line of `~` marks the place of one finding on the line above it.
            code=f"""\\
{{_HEAD}} bad(float* x) {{{{ *x = 1; }}}}
{gap}~~~
""",
            message="'bad'",
        ),
    )
    VALID = (Example(f"{{_HEAD}} good(float* x) {{{{ *x = 1; }}}}\\n"),)

{check}
        """Yield a finding for each TODO."""
        # For each place: yield self.report("found", span, "what '{{0}}' stands for").
        # What there is to look at is described in {kind.module}.
        yield from ()
'''

_TEST = '''\
"""{stub.code} {stub.name}: its own examples, and its form."""

from __future__ import annotations

from pathlib import Path

import pytest
from cudalint.testing import ExampleCase, check_form, examples

from {package}.{stub.module} import {stub.class_name}


@pytest.mark.parametrize("case", examples({stub.class_name}), ids=str)
def test_example(case: ExampleCase, tmp_path: Path) -> None:
    case.check(tmp_path)


def test_form() -> None:
    check_form({stub.class_name})
'''

_PROJECT = """\
[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
description = "Rules for CUDA kernels, as a plugin of cudalint."
requires-python = ">=3.10"
dependencies = ["cudalint"]

{entry}
[tool.pytest.ini_options]
pythonpath = ["src"]
testpaths = ["tests"]
"""
