"""What a page says, and where that is to a question."""

import numpy as np

import hra
from hra.domains import tokens
from hra.domains.tokens.text.reader import found_lines, read_lines
from hra.files.images import load_image

image = load_image(hra.samples.path("page.png"))
lines = read_lines(image, 1.0, found_lines(image, 1.0))
text = " ".join(line.text for line in lines)
assert len(lines) > 10 and "Page Layout" in text, text
context = tokens.TokenContext.of(image, "what does the text say of a paragraph?")
relevance = tokens.PhraseRelevance(read=True)(context)
assert np.isfinite(relevance).all() and relevance.min() > 0
assert context.counts["lines read"] > 0, context.counts
