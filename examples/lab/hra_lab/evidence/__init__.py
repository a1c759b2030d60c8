"""The learned experiment: made canvases with questions, a small reader of tokens, its training, and what it answers.

One way: a seeded generator makes canvases, every method turns each into tokens under the same budgets, a transformer
learns to answer questions from tokens alone, and the tests count what it answers. Nothing here needs weights or data
from outside the repository.
"""
