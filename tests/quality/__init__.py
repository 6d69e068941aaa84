"""Judging a catalogue: tests mirror the modules of prodex.quality."""
