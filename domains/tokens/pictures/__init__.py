"""Pictures of tokens on their image."""
