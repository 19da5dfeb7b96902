"""Which brackets enclose a place in a function's text, and where things end there."""

from __future__ import annotations

from bisect import bisect_right

from cudalint.regex import regex

_BRACKET = regex(r"[()\[\]{}]")
_OPEN = "([{"
_CLOSES = {")": "(", "]": "[", "}": "{"}
_SPACE = regex(r"\s*")
_END = regex(r"[;,()\[\]{}]")


class Brackets:
    """The bracket pairs of `code[start:end]`."""

    def __init__(self, code: str, start: int, end: int) -> None:
        self._code = code
        self._end = end
        self._close: dict[int, int] = {}
        self._parent: dict[int, int] = {}
        self._opens: list[int] = []
        stack: list[int] = []
        for match in _BRACKET.finditer(code, start, end):
            char, at = match.group(), match.start()
            if char in _OPEN:
                self._parent[at] = stack[-1] if stack else -1
                self._opens.append(at)
                stack.append(at)
            else:
                while stack and code[stack[-1]] != _CLOSES[char]:
                    self._close[stack.pop()] = at
                if stack:
                    self._close[stack.pop()] = at
        for at in stack:
            self._close[at] = end

    def close(self, open_at: int) -> int:
        """The offset of the bracket that closes the one at `open_at`."""
        return self._close[open_at]

    def around(self, at: int) -> tuple[int, int] | None:
        """The innermost bracket pair around the offset `at`."""
        place = bisect_right(self._opens, at - 1) - 1
        open_at = self._opens[place] if place >= 0 else -1
        while open_at >= 0 and self._close[open_at] < at:
            open_at = self._parent[open_at]
        return None if open_at < 0 else (open_at, self._close[open_at])

    def scope_end(self, at: int) -> int:
        """Where a variable that is declared at `at` is no longer known.

        One in the head of a loop or condition lives until that one's statement ends.
        """
        pair = self.around(at)
        while pair is not None and self._code[pair[0]] == "[":
            pair = self.around(pair[0])
        if pair is None:
            return self._end
        if self._code[pair[0]] == "{":
            return pair[1]
        return self.controlled_end(pair[1] + 1)

    def controlled_end(self, at: int) -> int:
        """The end of the statement that starts at or after `at`, nested heads included."""
        while at < self._end:
            match = _END.search(self._code, at, self._end)
            if match is None:
                return self._end
            at = match.start()
            char = match.group()
            if char == ";":
                return at + 1
            if char == "{":
                return self._close[at] + 1
            if char in ")]}":
                return at
            at = self._close[at] + 1 if char in _OPEN else at + 1
        return self._end

    def statement_end(self, at: int) -> int:
        """The `;` that ends the statement around `at`, or the bracket that closes before it."""
        return self._until(at, ";")

    def expression_end(self, at: int) -> int:
        """The `;`, `,` or closing bracket that ends the expression around `at`."""
        return self._until(at, ";,")

    def _until(self, at: int, stops: str) -> int:
        while match := _END.search(self._code, at, self._end):
            at = match.start()
            char = match.group()
            if char in stops or char in ")]}":
                return at
            at = self._close[at] + 1 if char in _OPEN else at + 1
        return self._end
