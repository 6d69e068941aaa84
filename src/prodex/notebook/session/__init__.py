"""The session of a panel as one value, and what can be done with it."""
