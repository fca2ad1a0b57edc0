"""A live widget on a page, joined with its Python side as a notebook joins them."""

from __future__ import annotations

from typing import Any

_SHOW = """async ({ code, css, traits, key, buffers }) => {
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  document.body.className = "ak-follows-system";
  const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const listeners = new Map(), changed = {}, custom = [];
  const taken = (given) => Object.fromEntries(Object.entries(given).map(([name, value]) =>
    [name, buffers.includes(name) ? new DataView(new Uint8Array(value).buffer) : value]));
  Object.assign(traits, taken(traits));
  const put = (name, value) => {
    if (JSON.stringify(traits[name]) === JSON.stringify(value) && !buffers.includes(name)) return false;
    traits[name] = value;
    return true;
  };
  const calls = (name) => listeners.get("change:" + name) ?? [];
  const tell = (names) => names.flatMap(calls).forEach((call) => call());
  const model = {
    get: (name) => traits[name],
    set(name, value) { if (put(name, value)) { changed[name] = value; tell([name]); } },
    save_changes() {
      const sent = { ...changed };
      for (const name of Object.keys(changed)) delete changed[name];
      if (window.dead) throw new Error("the kernel is dead");
      window.toPython(key, sent);
    },
    on: (event, call) => listeners.set(event, [...(listeners.get(event) ?? []), call]),
    off: (event, call) => listeners.set(event, (listeners.get(event) ?? []).filter((c) => c !== call)),
  };
  window.widgets ??= {};
  const el = document.body.appendChild(document.createElement("div"));
  el.dataset.widget = key;
  const close = module.default.render({ model, el });
  window.widgets[key] = { close, listening: () => [...listeners.values()].flat().length,
    hear(given) {
      const now = taken(given);
      tell(Object.keys(now).filter((name) => put(name, now[name])));
    } };
}"""


class Shown:
    """A widget on a page; ``locator`` is where it stands."""

    def __init__(self, page: Any, widget: Any, key: str) -> None:
        self.page, self.widget, self.key = page, widget, key
        self.locator = page.locator(f"[data-widget={key}]")

    def traits(self) -> dict[str, Any]:
        state = self.widget.get_state()
        return {
            name: list(bytes(value)) if isinstance(value, bytes | memoryview) else value
            for name, value in state.items()
            if not name.startswith(("_model", "_view", "_dom", "_esm", "_css", "_anywidget"))
            and name != "layout"
        }

    def update(self) -> None:
        """Let the page hear what Python's side says now."""
        self.page.evaluate("([key, traits]) => window.widgets[key].hear(traits)", [self.key, self.traits()])

    def close(self) -> int:
        """Take the view down; how many listeners it leaves behind."""
        return int(
            self.page.evaluate(
                "(key) => { window.widgets[key].close(); return window.widgets[key].listening(); }", self.key
            )
        )


def show(page: Any, *widgets: Any) -> list[Shown]:
    """Show widgets on an empty page; whatever a hand moves there reaches Python, and the answer the page."""
    shown: dict[str, Shown] = {}

    def to_python(key: str, traits: dict[str, Any]) -> None:
        widget = shown[key].widget
        with widget.hold_trait_notifications():
            for name, value in traits.items():
                setattr(widget, name, value)
        waiting.append(key)

    waiting: list[str] = []
    page.expose_function("toPython", to_python)
    for number, widget in enumerate(widgets):
        key = f"w{number}"
        shown[key] = one = Shown(page, widget, key)
        buffers = [
            name for name, value in widget.get_state().items() if isinstance(value, bytes | memoryview)
        ]
        page.evaluate(
            _SHOW,
            {"code": widget._esm, "css": widget._css, "traits": one.traits(), "key": key, "buffers": buffers},
        )
    return list(shown.values())
