"""A code path as an SVG: an indented list, one row per step, no layout engine.

Text is selectable and links to the step's entry; colours come from classes, so that dark mode and
print work.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from markupsafe import Markup, escape

from indexer.knowledge.addresses import slug
from indexer.knowledge.schema import CodePath, Step

_ROW, _INDENT, _LEFT, _TOP = 28, 18, 14, 10
_CHARACTER = 7.3
_PLACE_CHARACTER = 6.7
_PASS_THROUGH_RUN = 3
_DASHED = {"selected", "declared", "guessed"}


class _Row(msgspec.Struct):
    """A drawn row: a step, or a run of ``folded`` steps that only pass the call on."""

    step: Step
    depth: int
    folded: int = 0


def draw(path: CodePath) -> Markup:
    """Return the drawing of a path, empty where it has no steps."""
    rows = list(_rows(path.steps))
    if not rows:
        return Markup("")
    levels = {depth: place for place, depth in enumerate(sorted({row.depth for row in rows}))}
    labels = [_label(row) for row in rows]
    name_end = max(
        _x(levels[row.depth]) + 22 + _CHARACTER * len(label) for row, label in zip(rows, labels, strict=True)
    )
    places = [_place(row) for row in rows]
    width = round(name_end + 40 + _PLACE_CHARACTER * max(map(len, places)))
    height = _TOP * 2 + _ROW * len(rows)
    parts = [
        f'<svg class="path-drawing" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="group" aria-label="{escape(path.title)}: {len(path.steps)} steps">'
    ]
    parts += _elbows(rows, levels)
    for place, (row, label, cited) in enumerate(zip(rows, labels, places, strict=True)):
        x, y = _x(levels[row.depth]), _TOP + _ROW * place + _ROW // 2
        parts.append(_node(row, x, y, label, cited, width))
    return Markup("".join([*parts, "</svg>"]))


def _rows(steps: list[Step]) -> Iterator[_Row]:
    """Yield steps, long runs of steps without a way-point (each only calling the next) as one row."""
    run: list[Step] = []

    def flush() -> Iterator[_Row]:
        if len(run) >= _PASS_THROUGH_RUN:
            yield _Row(run[0], run[0].depth, len(run))
        else:
            yield from (_Row(step, step.depth) for step in run)
        run.clear()

    for step in steps:
        if step.waypoint is None and not step.state and (not run or step.parent == run[-1].id):
            run.append(step)
            continue
        yield from flush()
        if step.waypoint is None and not step.state:
            run.append(step)
        else:
            yield _Row(step, step.depth)
    yield from flush()


def _elbows(rows: list[_Row], levels: dict[int, int]) -> Iterator[str]:
    for place, row in enumerate(rows):
        above = next((up for up in range(place - 1, -1, -1) if rows[up].depth < row.depth), None)
        if above is None:
            continue
        x, y = _x(levels[rows[above].depth]) + 6, _TOP + _ROW * above + _ROW // 2 + 6
        to_x, to_y = _x(levels[row.depth]), _TOP + _ROW * place + _ROW // 2
        look = "edge loose" if row.step.certainty in _DASHED else "edge"
        yield f'<path class="{look}" d="M{x} {y}V{to_y}H{to_x}"/>'


def _node(row: _Row, x: int, y: int, label: str, cited: str, width: int) -> str:
    step = row.step
    look = "fold" if row.folded else ("way" if step.waypoint else "via")
    state = f'<circle class="state" cx="{x + 6}" cy="{y}" r="2.5"/>' if step.state and not row.folded else ""
    return (
        f'<a href="#{escape(anchor(step))}"><g class="node {look}">'
        f'<rect class="row" x="0" y="{y - _ROW // 2}" width="{width}" height="{_ROW}"/>'
        f'<rect class="mark" x="{x}" y="{y - 6}" width="12" height="12" rx="3"/>{state}'
        f'<text class="name" x="{x + 20}" y="{y + 4}">{escape(label)}</text>'
        f'<text class="place" x="{width - 10}" y="{y + 4}" text-anchor="end">{escape(cited)}</text>'
        "</g></a>"
    )


def _label(row: _Row) -> str:
    return f"… {row.folded} steps" if row.folded else row.step.function


def _place(row: _Row) -> str:
    at = row.step.at
    return "" if row.folded else f"{at.path.rpartition('/')[2]}:{at.line}"


def _x(level: int) -> int:
    return _LEFT + _INDENT * level


def anchor(step: Step) -> str:
    """Return the fragment of a step's entry on its page."""
    return f"step-{slug(step.id)}"
