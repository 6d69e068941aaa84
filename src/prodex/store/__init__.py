"""What is stored on disk: the journal of a running load, and archives of snapshots and audits."""
