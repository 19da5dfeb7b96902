"""Fixtures for all tests: linting from inside the process, and what a machine has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from cudalint.compile.toolchain import Toolchains, find_toolchains
from cudalint.run import Run
from cudalint.runner import Request, run
from cudalint.settings.select import Overrides
from published import Published, publish

# The sample plugin has tests of its own, which run where it is installed.
collect_ignore = ["fixtures"]

# A property holds or it doesn't; how fast a busy machine draws examples is no part of it.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


def lint(root: Path, *paths: str, select: tuple[str, ...] | None = None, **more: Any) -> Run:
    """Lint `paths` below `root`, without cache or nvcc unless told otherwise."""
    overrides = Overrides(select, more.pop("ignore", ()), more.pop("extend_select", ()))
    more.setdefault("compile", "never")
    return run(Request(paths or (".",), root, overrides=overrides, **more))


def write_files(root: Path, files: dict[str, str | bytes]) -> None:
    """Write files below `root`, folders included."""
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
        file.write_bytes(data)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest test, so that no process is left alone with it at the end."""
    items.sort(key=lambda item: "test_tutorial" not in item.nodeid)


@pytest.fixture(scope="session")
def toolchains() -> Toolchains:
    """The nvcc of this machine; skips where there is none."""
    found = find_toolchains()
    if not found.found:
        pytest.skip("no nvcc: " + ("; ".join(found.problems) or "none on PATH or in the packages"))
    return found


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """The repository and the wheel that users get, made of the working tree."""
    return publish(tmp_path_factory)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDALINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
