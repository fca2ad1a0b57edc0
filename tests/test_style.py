"""The whole tree is clean by ruff and mypy, as pyproject.toml sets them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("checker", [["ruff", "check", "."], ["mypy"]], ids=lambda words: words[0])
def test_the_tree_is_clean(checker: list[str]):
    run = subprocess.run(
        [sys.executable, "-m", *checker], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stdout + run.stderr
