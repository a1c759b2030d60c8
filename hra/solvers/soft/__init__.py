"""The differentiable cut: the Gibbs distribution over all valid cuts of a forest, in torch (extra ``hra[torch]``)."""
