"""The HTTP door: requests in, documents and problem documents out."""
