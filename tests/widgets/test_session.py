"""The debugger of sessions as a widget: a hand on its buttons lets the run go on, and stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import autokit.static as tf
from tests.support import require
from tests.widgets.live import show
from tests.widgets.pages import violations

require("anywidget")


def test_hands_step_stop_seek_and_watch_and_the_run_ends_as_any_other(open_page: Any, tmp_path: Path) -> None:
    tf.reset_default_graph()
    w = tf.Variable([[1.0], [2.0]], name="w")
    product = tf.matmul(tf.placeholder(tf.float32, [None, 2], name="x"), w, name="product")
    tf.reduce_sum(tf.log(product, name="logarithm"), name="loss")
    tf.assign(w, w * 2, name="doubled")
    sess = tf.Session()
    sess.run(w.initializer)
    session = sess.debug()
    session.breakpoints.add("logarithm")
    session.watched["product"] = [np.ones(1), np.zeros(1)]
    widget = session.debug(["loss:0", "doubled"], {"x:0": [[0, 0], [1, 1]]})
    names = [each["names"][0] for each in widget._nodes]
    (shown,) = show(page := open_page(), widget)
    root = page.locator(".ak-session")

    def press(key: str) -> tuple[int, str]:
        root.press(key)
        shown.update()
        return widget.run.done, root.locator(".ak-sentence").inner_text()

    assert press("ArrowRight")[1].startswith(f"Before {names[1]} = ")
    assert press("ArrowLeft")[0] == 1 and widget.step == 0, "what has run stays"
    done, said = press(" ")
    assert names[done] == "logarithm" and "test_session.py, line" in said
    assert press("f")[0] == done + 1
    root.get_by_role("button", name="logarithm = Log").first.click()
    press("w")
    for words in ("[1.0986123]", "has_inf_or_nan", "product = MatMul(x, w)"):
        assert words in root.locator(".ak-panel").inner_text()
    assert sess.run(w).sum() == 3, "the variables are as before"
    assert press("End") == (len(names), "The run has ended, and the variables are written.")
    assert widget.results == [-np.inf] and sess.run(w).sum() == 6 and not violations(page)
    assert [len(session.watched[name]) for name in ("product", "logarithm")] == [3, 1]
    assert root.locator("figure").all_inner_texts()[0].startswith("product [[0.0], [3.0]]")
    assert shown.close() == 0
    widget.save(tmp_path / "session.html")
    page.goto((tmp_path / "session.html").as_uri())
    for key, count in (("Home", 0), ("Enter", done)):
        root.press(key)
        assert page.locator(".ak-count").inner_text() == f"{count} of {len(names)} nodes"
    assert "loss = Sum(logarithm) float32[] −inf" in " ".join(widget.still()["text/plain"].split())


def test_where_a_run_fails_the_widget_stands_and_says_why() -> None:
    tf.reset_default_graph()
    checked = tf.check_numerics(tf.log(tf.placeholder(tf.float32, name="x")), "the logarithm")
    widget = tf.Session().debug(checked, {"x:0": 0.0})
    widget.step = 100
    assert widget.step == widget.run.done < len(widget.run.nodes) and widget.results is None
    assert widget._where.startswith("InvalidArgumentError: the logarithm : Tensor had Inf values")
