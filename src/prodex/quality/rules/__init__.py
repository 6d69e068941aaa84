"""The rules of prodex, by block; importing this registers them."""

from prodex.quality.rules import (  # noqa: F401 - a rule is known once its module was imported
    classification,
    freshness,
    hierarchies,
    identity,
    measures,
    pictures,
    status,
    text_contents,
    texts,
)
