"""Documents from the web, fetched so that no address leads into the house."""

from penstock.engines.web.fetch import FetchLimits, WebFetcher

__all__ = ["FetchLimits", "WebFetcher"]
