"""Publishing, on folders and on an S3 server of our own."""
