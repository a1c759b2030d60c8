"""Relevance of a photograph to two questions, by networks whose weights are in packages."""

import numpy as np

import hra
from hra.domains import tokens
from hra.files.images import load_image

relevance = tokens.ImageNetRelevance()
assert relevance.names[281] == "tabby cat"
image = load_image(hra.samples.path("photo.jpg"))
cat, cup = (relevance(tokens.TokenContext.of(image, query)) for query in ("the cat", "a coffee cup"))
assert np.isfinite(cat).all() and cat.shape == cup.shape and not np.allclose(cat, cup)
