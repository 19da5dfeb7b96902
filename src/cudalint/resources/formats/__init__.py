"""The formats of a resource table: each is a module with a function of its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.reporters.shownplaces import ShownPlaces
    from cudalint.resources.measure import Measured
    from cudalint.resources.order import Group

FORMATS = ("text", "json", "csv", "markdown", "html")


def written(name: str, groups: Sequence[Group], measured: Measured, places: ShownPlaces) -> str:
    """The groups in the format `name`, in their order. `places` shows paths to people."""
    if name == "json":
        from cudalint.resources.formats.json import json

        return json(groups, measured.table.failures)
    if name == "csv":
        from cudalint.resources.formats.csv import csv

        return csv(groups)
    if name == "markdown":
        from cudalint.resources.formats.markdown import markdown

        return markdown(groups, places)
    if name == "html":
        from cudalint.resources.formats.html import html

        return html(groups, measured, places)
    from cudalint.resources.formats.text import text

    return text(groups, places)
