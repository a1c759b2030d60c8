"""Selection and compression of visual tokens, each alone and both together, at equal counts.

What is shown of features, how the learned compressor is trained for it, and the page belong here; the compressors
themselves are in `hra.domains.tokens.methods.gestalt` and `hra.domains.tokens.learned`.
"""
