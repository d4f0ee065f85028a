"""The version of a Helm chart's launches, which stands in another of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.drift.check import Checker, FileResult
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.history_facts import HistoryFacts
from indexer.knowledge.history import load_history

TEMPLATE = """
spec:
  containers:
    - image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      command: [python3, -m, sglang.launch_server, --cuda-graph-max-bs-decode, "4"]
      args: {{ toYaml .Values.args | nindent 8 }}
"""


def check(folder: Path, name: str) -> FileResult:
    timeline = Timeline(HistoryFacts(load_history()))
    return Checker(timeline, [], "0.5.23").check_path(folder / name, name)


def write_chart(folder: Path, tag: str, app_version: str = "") -> None:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(f"name: c\n{app_version}")
    (folder / "templates" / "deployment.yaml").write_text(TEMPLATE)
    image = f"image:\n  repository: lmsysorg/sglang\n  tag: {tag}\n"
    (folder / "values.yaml").write_text(image + "extraArgs: ['--tp', '2', '--cuda-graph-max-bs', '4']\n")


@pytest.mark.parametrize("tag, app_version", [("v0.5.12-cu126", ""), ("", 'appVersion: "v0.5.12"\n')])
def test_template_is_judged_on_the_charts_version(tmp_path: Path, tag: str, app_version: str) -> None:
    write_chart(tmp_path, tag, app_version)
    for name in ("templates/deployment.yaml", "values.yaml"):
        result = check(tmp_path, name)
        assert result.versions == ["0.5.12"], name
    assert [f.code for f in check(tmp_path, "templates/deployment.yaml").findings] == ["future-flag"]
    assert [f.code for f in check(tmp_path, "values.yaml").findings] == ["abbreviated-flag"]


@pytest.mark.parametrize(
    "tag, app_version", [("latest", 'appVersion: "0.5.12"\n'), ("", "appVersion: 1.0\n")]
)
def test_a_tag_without_a_version_is_the_newest(tmp_path: Path, tag: str, app_version: str) -> None:
    write_chart(tmp_path, tag, app_version)
    assert check(tmp_path, "values.yaml").versions == ["0.5.23"]


@pytest.mark.parametrize(
    ("image", "values", "app_version"),
    [
        ("lmsysorg/sglang:v{{ .Chart.AppVersion }}", None, "0.5.12"),
        ('"lmsysorg/sglang:{{ .Values.image.tag }}"', "image:\n  tag: v0.5.12\n", "9.9.9"),
        ('lmsysorg/sglang:{{ $.Values.tag | default "v0.5.12" | quote }}', "tag:\n", "9.9.9"),
        ("lmsysorg/sglang:{{ default .Chart.AppVersion .Values.tag }}", "x: 1\n", "v0.5.12"),
        ('{{ .Values.repo }}:{{ required "a tag" .Values.tag }}', "repo: a/sglang\ntag: v0.5.12\n", "1.0.0"),
        ("{{ .Values.image }}", "image: lmsysorg/sglang:v0.5.12-cu126\n", "1.0.0"),
    ],
)
def test_an_image_is_filled_in_from_the_charts_files(
    tmp_path: Path, image: str, values: str | None, app_version: str
) -> None:
    write_chart(tmp_path, "unused", f'appVersion: "{app_version}"\n')
    template = tmp_path / "templates" / "deployment.yaml"
    lines = [f"    - image: {image}" if "image:" in line else line for line in TEMPLATE.splitlines()]
    template.write_text("\n".join(lines))
    (tmp_path / "values.yaml").unlink()
    if values is not None:
        arguments = "sglang:\n  extraArgs: ['--tp', '2', '--cuda-graph-max-bs', '4']\n"
        (tmp_path / "values.yaml").write_text(values + arguments)
        assert check(tmp_path, "values.yaml").versions == ["0.5.12"]
    assert check(tmp_path, "templates/deployment.yaml").versions == ["0.5.12"]
    assert [f.code for f in check(tmp_path, "templates/deployment.yaml").findings] == ["future-flag"]


def test_another_file_of_values_comes_before_the_charts_own(tmp_path: Path) -> None:
    write_chart(tmp_path, "v0.5.12")
    arguments = "image:\n  tag: v0.5.19\nsglang:\n  extraArgs: ['--tp', '2', '--cuda-graph-max-bs', '4']\n"
    (tmp_path / "values-prod.yaml").write_text(arguments)
    result = check(tmp_path, "values-prod.yaml")
    assert result.versions == ["0.5.19"]
    assert result.origin.startswith("image tag in ") and result.origin.endswith("values-prod.yaml")


@pytest.mark.parametrize(
    ("image", "tag", "version"),
    [
        ('lmsysorg/sglang:{{ include "c.tag" . }}', "v0.5.12", "0.5.12"),  # the values tell it all the same
        ("lmsysorg/sglang:{{ .Values.none }} # was lmsysorg/sglang:v0.5.19", "''", "0.5.23"),
    ],
)
def test_what_a_template_leaves_open_is_not_guessed_from_it(
    tmp_path: Path, image: str, tag: str, version: str
) -> None:
    write_chart(tmp_path, tag)
    lines = [f"    - image: {image}" if "image:" in line else line for line in TEMPLATE.splitlines()]
    (tmp_path / "templates" / "deployment.yaml").write_text("\n".join(lines))
    (tmp_path / "more.yaml").write_text("sglang:\n  extraArgs: ['--tp', '2', '--cuda-graph-max-bs', '4']\n")
    assert check(tmp_path, "more.yaml").versions == [version]


def test_images_of_several_versions_tell_none(tmp_path: Path) -> None:
    write_chart(tmp_path, "unused")
    for name in ("main", "draft"):
        image = f"image: lmsysorg/sglang:{{{{ .Values.{name} }}}}\n"
        (tmp_path / "templates" / f"{name}.yaml").write_text(image)
    arguments = "sglang:\n  extraArgs: ['--tp', '2', '--cuda-graph-max-bs', '4']\n"
    (tmp_path / "values.yaml").write_text(f"draft: v0.5.19\nmain: v0.5.12\n{arguments}")
    assert check(tmp_path, "values.yaml").versions == ["0.5.23"]
