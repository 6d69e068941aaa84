"""Files that are whole or not there, files that may be from somebody else, and Parquet that shows every damage."""
