"""The README's two commands stand where .ci/run looks for them; what it and other texts name is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from traitlets.config import Config

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "last"), [("lab", ".venv/bin/autokit lab"), ("test", ".venv/bin/pytest -n 3")]
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


def test_each_extra_that_it_names_is_there_and_a_gpu_takes_the_wheel_of_its_cuda():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(re.findall(r'"\.\[([\w-]+)\]"', README)) <= set(extras)
    for extra, cuda in (("gpu", 12), ("gpu-cuda13", 13)):
        assert f'".[{extra}]"' in README
        (wheel,) = extras[extra]
        assert wheel.startswith(f"cupy-cuda{cuda}x[ctk]")


def test_the_ten_lines_do_what_they_say(tmp_path: Path):
    program = re.search(r"^```python\n(.+?)^```$", README, re.MULTILINE | re.DOTALL)[1]
    (tmp_path / "example.py").write_text(program, "utf-8")
    done = subprocess.run(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == re.search(r"print\(.*\)\s+# (.+)", program)[1]
    assert (tmp_path / "flow.svg").read_bytes() == (ROOT / ".github" / "flow.svg").read_bytes()
    assert "Content-Security-Policy" in (tmp_path / "flow.html").read_text("utf-8")


def test_the_profile_of_a_batch_system_is_one_that_ipyparallel_reads(tmp_path: Path):
    launchers = pytest.importorskip("ipyparallel.cluster.launcher")
    page = (ROOT / ".github" / "CLUSTERS.md").read_text("utf-8")
    profile = re.search(r"^```python\n# ~/\.ipython[^\n]*\n(.+?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    config = Config()
    exec(profile, {"get_config": lambda: config})
    launcher = launchers.SlurmEngineSetLauncher(config=config, work_dir=str(tmp_path))
    launcher.program = ["ipengine"]
    launcher.write_batch_script(64)
    script = (tmp_path / launcher.batch_file_name).read_text("utf-8")
    assert "#SBATCH --ntasks=64 --partition=compute" in script
    assert re.search(r"^srun --mpi=pmi2 --kill-on-bad-exit ipengine\b", script, re.MULTILINE)


@pytest.mark.parametrize("text", [".github/CONTRIBUTING.md", "tests/benchmarks/README.md"])
def test_every_file_that_a_text_names_is_there(text: str):
    named = re.findall(r"`((?:autokit|tests|notebooks|binder)/[\w./-]+)`", (ROOT / text).read_text("utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_link_leads_to_a_file():
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
