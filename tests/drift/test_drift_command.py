from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
import yaml
from click.testing import CliRunner, Result

from indexer.cli.drift import command
from indexer.errors import CannotError, UsageError
from indexer.knowledge.facts import EnvFact, Facts, FlagFact
from indexer.knowledge.history_file import Release, encode
from indexer.knowledge.history_fold import fold
from indexer.knowledge.schema import Flag, Location, Snapshot, Source
from indexer.knowledge.store import save_snapshot
from indexer.snapshots import default_version
from tests.trees import ARGUMENTS

ROOT = Path(__file__).resolve().parents[2]
AT = Location("python/sglang/srt/server_args.py", 7)


def flag(name: str, **attributes: Any) -> FlagFact:
    dest = attributes.pop("dest", name.replace("-", "_"))
    return FlagFact(name=name, option_strings=[f"--{name}"], dest=dest, declared_at=AT, **attributes)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    old = [flag("old-name", dest="d"), flag("steps", default=3), flag("tp-size"), flag("same")]
    new = [
        flag("new-name", dest="d"),
        flag("steps", default=5),
        flag("tp-size"),
        flag("tp-mode"),
        flag("same"),
    ]
    variable = EnvFact(name="SGLANG_X", default=False, declared_at=AT)
    facts = [Facts("0.1", flags=old, env_vars=[variable]), Facts("0.2", flags=new)]
    path = tmp_path / "history.json"
    path.write_bytes(encode(fold([Release("0.1"), Release("0.2")], facts)))
    return path


def run(history: Path, *arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--history", str(history)], catch_exceptions=False)


def test_text_names_level_change_and_both_places(history: Path) -> None:
    result = run(history, "0.1", "0.2")
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0] == "sglang 0.1 → 0.2: 2 START, 2 MEANING, 2 DOC (--level DOC shows them)"
    assert "  --old-name is gone, use --new-name  [flag-removed]" in lines
    assert "  --steps: default 3 → 5  [flag-default]" in lines
    assert "  SGLANG_X is gone: setting it has no effect  [env-removed]" in lines
    assert not any("[flag-added]" in line for line in lines)
    assert "      was python/sglang/srt/server_args.py:7, now python/sglang/srt/server_args.py:7" in lines


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["0.1", "0.1"], 0),
        (["0.1", "0.2", "--fail-on", "never"], 0),
        (["0.1", "0.2", "--kind", "algorithms"], 0),
        (["0.1", "0.2", "--kind", "env", "--fail-on", "START"], 0),
        (["0.1", "0.2", "--kind", "env"], 1),
        (["0.2", "0.1"], 1),
    ],
)
def test_exit_codes(history: Path, arguments: list[str], status: int) -> None:
    assert run(history, *arguments).exit_code == status


def test_abbreviations_can_be_left_out(history: Path) -> None:
    assert "--tp" in run(history, "0.1", "0.2").output
    assert "--tp" not in run(history, "0.1", "0.2", "--no-abbreviations").output


def test_going_back_is_answered_and_said(history: Path) -> None:
    output = run(history, "0.2", "0.1").output
    assert "note: 0.1 is older than 0.2: this is what going back changes" in output
    assert "--new-name is gone, use --old-name" in output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["0.1"], "two versions are needed"),
        (["0.1", "0.2", "--kind", "flag"], "--kind flag is not known"),
        (["0.1", "nothing.json"], "there is no snapshot file nothing.json"),
        (["0.1", "0.2", "--used-in", "nowhere"], "there is no file or folder nowhere"),
        (["--documented", "0.1", "0.2"], "--documented takes one version"),
    ],
)
def test_mistakes_are_usage_errors(history: Path, arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run(history, *arguments)


class TestUsedIn:
    @pytest.fixture
    def launch(self, tmp_path: Path) -> Path:
        folder = tmp_path / "mine"
        folder.mkdir()
        (folder / "run.sh").write_text("export SGLANG_X=1\nserve --same 1 --old-name 2 --tp 4\n")
        (folder / "wrapper.py").write_text("print(args.steps)\n")
        (folder / "image.bin").write_bytes(b"\0--old-name")
        return folder

    def test_only_what_is_used_is_told_at_its_place(self, history: Path, launch: Path) -> None:
        output = run(history, "0.1", "0.2", "--used-in", str(launch)).output
        where = launch.as_posix()
        for place in (
            "run.sh:2:16: --old-name",
            "run.sh:2:29: --tp",
            "wrapper.py:1:12: steps",
            "run.sh:1:8: SGLANG_X",
        ):
            assert f"{where}/{place}" in output
        assert output.startswith("sglang 0.1 → 0.2: 2 START, 2 MEANING")

    def test_nothing_used_is_clean(self, history: Path, tmp_path: Path) -> None:
        (tmp_path / "empty.sh").write_text("serve --same 1\n")
        assert run(history, "0.1", "0.2", "--used-in", str(tmp_path / "empty.sh")).exit_code == 0

    def test_annotations_point_into_the_users_file(self, history: Path, launch: Path) -> None:
        output = run(history, "0.1", "0.2", "--used-in", str(launch), "--format", "github").output
        assert f"::error file={launch.as_posix()}/run.sh,line=2,col=16,title=flag-removed::" in output


class TestFormats:
    def test_json(self, history: Path) -> None:
        body = json.loads(run(history, "0.1", "0.2", "--json", "--level", "DOC").output)
        assert body["counts"] == {"START": 2, "MEANING": 2, "DOC": 2}
        (removed,) = [one for one in body["changes"] if one["code"] == "flag-removed"]
        assert (removed["name"], removed["replacement"], removed["level"]) == (
            "--old-name",
            "--new-name",
            "START",
        )
        assert removed["old_at"] == {"path": AT.path, "line": 7}
        assert len(removed["fingerprint"]) == 16

    def test_markdown(self, history: Path) -> None:
        output = run(history, "0.1", "0.2", "--format", "markdown").output
        assert output.startswith("### SGLang 0.1 → 0.2: 2 START, 2 MEANING, 2 DOC\n")
        assert "| --steps: default 3 → 5 | `python/sglang/srt/server_args.py:7` |" in output

    def test_sarif(self, history: Path) -> None:
        log = json.loads(run(history, "0.1", "0.2", "--format", "sarif").output)
        (sarif_run,) = log["runs"]
        assert sarif_run["tool"]["driver"]["name"] == "indexer drift"
        assert {one["ruleId"] for one in sarif_run["results"]} >= {
            "flag-removed",
            "flag-default",
            "env-removed",
        }

    def test_junit(self, history: Path) -> None:
        suite = ET.fromstring(run(history, "0.1", "0.2", "--format", "junit").output)
        assert suite.get("failures") == "4"


class TestBaseline:
    def test_round_trip(self, history: Path, tmp_path: Path) -> None:
        path = tmp_path / "accepted.toml"
        assert run(history, "0.1", "0.2", "--write-baseline", str(path)).exit_code == 0
        with pytest.raises(UsageError, match=r"accepted\[1\] \(.*\) has no reason"):
            run(history, "0.1", "0.2", "--baseline", str(path))
        path.write_text(path.read_text().replace('reason = ""', 'reason = "we set it ourselves"'))
        result = run(history, "0.1", "0.2", "--baseline", str(path))
        assert result.exit_code == 0
        assert "4 accepted" in result.output

    def test_entry_no_longer_needed_fails(self, history: Path, tmp_path: Path) -> None:
        path = tmp_path / "accepted.toml"
        path.write_text('[[accepted]]\nfingerprint = "0123"\nreason = "long ago"\nwhat = "--x is gone"\n')
        result = run(history, "0.1", "0.1", "--baseline", str(path))
        assert result.exit_code == 1
        assert "baseline: no longer needed: 0123 --x is gone" in result.output

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[[accepted]", "Expected"),
            ("[[accepted]]\nreason = 'x'\n", "fingerprint"),
            ("typo = 1\n", "typo"),
        ],
    )
    def test_malformed(self, history: Path, tmp_path: Path, text: str, said: str) -> None:
        path = tmp_path / "accepted.toml"
        path.write_text(text)
        with pytest.raises(UsageError, match=said):
            run(history, "0.1", "0.2", "--baseline", str(path))


class TestSnapshotFiles:
    def snapshot(self, folder: Path, version: str, default: int) -> Path:
        declared = Flag("steps", ["--steps"], "steps", "_StoreAction", default=default, declared_at=AT)
        path = folder / f"{version}.json"
        save_snapshot(Snapshot(1, Source(version, "folder"), flags=[declared]), path)
        return path

    def test_compares_two_files(self, history: Path, tmp_path: Path) -> None:
        old, new = self.snapshot(tmp_path, "a", 1), self.snapshot(tmp_path, "b", 2)
        assert "--steps: default 1 → 2" in run(history, str(old), str(new)).output

    def test_other_schema_version(self, history: Path, tmp_path: Path) -> None:
        path = self.snapshot(tmp_path, "a", 1)
        body = msgspec.json.decode(path.read_bytes())
        path.write_bytes(msgspec.json.encode(body | {"schema": 99}))
        with pytest.raises(UsageError, match="snapshot schema 99"):
            run(history, str(path), "0.2")


def test_damaged_history_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text("{")
    with pytest.raises(CannotError, match="is not a history file"):
        run(path, "0.1", "0.2")


def test_shipped_action_and_hooks_call_what_exists() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    options = {option for parameter in command.params for option in parameter.opts}
    script = action["runs"]["steps"][-1]["run"]
    used = {word.strip('("') for word in script.split() if word.strip('("').startswith("--")}
    assert used and used <= options
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["entry"].split()[:2] for hook in hooks] == [["indexer", "check"], ["indexer", "drift"]]


def test_revisions_of_a_checkout(history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_INDEXER_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "repo"
    arguments = root / "python/sglang/srt/server_args.py"
    arguments.parent.mkdir(parents=True)
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-C", str(root)]
    subprocess.run([*git[:-2], "init", "-q", str(root)], check=True)
    for default in (1, 2):
        arguments.write_text(ARGUMENTS.format(default=default))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", str(default)], check=True)
    result = run(history, "HEAD~1", "HEAD", "--checkout", str(root))
    assert "--steps: default 1 → 2  [flag-default]" in result.output
    with pytest.raises(UsageError, match="has no revision 'nope'"):
        run(history, "nope", "HEAD", "--checkout", str(root))


def test_documented_version_has_not_drifted_from_itself() -> None:
    result = CliRunner().invoke(command, ["--documented", default_version()], catch_exceptions=False)
    assert result.exit_code == 0
    assert result.output.endswith(": 0 START, 0 MEANING, 0 DOC\n")
