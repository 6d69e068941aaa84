"""The exchange service: settings, token, client (one method per endpoint), paging."""

from prodex.service.client import Client
from prodex.service.connection import connect
from prodex.service.page import Page
from prodex.service.paging import PullReport, pages
from prodex.service.retry import RetryPolicy

__all__ = ["Client", "Page", "PullReport", "RetryPolicy", "connect", "pages"]
