"""One HTML file for reading findings in a browser: by file, with source, filters and call chains.

It loads nothing and can be mailed or kept as a build's artefact. Without
scripts the filters are absent and everything that is no suppression is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cudalint.finding import Finding, Fix, Level, Related, Span
from cudalint.reporters.page.code import source
from cudalint.reporters.page.frame import framed, text
from cudalint.reporters.reported import Reported
from cudalint.reporters.summary import analysed, counted, found
from cudalint.run import Run, Suppressed

Shown = tuple[Finding, Suppressed | None]


def html(run: Run) -> str:
    """The page of `run`."""
    reported = Reported(run)
    by_path: dict[str, list[Shown]] = {}
    for finding, silenced in _all(run):
        by_path.setdefault(finding.span.path, []).append((finding, silenced))
    title = f"cudalint: {found(run) or 'no findings'}"
    body = [*_head(run, reported), "<main>\n"]
    for path, shown in by_path.items():
        body += _file(path, shown, reported)
    body.append("</main>\n")
    return framed(title, "".join(body), script="filter.js")


def _all(run: Run) -> list[Shown]:
    """The findings, the suppressed ones and those of the baseline, in file order."""
    shown: list[Shown] = [(finding, None) for finding in run.findings]
    shown += [(silenced.finding, silenced) for silenced in run.suppressed]
    shown += [
        (finding, Suppressed(finding, "It is in the baseline.", finding.span, in_source=False))
        for finding in run.baselined
    ]
    return sorted(shown, key=lambda pair: (pair[0].span, pair[0].code))


def _head(run: Run, reported: Reported) -> Iterator[str]:
    """The title, the counts, what the run says of itself, the filters."""
    yield f"<header>\n<h1>cudalint</h1>\n<p>{text(found(run) or 'No findings.')}</p>\n"
    yield f'<p class="soft">{text(analysed(run))}</p>\n'
    for notification in run.notifications:
        if notification.level is not Level.NOTE:
            level = notification.level.value
            yield f'<p class="run-{level}">{level}: {text(notification.message)}</p>\n'
    yield "</header>\n"
    yield from _filters(run, reported)


def _filters(run: Run, reported: Reported) -> Iterator[str]:
    yield '<form class="filters" hidden>\n'
    yield '<input type="search" name="words" aria-label="Words" placeholder="Path, rule, words">\n'
    levels = Counter(finding.level for finding in run.findings)
    for level in Level:
        yield (
            f'<label><input type="checkbox" name="level" value="{level.value}" checked> '
            f"{level.value} ({levels[level]})</label>\n"
        )
    yield '<select name="rule" aria-label="Rule"><option value="">All rules</option>'
    for code, number in sorted(Counter(one.code for one, _ in _all(run)).items()):
        name = text(f"{code} {reported.rule_name(code)} ({number})")
        yield f'<option value="{text(code)}">{name}</option>'
    yield "</select>\n"
    number = len(run.suppressed) + len(run.baselined)
    if number:
        yield f'<label><input type="checkbox" name="suppressed"> suppressed ({number})</label>\n'
    yield '<button type="reset">Reset</button>\n<output></output>\n</form>\n'


def _file(path: str, shown: Sequence[Shown], reported: Reported) -> Iterator[str]:
    """The section of one file; one with suppressed findings only is hidden at first."""
    number = sum(silenced is None for _, silenced in shown)
    hidden = "" if number else " hidden"
    count = counted(number, "finding")
    yield f'<section class="file"{hidden}>\n'
    yield f'<h2>{text(path)} <span class="count">{count}</span></h2>\n'
    for finding, silenced in shown:
        yield from _finding(finding, silenced, reported)
    yield "</section>\n"


def _finding(finding: Finding, silenced: Suppressed | None, reported: Reported) -> Iterator[str]:
    level, code = finding.level.value, text(finding.code)
    data = f'data-level="{level}" data-code="{code}" data-path="{text(finding.span.path)}"'
    hidden = " data-suppressed hidden" if silenced else ""
    yield f'<article class="finding {level}" {data}{hidden}>\n<div class="headline">\n<h3>'
    address = text(reported.address(finding.code))
    shown = f'<a href="{address}" rel="noreferrer">{code}</a>' if address else code
    name = text(reported.rule_name(finding.code))
    place = reported.range(finding.span).start
    yield f'<span class="level">{level}</span> {shown} {name} '
    yield f'<span class="place">{place.line}:{place.column}</span></h3>\n'
    yield f'<p class="message">{text(finding.message)}</p>\n</div>\n'
    if silenced:
        yield f'<p class="reason">Suppressed: {text(silenced.reason or "no reason given")}</p>\n'
    yield _source(finding.span, reported)
    for related in finding.related:
        yield f"<h4>{_labelled(related, reported)}</h4>\n"
        yield _source(related.span, reported, around=0)
    yield from _flow(finding.flow, reported)
    if finding.fix is not None:
        yield from _fix(finding.fix, reported)
    yield "</article>\n"


def _source(span: Span, reported: Reported, **more: int) -> str:
    """The source of a span, nothing for a file that was not read."""
    if not reported.data(span.path):
        return ""
    return source(reported.index(span.path), span.start, span.end, **more)


def _labelled(related: Related, reported: Reported) -> str:
    place = reported.range(related.span).start
    where = text(f"{related.span.path}:{place.line}:{place.column}")
    return f'<span class="label">{text(related.label)}</span> <span class="place">{where}</span>'


def _flow(flow: Sequence[Related], reported: Reported) -> Iterator[str]:
    """The way to the fault, folded."""
    if not flow:
        return
    steps = counted(len(flow), "step")
    yield f'<details class="flow"><summary>Call chain: {steps}</summary>\n<ol>\n'
    for step in flow:
        code = _source(step.span, reported, around=0)
        yield f"<li>{_labelled(step, reported)}\n{code}</li>\n"
    yield "</ol></details>\n"


def _fix(fix: Fix, reported: Reported) -> Iterator[str]:
    """The fix, folded: what goes and what comes."""
    kind = "Fix" if fix.safe else "Unsafe fix"
    yield f'<details class="fix"><summary>{kind}: {text(fix.title)}</summary>\n'
    for edit in fix.edits:
        span = edit.span
        old = reported.data(span.path)[span.start : span.end].decode("utf-8", "replace")
        place = reported.range(span).start
        where = text(f"{span.path}:{place.line}:{place.column}")
        gone = f"<del>{_lines(old)}</del>" if old else ""
        new = f"<ins>{_lines(edit.text)}</ins>" if edit.text else ""
        yield f'<p class="place">{where}</p>\n<pre class="edit">{gone}{new}</pre>\n'
    yield "</details>\n"


def _lines(code: str) -> str:
    """Code of several lines, whose line ends stay line ends."""
    return "\n".join(map(text, code.split("\n")))
