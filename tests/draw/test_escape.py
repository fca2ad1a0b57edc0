"""Escaping: what comes out is well-formed, and shows what went in."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autokit.draw.escape import isolate, visible, xml


@given(st.text(st.characters(codec=None)))
def test_any_text_parses_back_to_its_visible_form(text: str) -> None:
    element = ET.fromstring(f'<t a="{xml(text)}">{xml(text)}</t>'.encode())
    assert element.get("a") == visible(text)
    assert (element.text or "") == visible(text)


@pytest.mark.parametrize(
    "character", ["\x00", "\x1b", "\u202e", "\u2066", "\ud800", "\uffff", "\n", "\u200b"]
)
def test_what_cannot_be_seen_is_spelled_out(character: str) -> None:
    shown = visible(f"a{character}b")
    assert shown.isprintable()
    assert character not in shown
    assert shown.startswith("a\\") and shown.endswith("b")


@given(st.text(st.characters(max_codepoint=0x24F, exclude_categories=["C", "Z"])))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_a_right_to_left_name_keeps_its_direction_to_itself() -> None:
    assert isolate("שלום") == "\u2068שלום\u2069"
    assert isolate("loss") == "loss"
