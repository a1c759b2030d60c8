"""The tokens suite: methods of choosing tokens beside published reducers.

Cases of features, images and selection, and the published reducers that are timed beside them.
"""
