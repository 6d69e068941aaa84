"""The explorer of products: facets, search, table, and export."""
