"""The language server: linting as one types, over pygls (the `lsp` extra)."""
