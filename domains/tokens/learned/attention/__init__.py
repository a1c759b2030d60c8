"""Attention in less than quadratic time, in place of ``torch.nn.functional.scaled_dot_product_attention``."""
