"""What `make bench` measures, and against whom."""
