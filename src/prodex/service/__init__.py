"""The exchange service: settings, token, client (one method per endpoint), paging."""

from prodex.network.retry import RetryPolicy
from prodex.service.client import Client
from prodex.service.connection import connect
from prodex.service.paging import ProductPage
from prodex.service.pull import pages

__all__ = ["Client", "ProductPage", "RetryPolicy", "connect", "pages"]
