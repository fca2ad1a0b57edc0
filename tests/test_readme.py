"""The README's two commands are where .ci/run looks for them, and CONTRIBUTING says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "last"), [("lab", ".venv/bin/autokit lab"), ("test", ".venv/bin/pytest")]
)
def test_a_command_is_one_line_and_stands_in_both_files(name: str, last: str):
    lines = rf"^<!-- {name} command -->\n```sh\n(.+)\n```\n<!-- end of {name} command -->$"
    block = re.search(lines, README, re.MULTILINE)
    assert block, f"README.md: the {name} command must stand alone in a fence between its markers"
    make, install, run = block[1].split(" && ")
    assert make == "python3 -m venv .venv"
    assert install.startswith(".venv/bin/pip install ") and install.endswith(f'".[{name}]"')
    assert run == last
    assert block[1] in (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
