"""Pages of the small site: what they say, and that nothing on them leads nowhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from indexer.knowledge.schema import Deprecation, EnvVar, Location
from indexer.publish.agents import llms_full_txt, llms_txt
from indexer.publish.excerpts import SourceText
from indexer.publish.markup import soft_breaks
from indexer.publish.pages import all_pages
from indexer.publish.render import Renderer
from indexer.publish.site import VersionSite, page_stems
from tests.small_site import small_snapshot, small_tree, unrecognised


@pytest.fixture(scope="module")
def site() -> VersionSite:
    others = {"1.0": page_stems(small_snapshot()), "0.9": frozenset({"flags/backend"})}
    return VersionSite(small_snapshot(), SourceText(small_tree()), others, ["1.0", "0.9"], "1.0")


@pytest.fixture(scope="module")
def folder(site: VersionSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("site")
    renderer = Renderer(site)
    for page in all_pages(site):
        renderer.write(page, {root / "1.0": "../", root: ""})
    return root


class Links(HTMLParser):
    """Collects the addresses and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if named.get("id"):
            self.anchors.add(str(named["id"]))
        if tag in ("a", "link", "script"):
            address = named.get("href") or named.get("src")
            if address:
                self.addresses.append(address)


def test_every_link_leads_somewhere(folder: Path) -> None:
    made_later = {"llms.txt", "llms-full.txt"}
    pages = {path: Links(path.read_text()) for path in folder.rglob("*.html")}
    assert len(pages) > 20
    for path, links in pages.items():
        for address in links.addresses:
            file, _, anchor = address.partition("#")
            file = file.partition("?")[0]
            if file.startswith("http") or "static/" in file or "0.9" in file or Path(file).name in made_later:
                continue
            target = (path.parent / file).resolve() if file else path
            assert target.is_file(), f"{path.relative_to(folder)} links to {address}"
            if anchor and target.suffix == ".html":
                assert anchor in pages[folder / target.relative_to(folder.resolve())].anchors, address


def test_every_page_has_a_json_twin(folder: Path) -> None:
    for page in folder.rglob("*.html"):
        json.loads(page.with_suffix(".json").read_text())


def test_the_flag_page_shows_the_cited_line_and_who_cares(folder: Path) -> None:
    text = (folder / "flags" / "speculative-draft-steps.html").read_text().replace("<wbr>", "")
    [cited] = re.findall(r'<tr class="cited"><td class="n" data-n="(\d+)"></td>', text)
    assert cited == "2"
    for told in ("FastWorker", "steps are needed", "algorithms/FAST.html", "How many steps the draft model"):
        assert told in text
    assert "<code>--backend</code>" in text


def test_unknown_is_shown_with_its_reason_and_line(folder: Path) -> None:
    text = (folder / "flags" / "backend.html").read_text()
    assert 'class="unknown"' in text
    assert "depends on the machine" in text
    assert "server_args.py:4" in text


def test_a_deprecated_flag_points_to_its_replacement(folder: Path) -> None:
    text = (folder / "flags" / "old-steps.html").read_text()
    assert "Deprecated." in text
    assert 'href="../flags/speculative-draft-steps.html"' in text


def test_the_version_menu_keeps_the_page_where_the_other_release_has_it(folder: Path) -> None:
    assert 'href="../../0.9/flags/backend.html"' in (folder / "1.0" / "flags" / "backend.html").read_text()
    assert 'href="../0.9/index.html"' in (folder / "flags" / "old-steps.html").read_text()


def test_no_template_placeholder_is_left(folder: Path) -> None:
    for page in folder.rglob("*.html"):
        assert "@@" not in page.read_text()


def test_coverage_lists_what_was_not_recognised() -> None:
    snapshot = small_snapshot()
    snapshot.coverage.unrecognised.append(unrecognised("add_mystery(...)"))
    site = VersionSite(snapshot, SourceText(small_tree()), {}, ["1.0"], "1.0")
    page = next(page for page in all_pages(site) if page.stem == "coverage")
    assert page.data["unrecognised"][0]["text"] == "add_mystery(...)"


@pytest.mark.parametrize(
    ("deprecated", "notice", "told"),
    [
        (None, None, None),
        (None, "warning", "Where it is set a warning says so"),
        (None, "error", "SGLang raises where it is set."),
        ("--tiny", None, "Setting it has no effect."),
        ("TINY_DEBUG", "warning", None),  # its value is handed on
    ],
)
def test_a_variable_that_is_no_setting_says_so(
    deprecated: str | None, notice: str | None, told: str | None, tmp_path: Path
) -> None:
    snapshot = small_snapshot()
    at = Location("python/sglang/srt/server_args.py", 1)
    given = Deprecation(at, deprecated) if deprecated else None
    snapshot.env_vars.append(EnvVar("TINY_OLD", deprecated=given, notice=notice))
    site = VersionSite(snapshot, SourceText(small_tree()), {}, ["1.0"], "1.0")
    page = next(page for page in all_pages(site) if page.stem == "env/TINY_OLD")
    Renderer(site).write(page, {tmp_path / "1.0": "../"})
    text = (tmp_path / "1.0" / "env" / "TINY_OLD.html").read_text()
    assert ("<b>Gone.</b>" in text) == (told is not None) and (told or "") in text


def test_text_for_agents_names_every_fact_with_its_line(site: VersionSite) -> None:
    text = llms_full_txt(site)
    for name in ("flag:backend", "algorithm:FAST", "rule:steps-needed", "env:TINY_DEBUG"):
        assert f"- {name} | " in text
    assert "python/sglang/srt/server_args.py:4" in text
    assert "unknown (depends on the machine)" in text
    assert "flags/index.json" in llms_txt(site)


def test_source_text_is_escaped() -> None:
    assert str(soft_breaks("<script>")) == "&lt;script&gt;"
    assert str(soft_breaks("--a-b_cD")) == "--a-<wbr>b_<wbr>c<wbr>D"
