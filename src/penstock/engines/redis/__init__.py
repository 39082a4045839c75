"""The queue on Redis or Valkey: the client, and what is asked of the server."""
