"""The laws on food, and on what is offered beside food, that rules of this pack name."""

from __future__ import annotations

from datetime import date

from prodex.packs import Law

HEALTH_CLAIMS = Law(
    id="health-claims",
    number="Regulation (EC) No 1924/2006",
    name="Nutrition and health claims made on foods",
    in_force=date(2007, 7, 1),
    source="https://eur-lex.europa.eu/eli/reg/2006/1924",
    checked=date(2026, 11, 27),
    read_in="https://www.legislation.gov.uk/eur/2006/1924 and copies of the consolidated text",
)

PRODUCT_SAFETY = Law(
    id="product-safety",
    number="Regulation (EU) 2023/988",
    name="General product safety",
    in_force=date(2024, 12, 13),
    source="https://eur-lex.europa.eu/eli/reg/2023/988",
    checked=date(2026, 11, 27),
    read_in="a copy of Art. 2 at eurlexa.com, and Art. 19 and its day in three summaries",
)

HONEY = Law(
    id="honey",
    number="Directive (EU) 2024/1438",
    name="Origin of honey",
    in_force=date(2026, 6, 14),
    source="https://eur-lex.europa.eu/eli/dir/2024/1438",
    checked=date(2026, 11, 27),
    read_in="summaries of the food authority of Ireland, of eumonitor.eu (its days) and of the press",
)

PACKAGING = Law(
    id="packaging",
    number="Regulation (EU) 2025/40",
    name="Packaging and packaging waste",
    in_force=date(2026, 8, 12),
    source="https://eur-lex.europa.eu/eli/reg/2025/40",
    checked=date(2026, 11, 27),
    read_in="three summaries of Art. 12, which agree on its days",
)

DEFORESTATION = Law(
    id="deforestation",
    number="Regulation (EU) 2023/1115",
    name="Deforestation-free products",
    in_force=date(2026, 12, 30),
    source="https://eur-lex.europa.eu/eli/reg/2023/1115",
    checked=date(2026, 11, 27),
    read_in="summaries of Regulation (EU) 2025/2650, which moved its days for the second time",
)

UNIT_PRICE = Law(
    id="unit-price",
    number="Directive 98/6/EC",
    name="Prices per unit",
    in_force=date(2000, 3, 18),
    source="https://eur-lex.europa.eu/eli/dir/1998/6",
    checked=date(2026, 11, 27),
    read_in="a copy of Art. 3 at legislation.gov.uk, and its day at eumonitor.eu",
)
