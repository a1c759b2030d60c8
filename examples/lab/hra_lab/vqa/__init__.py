"""Published question answering: data sets that lie in a local folder as they were published, and their official scores.

Nothing is fetched. `load` gives sets of `Sample`, each score takes an answer and what people answered.
"""
