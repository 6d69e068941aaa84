"""What stands on disk: the journal of a running load, and snapshots."""
