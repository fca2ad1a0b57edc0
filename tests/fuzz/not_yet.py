"""Where an error is still another than PyTorch's: ``python -m tests.fuzz.not_yet`` writes the list anew.

``not_yet.txt`` holds, for the calls that the tests make, each function that still
raises another error than PyTorch, or raises where PyTorch does not, with the kind
of that.  It may only get shorter.
"""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).with_name("not_yet.txt")
SEED = 2026
CALLS = 6
"""How many calls of each function the tests make."""


def allowed() -> set[tuple[str, str]]:
    """The functions, with the kinds of what they may still do."""
    lines = [line.split() for line in FILE.read_text("utf-8").splitlines() if line]
    return {(name, kind) for name, *kinds in lines for kind in kinds}


def main() -> None:
    from tests.fuzz.compare import finding
    from tests.fuzz.running import call_of
    from tests.fuzz.signatures import targets

    lines = []
    for target in targets():
        found = [finding(target.name, target.home, call_of(target, SEED, number)) for number in range(CALLS)]
        kinds = sorted({each.kind for each in found if each is not None})
        if kinds:
            lines.append(f"{target.home}.{target.name} {' '.join(kinds)}")
    FILE.write_text("\n".join([*sorted(lines), ""]), "utf-8")


if __name__ == "__main__":
    main()
