"""The snapshot panel: list, development over time, and comparison."""
