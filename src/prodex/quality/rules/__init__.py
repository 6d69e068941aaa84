"""The rules that come with prodex, by block; importing this registers them."""

from prodex.quality.rules import (
    characters,
    classification,
    freshness,
    hierarchies,
    identity,
    languages,
    measures,
    picture_files,
    pictures,
    status,
    texts,
    wording,
)

#: Changes whenever a rule is added, changed or taken away: scores of different versions are not the same measure.
RULE_SET = "1"

__all__ = [
    "RULE_SET",
    "characters",
    "classification",
    "freshness",
    "hierarchies",
    "identity",
    "languages",
    "measures",
    "picture_files",
    "pictures",
    "status",
    "texts",
    "wording",
]
