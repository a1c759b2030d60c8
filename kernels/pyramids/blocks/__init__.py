"""Square blocks of a pyramid's levels: what they leave wrong, by block, node or tile, and their pixels.

The same four functions in every backend: `level_errors`, `node_errors`, `enlarged_squares` and `take_blocks`.
"""
