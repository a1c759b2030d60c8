"""Look-ups in image pyramids between pixels and between levels, as the texture units of a GPU do them."""
