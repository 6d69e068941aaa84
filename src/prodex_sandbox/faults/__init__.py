"""Faults that the sandbox commits on demand: what can go wrong, with which calls, and the middleware that does it."""
