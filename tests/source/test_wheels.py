from __future__ import annotations

import multiprocessing
import random
import stat
import zipfile
from pathlib import Path

import pytest

from indexer.errors import CannotError, UsageError
from indexer.source import ARGUMENTS_FILE, open_source, pip
from indexer.source.pins import Pin, Pins, save_pins
from indexer.source.tree import MAX_FILE_BYTES
from indexer.source.wheels import WheelTree, cached_wheel, fetch_wheel, file_sha256, open_wheel_tree

METADATA = "Metadata-Version: 2.1\nName: sglang\nVersion: 9.9\n"


def make_wheel(folder: Path, version: str = "9.9", extra: dict[str, str] | None = None) -> Path:
    wheel = folder / f"sglang-{version}-py3-none-any.whl"
    files = {
        "sglang/__init__.py": "",
        "sglang/srt/server_args.py": "class ServerArgs: ...\n",
        "sglang/data.json": "{}",
        f"sglang-{version}.dist-info/METADATA": METADATA,
        **(extra or {}),
    }
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SGLANG_INDEXER_CACHE", str(tmp_path / "cache"))
    wheels = tmp_path / "cache" / "wheels"
    wheels.mkdir(parents=True)
    return wheels


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A package index with one release, 9.9; the list notes what was downloaded."""
    asked: list[str] = []

    def download(name: str, version: str, folder: Path) -> Path:
        asked.append(version)
        if version != "9.9":
            raise UsageError(f"{name} has no release {version}")
        return make_wheel(folder)

    monkeypatch.setattr(pip, "download", download)
    return asked


def test_reads_a_wheel_with_repository_paths(tmp_path: Path) -> None:
    tree = WheelTree(make_wheel(tmp_path), "9.9")
    assert tree.paths() == ("python/sglang/__init__.py", ARGUMENTS_FILE)
    assert tree.text(ARGUMENTS_FILE).startswith("class ServerArgs")
    assert tree.metadata() == METADATA
    assert tree.sha256 == file_sha256(tmp_path / "sglang-9.9-py3-none-any.whl")
    link = tree.permalink(ARGUMENTS_FILE, 3, 5)
    assert link == f"https://github.com/sgl-project/sglang/blob/v9.9/{ARGUMENTS_FILE}#L3-L5"
    with pytest.raises(FileNotFoundError):
        tree.read("python/sglang/nothing.py")


def test_members_that_climb_out_or_are_links_are_not_seen(tmp_path: Path) -> None:
    evil = {"sglang/../../evil.py": "", "/sglang/abs.py": "", "sglang/..\\win.py": ""}
    wheel = make_wheel(tmp_path, extra=evil)
    with zipfile.ZipFile(wheel, "a") as archive:
        link = zipfile.ZipInfo("sglang/link.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    assert WheelTree(wheel, "9.9").paths() == ("python/sglang/__init__.py", ARGUMENTS_FILE)


def test_a_file_too_large_is_refused_unread(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, extra={"sglang/big.py": "#" * (MAX_FILE_BYTES + 1)})
    with pytest.raises(CannotError, match=r"python/sglang/big.py has 16,777,217 bytes"):
        WheelTree(wheel, "9.9").read("python/sglang/big.py")


def test_damaged_member_is_told(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, extra={"sglang/x.py": "x = 1\n" * 500})
    raw = bytearray(wheel.read_bytes())
    at = raw.index(b"sglang/x.py") + len("sglang/x.py") + 4
    raw[at : at + 6] = b"\xff" * 6
    wheel.write_bytes(raw)
    with pytest.raises(CannotError, match=r"x\.py is damaged"):
        WheelTree(wheel, "9.9").read("python/sglang/x.py")


def test_fetches_once_then_works_offline(cache: Path, index: list[str]) -> None:
    first = fetch_wheel("sglang", "v9.9")
    assert fetch_wheel("sglang", "9.9") == first
    assert index == ["9.9"]
    assert [p.name for p in cache.iterdir() if p.suffix == ".whl"] == [first.name]


def test_truncated_cache_entry_is_fetched_again(cache: Path, index: list[str]) -> None:
    wheel = make_wheel(cache)
    wheel.write_bytes(wheel.read_bytes()[:100])
    assert WheelTree(fetch_wheel("sglang", "9.9"), "9.9").paths()
    assert index == ["9.9"]


def test_truncated_and_offline_tells_both(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_wheel(cache).write_bytes(b"PK")

    def unreachable(name: str, version: str, folder: Path) -> Path:
        raise CannotError("the package index can't be reached", "check the network")

    monkeypatch.setattr(pip, "download", unreachable)
    with pytest.raises(CannotError, match=r"in the cache is truncated or no zip file, and the package index"):
        fetch_wheel("sglang", "9.9")
    assert cached_wheel("sglang", "9.9") is not None


def test_wrong_hash_is_refused_and_leaves_nothing(cache: Path, index: list[str]) -> None:
    with pytest.raises(CannotError, match=r"as downloaded has sha256 \w+, pinned is 00"):
        fetch_wheel("sglang", "9.9", sha256="00")
    assert cached_wheel("sglang", "9.9") is None


def test_what_a_killed_process_left_is_cleared(cache: Path, index: list[str]) -> None:
    (cache / ".download-sglang-9.9-dead").mkdir()
    fetch_wheel("sglang", "9.9")
    assert not list(cache.glob(".download-*"))


def test_unknown_release_and_malformed_version(cache: Path, index: list[str]) -> None:
    with pytest.raises(UsageError, match=r"no release 9\.8"):
        fetch_wheel("sglang", "9.8")
    with pytest.raises(UsageError, match="is not a version"):
        fetch_wheel("sglang", "../../etc")


def _fetch_in_child(log: str) -> None:
    def download(name: str, version: str, folder: Path) -> Path:
        with Path(log).open("a") as stream:
            stream.write("downloaded\n")
        return make_wheel(folder)

    pip.download = download  # type: ignore[assignment]
    fetch_wheel("sglang", "9.9")


def test_two_processes_download_once(cache: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_fetch_in_child, args=(str(log),)) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(30)
        assert child.exitcode == 0
    assert log.read_text() == "downloaded\n"


def test_pin_decides_which_file_is_good(
    cache: Path, index: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = tmp_path / "sglang.pins.toml"
    monkeypatch.setenv("SGLANG_INDEXER_PINS", str(pins))
    wheel = make_wheel(cache)
    save_pins(Pins("9.9", [Pin("9.9", wheel.name, file_sha256(wheel))]), pins)
    assert open_source().version == "9.9"
    assert index == []
    save_pins(Pins("9.9", [Pin("9.9", wheel.name, "0" * 64)]), pins)
    with pytest.raises(CannotError, match="pinned is 0000"):
        open_source()


def test_another_package_has_its_own_paths(cache: Path) -> None:
    with zipfile.ZipFile(cache / "transformers-4.5-py3-none-any.whl", "w") as archive:
        archive.writestr("transformers/models/x.py", "")
        archive.writestr("transformers-4.5.dist-info/METADATA", "")
    tree = open_wheel_tree("transformers", "4.5")
    assert tree.paths() == ("transformers/models/x.py",)
    link = tree.permalink("transformers/models/x.py", 2)
    assert link == "https://github.com/huggingface/transformers/blob/v4.5/src/transformers/models/x.py#L2"


def test_a_wheel_without_sglang_is_told(cache: Path) -> None:
    with zipfile.ZipFile(cache / "sglang-9.9-py3-none-any.whl", "w") as archive:
        archive.writestr("other/__init__.py", "")
        archive.writestr("sglang-9.9.dist-info/METADATA", "")
    with pytest.raises(CannotError, match="is not a SGLang tree that can be indexed: no python/sglang"):
        open_source("9.9")


def _read_all(tree: WheelTree, paths: list[str]) -> None:
    for path in paths:
        tree.read(path)


def test_a_forked_process_reads_on_its_own(cache: Path) -> None:
    noise = random.Random(1)
    extra = {f"sglang/m{n}.py": f"# {noise.getrandbits(30_000):x}\n" for n in range(12)}
    tree = WheelTree(make_wheel(cache, extra=extra), "9.9")
    paths = [path for path in tree.paths() if "/m" in path]
    context = multiprocessing.get_context("fork")
    for path in paths:
        child = context.Process(target=_read_all, args=(tree, paths[::-1]))
        child.start()
        child.join()
        assert child.exitcode == 0
        assert tree.read(path).decode() == extra[path.removeprefix("python/")]
