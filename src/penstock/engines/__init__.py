"""Everything that touches disk, network or clock, one folder per technology."""
