"""What to load: every filter as a control, the live count, the load."""
