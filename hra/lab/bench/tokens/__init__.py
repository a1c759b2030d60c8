"""The tokens suite: methods of choosing tokens beside published reducers."""
