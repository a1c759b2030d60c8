"""Sentences that mean the same are near each other."""

import transformers

from hra.domains.tokens.embedding.pretrained import sentence_embedder

asked, near, far = sentence_embedder()(["the date of birth", "when was she born?", "the price of oranges"])
assert float(asked @ near) > float(asked @ far) + 0.1
print(f"transformers {transformers.__version__}")
