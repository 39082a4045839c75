"""The live door: events to every tab of a user while they happen, over WebSocket and as a stream."""
