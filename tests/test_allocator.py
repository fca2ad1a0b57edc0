"""Memory that large arrays leave: the next ones get it without the system's help."""

from __future__ import annotations

import platform

import pytest

from tests.support import printed_by

PROGRAM = """
import resource
import autokit as torch

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def step():
    kept = [torch.ones(300_000) for _ in range(8)]

for _ in range(3):
    step()
before = faults()
for _ in range(20):
    step()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's heap is told what to keep")
def test_memory_of_large_tensors_is_used_again_without_page_faults():
    assert int(printed_by(PROGRAM)) < 20 * 100  # of the 2,344 pages that the tensors of each of 20 steps fill
