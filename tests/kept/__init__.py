"""What prodex leaves on a user's disk, in small: every kind of file, with the layouts of today."""
