"""Long runs that print figures (`make soak`): how fast, how large, and whether anything was lost."""
