"""The network, for the service and for pictures: addresses, connections, retries, response bodies, downloads."""
