"""Token sets: values, boxes, levels and position codes of the tokens that were chosen, for one image or a batch.

What becomes of tokens after the choice, whatever method chose them, belongs here.
"""
