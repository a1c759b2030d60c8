"""Attention in less than quadratic time, in place of ``torch.nn.functional.scaled_dot_product_attention``.

Each takes query, key and value of one sequence and has no weights: what is trained stays with the model.
"""
