"""Visual tokens that are dropped inside the language model, by hooks on its layers; the model's code stays as it is.

The inputs of a layer, what it reads and what it passes on belong here. Which tokens to keep is the business of
`hra.domains.tokens`.
"""
