"""The settings in force for a run, as plain data.

Finding and validating cudalint.toml and pyproject.toml is
`cudalint.settings.load`; which rules they select is `cudalint.settings.select`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

DEFAULT_EXCLUDE = (
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "node_modules",
    "site-packages",
    "__pycache__",
    ".cudalint_cache",
    "_deps",
    "build",
    "dist",
    "CMakeFiles",
)
"""What `exclude` is when no settings say otherwise; `extend-exclude` adds to it."""

DEFAULT_COLD_PATHS = (
    "**/tests/**",
    "**/test/**",
    "**/*_test.*",
    "**/test_*",
    "**/bench*/**",
    "**/*bench*",
    "**/*perf*",
    "**/examples/**",
)
"""What `cold-paths` is when no settings say otherwise."""

DEFAULT_COLD_FUNCTIONS = (
    "main",
    *("init", "setup", "create", "destroy", "teardown", "shutdown", "load", "upload"),
    *("warmup", "benchmark", "profile", "test", "initialize", "initialise"),
)
"""What `cold-functions` is when no settings say otherwise."""

ARCH_PATTERN = "^sm_[0-9]{2,3}[af]?$"

Arch = Annotated[str, msgspec.Meta(pattern=ARCH_PATTERN)]
"""A machine arch as nvcc spells it: what it compiles for, and no other argument of its."""

MOST_BYTES = 2**31 - 1
"""The most that a number of bytes may be: offsets in a syntax tree have 32 bits."""
LONGEST_TIMEOUT = 7 * 24 * 60 * 60.0
"""Seconds, a week: what waits takes no number however large."""


class RuleSettings(msgspec.Struct, frozen=True):
    """`[rules.<CODE or name>]`: `level` replaces the rule's own level.

    Every other key of the table is one of the rule's options, in `options` as
    it stands there; `cudalint.settings.check` turns it into `Rule.options`.
    """

    level: Literal["error", "warning", "note"] | None = None
    options: dict[str, Any] = {}


class LaunchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """`[launches."PATTERN"]`: how the kernels of a name are launched.

    `threads` of a block, and bytes of dynamic shared memory; None says nothing.
    """

    threads: Annotated[int, msgspec.Meta(ge=1, le=1024)] | None = None
    dynamic_shared: Annotated[int, msgspec.Meta(ge=0, le=MOST_BYTES)] | None = None


class Settings(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """Everything that may stand in cudalint.toml or `[tool.cudalint]`.

    `select`, `ignore`, `extend_select`, and the values of `per_file_ignores`
    hold codes, prefixes ("CU3"), names or "ALL". `exclude`, `extend_exclude`,
    `launcher_globs`, `cold_paths` and the keys of `per_file_ignores` are
    gitignore patterns, relative to the root. `targets` are archs ("sm_121"),
    which beat the tree's. The keys of `launches` are patterns of kernel names, of
    which the first that fits counts. `plugins` are names of installed entry points of the
    group `cudalint.rules`; none is loaded unless named. `max_file_size` is in
    bytes; `compile_timeout` in seconds. `compile_commands` is "auto", "never", or
    the path of a compilation database or its folder, relative to the root;
    `resource_baseline` is the path of a file, likewise.
    """

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    preview: bool = False
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    license: str = "MIT OR Apache-2.0"
    license_match: Literal["exact", "equivalent"] = "exact"
    targets: tuple[Arch, ...] = ()
    launcher_globs: tuple[str, ...] = ()
    launch_functions: tuple[str, ...] = ()
    launches: dict[str, LaunchSettings] = {}
    cold_paths: tuple[str, ...] = DEFAULT_COLD_PATHS
    cold_functions: tuple[str, ...] = DEFAULT_COLD_FUNCTIONS
    compile: Literal["auto", "always", "never"] = "auto"
    compile_commands: str = "auto"
    compiler_launcher: Literal["ccache", "sccache", "distcc"] | None = None
    resource_baseline: str | None = None
    compile_timeout: Annotated[float, msgspec.Meta(gt=0, le=LONGEST_TIMEOUT)] = 60.0
    max_file_size: Annotated[int, msgspec.Meta(gt=0, le=MOST_BYTES)] = 10_000_000
    plugins: tuple[str, ...] = ()
    rules: dict[str, RuleSettings] = {}
