"""Comments that silence findings: reading them, applying them, judging them."""
