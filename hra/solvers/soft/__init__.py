"""The differentiable cut: the Gibbs distribution over all valid cuts of a forest, in torch (extra ``hra[torch]``).

Torch is imported only when a soft cut is requested. Everything that gradients pass through belongs here: sweeps over
levels, moments, the price and its implicit gradient, and the rounding to a hard cut.
"""
