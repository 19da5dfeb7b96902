"""Fixtures of the GPU tests."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .driver import Engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine, which builds every kernel once. Skips where there is no GPU to run on."""
    driver = importlib.import_module(".driver", __package__)
    created: Engine = driver.Engine()
    return created


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what runs on a GPU."""
    for item in items:
        if "engine" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.gpu)
