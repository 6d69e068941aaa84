"""Product records: the store that holds them, who sees them, and how they are written."""
