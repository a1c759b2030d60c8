"""The models suite: what fewer visual tokens save a vision-language model, and what choosing them costs.

Models of random weights and the clock around their parts belong here; how tokens are chosen and counted does not.
"""
