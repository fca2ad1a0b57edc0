"""Where autokit and PyTorch part on purpose: each difference with its reason, and a call that still shows it.

Four groups: what PyTorch cannot do and autokit can; what PyTorch itself answers
in several ways, or wrongly; what is free; and what autokit refuses that PyTorch
lets pass unseen.  A difference that was mended leaves this table: a test runs
each call.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.calls import Call, read_call
from tests.fuzz.checks import holds
from tests.fuzz.compare import difference


class Difference(NamedTuple):
    """Whose it is (a pattern of names), its kind, how its words and its call look, what is checked, and why.

    The last is a call that shows it.
    """

    names: str
    kind: str
    words: str
    within: str
    check: str
    reason: str
    shown_by: str

    def covers(self, name: str, kind: str, words: str, call: Call) -> bool:
        return bool(
            re.fullmatch(self.names, name)
            and re.fullmatch(self.kind, kind)
            and re.search(self.words, words)
            and re.search(self.within, str(call))
            and (not self.check or holds(self.check, kind, call))
        )

    def call(self) -> tuple[str, Call]:
        """The name of the function, and the call of it that shows the difference."""
        call = read_call(self.shown_by)
        named = [each for each in re.findall(r"(\w+)\(", call.expression) if re.fullmatch(self.names, each)]
        return named[-1], call


EMPTY = r"zeros\(\(?[\d, ]*\b0\b|\[\]|T\.zeros\(\(\)|expand\(\(?[\d, ]*\b0\b"
"""A call of which a tensor has no elements."""

SAID = {
    "EMPTY": (EMPTY,),
    "DTYPE": (
        *("not implemented for", "only supports? (floating|boolean|float)", "Expected a floating"),
        *(
            "floating point or complex",
            "not supported for complex",
            "could not infer output dtype",
            "same (scalar )?d?type",
            "type should",
        ),
        *("expected scalar type", "can't be cast", "does not support (bool|uint8)", "either float or double"),
        *("it takes integers", "without narrowing", "used as indices", "not supported for complex"),
    ),
    "DIM": (
        *("Dimension (out of range|specified)", "start out of range", "appears multiple times"),
        *("INTERNAL ASSERT", "to be true, but got false"),
    ),
    "SHAPE": (
        *("size of tensor", "broadcast", "have length", "[Oo]utput size", "input size", "pad(ding)? should"),
        *("padding must be", "at least", "non-empty", "non-zero size", r"[Dd]imensions?\b", "in the range"),
        *("[Ee]xpected size", "square matrices", "equal size", "negative", "single memory location"),
        *(
            "must match",
            "step sign",
            "greater than zero",
            r"Expected \dD",
            "same size",
            "same number of elements",
        ),
        *(
            "cannot be multiplied",
            "Incompatible matrix",
            "zero batch",
            "expected bias",
            "0-dimensional",
            "size mismatch",
            "Bad in-place call",
            "is too small",
            "non-empty TensorList",
        ),
    ),
}
"""What a word in capitals stands for in a row: what is said of a wrong dtype, dimension or size."""

FILE = Path(__file__).with_name("differences.txt")
"""A block for each: names / kind / words / within / check, the reason, and a call that shows it."""


def _rows(text: str) -> list[Difference]:
    """The differences that ``text`` tells in blocks of three lines."""
    found = []
    for block in filter(None, text.strip("\n").split("\n\n")):
        head, reason, shown_by = block.split("\n")
        names, kind, words, within, *check = (part.strip() for part in re.split(r" /(?: |$)", head))
        shown = _written_out(words), _written_out(within)
        found.append(Difference(names, kind, *shown, "".join(check), reason.strip(), shown_by.strip()))
    return found


def _written_out(pattern: str) -> str:
    """``pattern`` with what a word in capitals stands for."""
    for word, meanings in SAID.items():
        pattern = re.sub(rf"\b{word}\b", lambda _: f"(?:{'|'.join(meanings)})", pattern)
    return pattern


DIFFERENCES = _rows(FILE.read_text("utf-8"))
"""What stays different, and why."""


class Finding(NamedTuple):
    """Where the two libraries part: the kind, what is said of it, and the call."""

    name: str
    kind: str
    words: str
    call: Call

    def key(self) -> tuple[str, str, str]:
        return self.name, self.kind, re.sub(r"[-\d.]+|'[^']*'|\[.*\]|\(.*\)", "#", self.words)[:90]


def finding(name: str, home: str, call: Call) -> Finding | None:
    """Where ``call`` parts from PyTorch, or None where both do the same, or are known to differ."""
    found = difference(name, call)
    if found is None or any(each.covers(name, *found, call) for each in DIFFERENCES):
        return None
    return Finding(f"{home}.{name}", *found, call)
