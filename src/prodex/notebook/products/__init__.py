"""The products: facets, words, the table, the export."""
