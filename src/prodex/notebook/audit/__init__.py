"""Where a catalogue stands: figures, gaps, heat map, rules."""
