"""The cache of the compiled module: it saves time, and never costs a picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from autokit.draw import embedded

SOURCE = "digraph{1->2}"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(embedded, "_running", None)
    return embedded.cache_path()


def test_the_compiled_module_is_kept_for_the_next_process(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import wasmtime

    first = embedded.plain(SOURCE)
    assert cache.is_file() and [path.name for path in cache.parent.iterdir()] == [cache.name]
    monkeypatch.setattr(embedded, "_running", None)
    monkeypatch.setattr(wasmtime.Module, "from_file", None)  # a second compilation would fail
    assert embedded.plain(SOURCE) == first


def test_a_damaged_cache_is_ignored_and_mended(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = embedded.plain(SOURCE)
    sound = cache.read_bytes()
    for damage in (b"", b"not a module", sound[:5000] + bytes([sound[5000] ^ 1]) + sound[5001:]):
        cache.write_bytes(damage)
        monkeypatch.setattr(embedded, "_running", None)
        assert embedded.plain(SOURCE) == first
        assert cache.read_bytes() == sound


def test_a_cache_that_others_can_write_is_not_run(cache: Path) -> None:
    cache.parent.mkdir()
    cache.touch()
    cache.chmod(0o666)
    with pytest.raises(PermissionError):
        embedded._read(cache)


def test_no_cache_folder_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(embedded, "_running", None)
    assert embedded.plain(SOURCE).startswith("graph")
