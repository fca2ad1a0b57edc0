"""What happened on the stand-in, for tests to look at, and what CuPy has: ``cupy_names.json``."""

from __future__ import annotations

import json
from pathlib import Path

NAMES = json.loads((Path(__file__).parents[1] / "cupy_names.json").read_text("utf-8"))
"""CuPy's functions and methods with what they take, and the dtypes that its ufuncs compute in."""

copies: list[str] = []
"""How more than one element was read on the CPU, one entry a copy."""
