"""The way to the network, for the service and for pictures: addresses, HTTP, failures, retries, downloads."""
