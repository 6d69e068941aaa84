"""Snapshots over time, and what changed between two."""
