"""The memory that large arrays leave, kept for those that come next.

A step of training takes some megabytes and frees them all at its end.  The C
library gives what is free at the end of the heap back to the system, as soon
as it is more than a threshold; in the next step each page is then cleared and
brought in anew, which took a third of a step of LeNet.  glibc sets that
threshold to twice the largest piece of memory that was freed so far: so one
large piece is taken and freed at once, before anything touches a page of it.
Other C libraries are not moved by it.

References
----------
The manual page of ``mallopt``, under M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
"""

from __future__ import annotations

import numpy as np

LARGEST = 1 << 24
"""Bytes: arrays up to this size are taken from the heap, of which twice as much is kept when it is free."""


def keep_freed_memory() -> None:
    """Let the C library keep what large arrays free, for the rest of this process."""
    np.empty(LARGEST, np.uint8)
