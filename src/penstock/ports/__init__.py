"""What the core asks of the outside: small protocols at the height of the domain verb."""
