"""What the panels share: their box, their state, live widgets, work in the background, sending and exporting."""
