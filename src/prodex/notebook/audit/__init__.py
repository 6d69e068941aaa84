"""The audit panel: overview, heat map, table of checks, and export."""
