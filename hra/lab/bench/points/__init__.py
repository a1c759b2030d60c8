"""The points suite: trees over clouds, and budgets over their nodes."""
