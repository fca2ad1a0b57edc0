"""Where autokit and PyTorch part on purpose: each difference with its reason, held to still occur."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class Difference:
    """A known difference: whose (a pattern of names), its kind, how its words or its call look, and why."""

    names: str
    kind: str
    words: str
    reason: str
    seen: list[str] = field(default_factory=list)

    def covers(self, name: str, kind: str, words: str, call: str) -> bool:
        return bool(
            re.fullmatch(self.names, name)
            and re.fullmatch(self.kind, kind)
            and (re.search(self.words, words) or re.search(self.words, call))
        )


DIFFERENCES: list[Difference] = []
