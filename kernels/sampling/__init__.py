"""Look-ups in image pyramids between pixels and between levels, as the texture units of a GPU do them.

Trilinear and anisotropic filters, and what backends share of them; how a pyramid is made belongs to ``pyramids``.
"""
