"""Ways to get gradients through the choice of a cut: exact expectation, straight-through, Gumbel noise, REINFORCE."""
