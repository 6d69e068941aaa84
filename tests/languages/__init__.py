"""Tests of what prodex writes and reads in other languages than English."""
