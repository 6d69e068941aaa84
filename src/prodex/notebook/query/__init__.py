"""The query panel: every filter as a control, the live count, and the load."""
