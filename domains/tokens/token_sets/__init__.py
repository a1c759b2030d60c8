"""Token sets: values, boxes, levels and position codes of the tokens that were chosen, for one image or a batch.

The processing of tokens after the choice belongs here, for all methods.
"""
