"""The drawing of a code path."""

from __future__ import annotations

from xml.etree import ElementTree

from indexer.knowledge.schema import CodePath, Location, Step
from indexer.publish.diagram import draw


def step(name: str, depth: int, parent: str | None, **facts: object) -> Step:
    return Step(name, name, Location(f"a/{name}.py", depth + 1), depth, parent, **facts)  # type: ignore[arg-type]


def test_rows_elbows_and_links() -> None:
    path = CodePath(
        "p",
        "A path",
        steps=[
            step("loop", 0, None, waypoint="loop"),
            step("draft", 1, "loop", waypoint="draft", certainty="selected"),
            step("verify<T>", 1, "loop", waypoint="verify"),
        ],
    )
    drawing = ElementTree.fromstring(str(draw(path)))
    assert [text.text for text in drawing.iter("text") if text.get("class") == "name"] == [
        "loop",
        "draft",
        "verify<T>",
    ]
    assert [link.get("href") for link in drawing.iter("a")] == ["#step-loop", "#step-draft", "#step-verify-T"]
    assert [edge.get("class") for edge in drawing.iter("path")] == ["edge loose", "edge"]


def test_a_run_that_only_passes_the_call_on_is_one_row() -> None:
    steps = [step("start", 0, None, waypoint="start")]
    for place, name in enumerate("abcd", 1):
        steps.append(step(name, place, steps[-1].id))
    steps.append(step("end", 5, "d", waypoint="end"))
    names = [
        text.text for text in ElementTree.fromstring(str(draw(CodePath("p", "t", steps=steps)))).iter("text")
    ]
    assert names[::2] == ["start", "… 4 steps", "end"]


def test_no_steps_no_drawing() -> None:
    assert str(draw(CodePath("p", "t"))) == ""
