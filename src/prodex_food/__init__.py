"""Food: rules that judge what suppliers declare about food by the law, and the profile `food-eu`.

A pack of rules as anybody can write one: prodex finds it through the entry point group `prodex.rules`, and it imports
nothing of prodex but `prodex.packs`. Its rules are known once this package was imported.
"""

from prodex_food.rules import (  # noqa: F401 - a rule is known once its module was imported
    allergens,
    claims,
    declarations,
    ingredients,
    market_laws,
    nutrition,
    statements,
)
