"""How many examples Hypothesis draws of a law: all of them in `make test`, a tenth in `make check`."""

from __future__ import annotations

import os


def examples(number: int) -> int:
    """Return how many examples to draw where `make test` draws so many.

    >>> examples(60) in {60, 6}
    True
    """
    return max(number // 10, 1) if os.environ.get("PRODEX_QUICK_TESTS") else number
