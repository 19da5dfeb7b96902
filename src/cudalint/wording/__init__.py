"""What rules on text share: comments beside code, licences, families of names, deletions."""
