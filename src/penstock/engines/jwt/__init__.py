"""Tokens signed by somebody we trust: by a shared secret, or by keys that are published and change."""

from penstock.engines.jwt.keys import SecretKey
from penstock.engines.jwt.ring import KeyRing, Pace
from penstock.engines.jwt.sources import FileSource, UrlSource
from penstock.engines.jwt.tokens import JwtTokens

__all__ = ["FileSource", "JwtTokens", "KeyRing", "Pace", "SecretKey", "UrlSource"]
