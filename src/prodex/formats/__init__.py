"""Exports: one module for each format, written batch by batch so that nothing has to fit in memory, and read back."""
