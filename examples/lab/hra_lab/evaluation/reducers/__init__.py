"""Published reducers side by side: exact counts, times, what they need of a model, and what they are made of.

How they are run and the page about them belong here; the reducers themselves are in
`hra.domains.tokens.methods.reducers`.
"""
