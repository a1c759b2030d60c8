"""Pictures of clouds on the processor, enough to judge cuts by.

What draws a cloud without a GPU belongs here; what moves through one, in `viewer`.
"""
