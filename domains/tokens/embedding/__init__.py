"""Tokens as a model takes them: embeddings selected, pooled or encoded for a cut, and where the tokens are.

What a model has to do with features and positions of tokens belongs here; `hra.domains.tokens.TokenSet` calls it. Which
tokens there are is decided before, and what their pixels are, too.
"""
