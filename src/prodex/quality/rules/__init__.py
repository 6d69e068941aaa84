"""The rules of prodex, by block; importing this registers them."""

from prodex.quality.rules import (  # noqa: F401 - a rule is known once its module was imported
    allergens,
    claims,
    classification,
    food,
    freshness,
    hierarchies,
    identity,
    ingredients,
    market_laws,
    measures,
    nutrition,
    pictures,
    statements,
    status,
    texts,
    wording,
)
