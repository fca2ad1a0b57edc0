"""The table of all of the player's controls: how each is used by mouse, how by key, and what is seen to change.

``walk`` goes through it, in JupyterLab and in Notebook 7, with the two players of ``CELLS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

CELLS = [
    """\
import autokit as ak
x = ak.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
w = ak.tensor([[1.0, -1.0], [2.0, 0.5]], requires_grad=True)
b = ak.tensor([0.5, -0.5], requires_grad=True)
large = ak.ones(60, 50, requires_grad=True)
with ak.recording():
    h = x @ w
    loss = (h * h + b).sum() + large.mean()
player = ak.animate(loss)
player""",
    """\
y = u = ak.tensor(0.5, requires_grad=True)
for _ in range(80):
    y = (y * 0.9).tanh() + u
folded = ak.animate(y)
folded""",
]
"""A player of matrices, one of which is too large to be sent, and a player with folds."""

_READY = """async (root, at) => {
  if (document.fullscreenElement) await document.exitFullscreen();
  const find = (selector) => root.querySelector(selector);
  const put = (control, value, event) => {
    control.value = value;
    control.dispatchEvent(new Event(event, { bubbles: true }));
  };
  if (find(".ak-play").textContent === "Pause") find(".ak-play").click();
  for (const pressed of root.querySelectorAll(".ak-row [aria-pressed=true]")) pressed.click();
  for (const open of root.querySelectorAll("details[open]")) open.open = false;
  if (!find(".ak-panel").hidden) find("[aria-label='Close the details']").click();
  put(find("[aria-label=Speed]"), "1", "change");
  put(find("[aria-label=Detail]"), "fine", "change");
  put(find("[aria-label=Step]"), String(at), "input");
  find(".ak-search").value = "";
  find("[aria-label='Fit the whole graph']").click();
  root.focus();
}"""

_VIEW = """root => {
  const { a, e, f } = root.querySelector(".ak-stage svg").getScreenCTM();
  const { left, top } = root.querySelector(".ak-seen").getBoundingClientRect();
  return [a, e - left, f - top];
}"""


@dataclass
class Hand:
    """A hand on one player of a page."""

    page: Any
    root: Any
    home: tuple[float, ...] = (1.0, 0.0, 0.0)

    def ready(self, at: int) -> None:
        """Close and undo all, and go to the step."""
        self.page.mouse.move(0, 0)
        self.root.evaluate(_READY, at)
        self.home = tuple(self.root.evaluate(_VIEW))

    def find(self, selector: str) -> Any:
        return self.root.locator(selector).first

    def click(self, selector: str) -> None:
        self.find(selector).click()

    def press(self, *keys: str, on: str = "") -> None:
        """Press keys where ``on`` has the focus, else the player itself."""
        (self.find(on) if on else self.root).focus()
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, selector: str) -> str:
        return str(self.find(selector).text_content())

    def type(self, selector: str, text: str) -> None:
        """Type into a field, and send it off."""
        self.press(on=selector)
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def view(self) -> list[float]:
        """The picture against how it fits: how many times as large, and how far moved."""
        scale, x, y = self.root.evaluate(_VIEW)
        return [round(scale / self.home[0], 2), round(x - self.home[1], 1), round(y - self.home[2], 1)]

    def drag(self, x: float, y: float) -> None:
        left, top = self.point(".ak-seen", 0.08, 0.9)
        self.page.mouse.move(left, top)
        self.page.mouse.down()
        self.page.mouse.move(left + x, top + y, steps=3)
        self.page.mouse.up()

    def point(self, selector: str, across: float, down: float) -> tuple[float, float]:
        """A point of an element, by its parts of the width and of the height."""
        self.find(selector).scroll_into_view_if_needed()
        box = self.find(selector).bounding_box()
        return box["x"] + across * box["width"], box["y"] + down * box["height"]


Act = Callable[[Hand], Any]


@dataclass(frozen=True)
class Control:
    """One control: ``seen`` is to be ``expected`` after it was used in either way.

    ``selector`` finds all elements of its kind.  Before either way the player
    stands at step ``at``, with nothing open but what ``before`` opens.
    """

    name: str
    selector: str
    mouse: Act
    key: Act
    seen: Act
    expected: Any
    at: int = 9
    before: Act = lambda hand: None
    player: int = 0


# -- what a hand does


def click(selector: str) -> Act:
    return lambda hand: hand.click(selector)


def press(*keys: str, on: str = "") -> Act:
    return lambda hand: hand.press(*keys, on=on)


def choose(selector: str, value: str) -> Act:
    return lambda hand: hand.find(selector).select_option(value)


def fill(selector: str, value: str) -> Act:
    """As a mouse does that pastes."""
    return lambda hand: hand.find(selector).fill(value)


def pick(selector: str, value: str) -> Act:
    """As a mouse does that picks from the list of suggestions, which is the browser's own."""
    picked = "new InputEvent('input', { inputType: 'insertReplacementText' })"
    return lambda hand: hand.find(selector).evaluate(
        f"(field, value) => {{ field.value = value; field.dispatchEvent({picked}); }}", value
    )


def type_into(selector: str, text: str) -> Act:
    return lambda hand: hand.type(selector, text)


def then(*acts: Act) -> Act:
    """One act after the other."""

    def all_of_them(hand: Hand) -> None:
        for act in acts:
            act(hand)

    return all_of_them


def wheel(hand: Hand) -> None:
    """The wheel with Ctrl, over the middle, so far that the picture is a quarter larger."""
    hand.page.mouse.move(*hand.point(".ak-seen", 0.5, 0.5))
    hand.page.keyboard.down("Control")
    hand.page.mouse.wheel(0, -67)
    hand.page.keyboard.up("Control")


def hover(hand: Hand) -> None:
    """The pointer over the last element of h in the picture."""
    hand.page.mouse.move(*hand.point("[data-element=n2] [data-part=value-heatmap] rect", 0.9, 0.9))
    hand.find(".ak-tip").wait_for()


def walk_the_grid(hand: Hand) -> None:
    """The details of h, and in the grid of its value to the last element."""
    hand.press("ArrowDown", "ArrowDown", "ArrowDown")
    hand.press("ArrowDown", "ArrowRight", "ArrowDown", on="[role=grid] td")


def scrub(hand: Hand) -> None:
    """A click at the middle of the scrubber."""
    hand.page.mouse.click(*hand.point(RANGE, 0.5, 0.5))


# -- what is seen


def step(hand: Hand) -> int:
    return int(hand.find(RANGE).input_value())


def title(hand: Hand) -> str:
    """Whose details are open."""
    return str(hand.text(".ak-panel .ak-title")) if hand.find(".ak-panel").is_visible() else ""


def text(selector: str) -> Act:
    return lambda hand: hand.find(selector).text_content()


def value(selector: str) -> Act:
    return lambda hand: hand.find(selector).input_value()


def visible(selector: str) -> Act:
    return lambda hand: hand.find(selector).is_visible()


def count(selector: str) -> Act:
    return lambda hand: hand.root.locator(selector).count()


def is_full(hand: Hand) -> bool:
    return bool(hand.root.evaluate("root => document.fullscreenElement === root"))


RANGE, SPEED, DETAIL = "[aria-label=Step]", "[aria-label=Speed]", "[aria-label=Detail]"
PLAY, SEARCH, ANSWER = ".ak-play", ".ak-search", ".ak-answer"
PREDICT, CODE, TABLE = (f'.ak-toggle:text-is("{name}")' for name in ("Predict", "Code", "Show as table"))
LINE, ROW = ".ak-line >> nth=1", ".ak-table th .ak-link >> nth=1"
WHY, ACCOUNT = ".ak-why:not(.ak-account) > summary", ".ak-account > summary"
LEAF = ".ak-account .ak-link"
CHECK, REVEAL = ".ak-question [type=submit]", ".ak-reveal"
MORE, SOURCE, WAY, CLOSE = (
    ".ak-grid + .ak-button",
    "dd .ak-link",
    ".ak-way",
    '[aria-label="Close the details"]',
)
LARGER, SMALLER, FIT, FULL = (
    f'[aria-label="{name}"]' for name in ("Zoom in", "Zoom out", "Fit the whole graph", "Full screen")
)
OPEN, FOLD = (f'.ak-folding button:text-is("{name}")' for name in ("Open fold", "Fold again"))
IDLE = ".ak-folding [aria-disabled=true]"


def scale(hand: Hand) -> float:
    return hand.view()[0]


def a_question(hand: Hand) -> None:
    """Asked is the value of the sum, which is 440."""
    hand.click(PREDICT)
    hand.press("ArrowRight")


def verdict(hand: Hand) -> str:
    return str(hand.text(".ak-verdict"))


def way_back(hand: Hand) -> None:
    """The details of w, at the end."""
    hand.press("End", "ArrowDown", "ArrowDown")


def sum_of_an_element(hand: Hand) -> str:
    """How it came about, where the pointer or the focus is."""
    return str(hand.text(".ak-tip" if hand.find(".ak-tip").is_visible() else ".ak-sum"))


def open_a_fold(hand: Hand) -> None:
    hand.click(OPEN)
    _until(count(IDLE), 0, hand)


LAST, MIDDLE, LARGE = 70, 35, "[data-element=n7]"
SUM = "h[2, 1] = −2.0\n= (−1.0) · 5.0  (w[0, 1])\n+ 0.5 · 6.0  (w[1, 1])"

# fmt: off
# ruff: noqa: E501
CONTROLS = (
    # -- playing
    Control("To the start", '[aria-label="To the start"]', click('[aria-label="To the start"]'), press("Home"), step, 0),
    Control("Step back", '[aria-label="Step back"]', click('[aria-label="Step back"]'), press("ArrowLeft"), step, 8),
    Control("Step forward", '[aria-label="Step forward"]', click('[aria-label="Step forward"]'), press("ArrowRight"), step, 10),
    Control("To the end", '[aria-label="To the end"]', click('[aria-label="To the end"]'), press("End"), step, LAST),
    Control("Play", PLAY, click(PLAY), press(" "), text(PLAY), "Pause"),
    Control("Pause", PLAY, click(PLAY), press(" "), text(PLAY), "Play", before=click(PLAY)),
    Control("Step", RANGE, scrub, press(*["ArrowRight"] * (MIDDLE - 9), on=RANGE), step, MIDDLE),
    Control("Speed", SPEED, choose(SPEED, "2"), press("ArrowDown", on=SPEED), value(SPEED), "2"),
    Control("Detail", DETAIL, choose(DETAIL, "coarse"), press("ArrowDown", on=DETAIL), text(".ak-kind"), "Chapter"),
    # -- questions
    Control("Predict", PREDICT, click(PREDICT), press(" ", on=PREDICT), lambda hand: hand.find(PREDICT).get_attribute("aria-pressed"), "true"),
    Control("The answer", ANSWER, then(fill(ANSWER, "441"), click(CHECK)), type_into(ANSWER, "441"), verdict, "✓ Right: 440.0", before=a_question),
    Control("Check", CHECK, then(fill(ANSWER, "7"), click(CHECK)), then(fill(ANSWER, "7"), press("Enter", on=CHECK)), verdict, "✗ 7 is not it. Try again, or reveal.", before=a_question),
    Control("Reveal", REVEAL, click(REVEAL), press(" ", on=REVEAL), verdict, "It is 440.0.", before=a_question),
    # -- other views of the story
    Control("Code", CODE, click(CODE), press("Enter", on=CODE), visible(".ak-program"), True),
    Control("A line of the code", ".ak-line", click(LINE), press("Enter", on=LINE), title, "+  loss", before=click(CODE)),
    Control("Show as table", TABLE, click(TABLE), press(" ", on=TABLE), visible(".ak-table"), True),
    Control("A node of the table", ".ak-table .ak-link", click(ROW), press("Enter", on=ROW), title, "w", before=click(TABLE)),
    Control("Why?", WHY, click(WHY), press("Enter", on=WHY), visible(".ak-why p"), True, at=18),
    Control("The account", ACCOUNT, click(ACCOUNT), press("Enter", on=ACCOUNT), visible(".ak-account table"), True, at=LAST),
    Control("A leaf of the account", LEAF, click(LEAF), press("Enter", on=LEAF), title, "large", at=LAST, before=click(ACCOUNT)),
    # -- nodes
    Control("A node", "[data-element^=n]", click("[data-element=n0]"), press("ArrowDown"), title, "x"),
    Control("Find a node or line", SEARCH, pick(SEARCH, "b"), type_into(SEARCH, "b"), title, "b"),
    Control("Close the details", CLOSE, click(CLOSE), press("Escape"), title, "", before=press("ArrowDown")),
    Control("The source of a node", SOURCE, click(SOURCE), press("Enter", on=SOURCE), step, 3, before=press(*["ArrowDown"] * 3)),
    Control("A way of the gradient", WAY, click(WAY), press(" ", on=WAY), count(".ak-letter"), 1, before=way_back),
    Control("An element", "[data-columns], [role=grid], [role=grid] td", hover, walk_the_grid, sum_of_an_element, SUM),
    Control("More elements", MORE, click(MORE), press("Enter", on=MORE), count(".ak-grid td"), 1024, at=15, before=click(LARGE)),
    # -- the picture
    Control("Zoom in", LARGER, click(LARGER), press("+"), scale, 1.25),
    Control("Zoom out", SMALLER, click(SMALLER), press("-"), scale, 0.8),
    Control("The wheel", ".ak-seen", wheel, press("="), scale, 1.25),
    Control("Drag", ".ak-stage", lambda hand: hand.drag(-60, 0), press("Shift+ArrowRight"), Hand.view, [1, -60, 0]),
    Control("Drag up", ".ak-stage", lambda hand: hand.drag(0, -60), press("Shift+ArrowDown"), Hand.view, [1, 0, -60]),
    Control("Fit the whole graph", FIT, click(FIT), press("0"), Hand.view, [1, 0, 0], before=press("+", "+")),
    Control("Full screen", FULL, click(FULL), press("f"), is_full, True),
    Control("Colours", ".ak-legend > summary", click(".ak-legend > summary"), press("Enter", on=".ak-legend > summary"), visible(".ak-legend ul"), True),
    # -- chapters, which the scrubber has ticks for
    Control("The next chapter", RANGE, scrub, press("PageDown", "PageUp", *["PageDown"] * 7), text(".ak-phase"), "← Backward"),
    # -- folds
    Control("Open fold", OPEN, click(OPEN), press("Enter"), count(IDLE), 0, player=1),
    Control("A folded box", "[data-part=fold]", click("[data-part=fold]"), press("Enter"), count(IDLE), 0, player=1),
    Control("Fold again", FOLD, click(FOLD), press("Backspace"), count(IDLE), 1, player=1, before=open_a_fold),
)
# fmt: on


def walk(page: Any, players: Sequence[Any]) -> None:
    """Use every control by mouse and by key; ``players`` are those of ``CELLS``."""
    for control in CONTROLS:
        hand = Hand(page, players[control.player])
        for way, use in (("mouse", control.mouse), ("key", control.key)):
            if control.player and hand.root.locator(IDLE).count() == 0:
                hand.press("Backspace")
                _until(count(IDLE), 1, hand)
            hand.ready(control.at)
            control.before(hand)
            assert control.seen(hand) != control.expected, f"{control.name} has nothing to do by {way}"
            use(hand)
            seen = _until(control.seen, control.expected, hand)
            assert seen == control.expected, f"{control.name} by {way}: {seen!r}"


def _until(seen: Act, expected: Any, hand: Hand) -> Any:
    """What is seen, with patience: some things the kernel has to bring."""
    for _ in range(200):
        if seen(hand) == expected:
            break
        hand.page.wait_for_timeout(20)
    return seen(hand)
