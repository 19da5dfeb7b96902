"""What rules on host code share: launch paths, cold code, streams, waits, memory."""
