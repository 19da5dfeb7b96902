"""Which fixes are offered at all: none that touches code that could not be read.

Where the parser lost its way, a rule may have seen half of a statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Edit, Finding

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel


def offered(findings: Iterable[Finding], models: Mapping[str, FileModel]) -> list[Finding]:
    """The findings, without the fixes that can't be made safely."""
    return [
        msgspec.structs.replace(finding, fix=None)
        if finding.fix is not None and any(_is_blind(edit, models) for edit in finding.fix.edits)
        else finding
        for finding in findings
    ]


def _is_blind(edit: Edit, models: Mapping[str, FileModel]) -> bool:
    """Whether an edit reaches into, or up to, a broken region."""
    model = models.get(edit.span.path)
    regions = (region.span for region in model.broken) if model else ()
    return any(r.start <= edit.span.end and edit.span.start <= r.end for r in regions)
