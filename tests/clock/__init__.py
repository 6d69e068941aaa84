"""The tests that have to do with dates, run with the clock and the zone of the machine moved."""
