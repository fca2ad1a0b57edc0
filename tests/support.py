"""What tests share: asking for a part that a machine may not have, and running a program of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

HOW_TO_GET = {
    "torch": "pip install torch==2.13.0, or pip install -e '.[oracle]'",
    "cupy": "pip install -e '.[gpu]', on a machine with an NVIDIA GPU",
    "chromium": "install Chromium from your system's packages, as with: apt-get install chromium",
    "node": "install Node.js from your system's packages, as with: apt-get install nodejs",
    "dot": "install Graphviz from your system's packages, as with: apt-get install graphviz",
}
"""For each part that ``.[test]`` does not bring, how to get it."""

_BROUGHT_BY_TEST = "pip install -e '.[test]'"
_CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def read_number(text: str) -> float:
    """The number that a picture or a sentence writes with a minus."""
    return float(text.replace("−", "-"))


def require(name: str) -> None:
    """Go on where the module or program ``name`` is here; else skip the test, or fail it where ``CI`` is set.

    Called at the top of a file it does so for all of the file's tests.

    >>> require("numpy")
    """
    if _is_here(name):
        return
    reason = f"needs {name}: {HOW_TO_GET.get(name, _BROUGHT_BY_TEST)}"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def printed_by(program: str, **environment: str) -> str:
    """What ``program`` prints in a new Python process, which finds autokit and the tests; it must succeed.

    >>> printed_by("print(6 * 7)")
    '42\\n'
    """
    paths = [str(ROOT), os.environ.get("PYTHONPATH")]
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_intel() -> bool:
    """Whether this is an Intel processor, where PyTorch draws some numbers from another stream than ours."""
    facts = Path("/proc/cpuinfo")
    return facts.is_file() and "GenuineIntel" in facts.read_text("utf-8")


def chromium_path() -> str:
    """The system's Chromium; skips or fails as :func:`require` does where there is none."""
    require("chromium")
    return next(path for name in _CHROMIUM_NAMES if (path := shutil.which(name)))


def gpu_works() -> bool:
    """Whether CuPy itself finds a GPU: autokit, which is tested, is not asked."""
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # no CuPy, no driver, no device: each raises a type of its own
        return False


def _is_here(name: str) -> bool:
    if name == "chromium":
        return any(shutil.which(candidate) for candidate in _CHROMIUM_NAMES)
    if shutil.which(name):
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # "a.b" where there is no "a"
        return False
