"""The engine below the panels: conditions, facets, search, coverage and cards; it draws nothing."""
