"""Visual tokens that are dropped inside the language model, by hooks on its layers; the model's code stays as it is.

What a layer is given, what it reads and what the layers after it get belongs here. Which tokens to keep is the business
of `hra.domains.tokens`.
"""
