"""That a compilation database can't be used."""

from __future__ import annotations


class DatabaseError(Exception):
    """The text is one line: the place, and what is wrong."""
