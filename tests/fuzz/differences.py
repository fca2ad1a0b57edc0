"""Where autokit and PyTorch part on purpose: each difference with its reason, and a call that still shows it.

Four groups: what PyTorch cannot do and autokit can; what PyTorch itself answers
in several ways, or wrongly; what is free; and what autokit refuses that PyTorch
lets pass unseen.  A difference that was mended leaves this table: a test runs
each call.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.fuzz.calls import Call


class Difference(NamedTuple):
    """Whose it is (a pattern of names), its kind, how its words and its call look, why, and a call."""

    names: str
    kind: str
    words: str
    within: str
    reason: str
    shown_by: str

    def covers(self, name: str, kind: str, words: str, call: str) -> bool:
        return bool(
            re.fullmatch(self.names, name)
            and re.fullmatch(self.kind, kind)
            and re.search(self.words, words)
            and re.search(self.within, call)
        )

    def call(self) -> tuple[str, Call]:
        """The name of the function, and the call of it that shows the difference."""
        *tensors, expression = self.shown_by.split("; ")
        named = [each for each in re.findall(r"(\w+)\(", expression) if re.fullmatch(self.names, each)]
        sources = dict(each.split(" = ", 1) for each in tensors)
        return named[-1], Call(sources, expression)


EMPTY = r"zeros\(\(?[\d, ]*\b0\b|\[\]|T\.zeros\(\(\)"
"""A call of which a tensor has no elements."""

_ROWS = r"""
"""


def _rows(text: str) -> list[Difference]:
    """One difference in four lines: names / kind / words / within, the reason, and the call."""
    found = []
    for block in filter(None, text.strip("\n").split("\n\n")):
        head, reason, shown_by = block.split("\n")
        names, kind, words, within = (part.strip() for part in head.split(" / "))
        found.append(
            Difference(names, kind, words, within.replace("EMPTY", EMPTY), reason.strip(), shown_by.strip())
        )
    return found


DIFFERENCES = _rows(_ROWS)
"""What stays different, and why."""
