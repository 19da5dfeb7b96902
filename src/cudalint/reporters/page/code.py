"""Lines of source as HTML, with a span marked and some lines around it."""

from __future__ import annotations

from cudalint.lines import LineIndex
from cudalint.reporters.page.frame import text

AROUND = 2
"""How many lines before and after the span are shown."""

LONGEST = 8
"""The most lines of one span that are shown."""

WIDTH = 400
"""The most characters of a line that are shown."""


def source(index: LineIndex, start: int, end: int, *, around: int = AROUND) -> str:
    """The lines of the bytes `[start, end)` as a block, the span in `<mark>`."""
    place = index.range(start, end)
    first, last = place.start.line, place.end.line
    shown = min(last, first + LONGEST - 1)
    lines = []
    for line in range(max(1, first - around), min(shown + around, max(index.count, 1)) + 1):
        content = index.text(line)
        if first <= line <= shown:
            low = place.start.column - 1 if line == first else len(content) - len(content.lstrip())
            high = place.end.column - 1 if line == last else len(content)
            lines.append(_line(line, _marked(content, low, max(low, high)), marked=True))
        else:
            lines.append(_line(line, text(content[:WIDTH]), marked=False))
        if line == shown < last:
            lines.append('<span class="line more"><i></i><code>…</code></span>')
            break
    return f'<pre class="source">{"".join(lines)}</pre>\n'


def _line(number: int, content: str, *, marked: bool) -> str:
    kind = "line hit" if marked else "line"
    # The number is put in by the style, so that it is not copied with the code.
    return f'<span class="{kind}"><i data-line="{number}"></i><code>{content}</code></span>'


def _marked(content: str, low: int, high: int) -> str:
    begin = max(0, low - WIDTH // 4) if len(content) > WIDTH else 0
    end = min(len(content), begin + WIDTH)
    high = min(high, end)
    before, inside, after = content[begin:low], content[low:high], content[high:end]
    return (
        f"{'…' if begin else ''}{text(before)}<mark>{text(inside)}</mark>{text(after)}"
        f"{'…' if end < len(content) else ''}"
    )
