"""The fuzzer runs PyTorch at every step: where there is none, only the test that says so is collected."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["[!t]*.py"]
