from __future__ import annotations

from collections.abc import Iterator

import pytest

from autokit.static.tf.graph import DEFAULT, reset_default_graph


@pytest.fixture(autouse=True)
def new_graph() -> Iterator[None]:
    reset_default_graph()
    yield
    DEFAULT.session = None
