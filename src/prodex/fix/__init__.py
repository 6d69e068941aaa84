"""Worklists that come back: answers are read, checked, previewed and sent."""
