"""The answers of `cudalint graph` in each format. Finding them is `cudalint.hostcode`'s."""
