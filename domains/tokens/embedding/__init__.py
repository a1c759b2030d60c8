"""Tokens as a model takes them: embeddings selected, pooled or encoded for a cut, and where the tokens are.

The features and positions of tokens for a model belong here; `hra.domains.tokens.TokenSet` calls it. Which tokens there
are is decided before, and so are their pixels.
"""
