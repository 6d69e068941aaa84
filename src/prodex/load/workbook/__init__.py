"""Workbooks that exchange platforms export, read into a catalogue."""
