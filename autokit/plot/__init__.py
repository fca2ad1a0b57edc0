"""Charts that stand still, drawn by matplotlib on axes that the caller may pass in."""

from __future__ import annotations
