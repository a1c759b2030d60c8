"""Where to look first, what counts from there, and when enough has been seen.

Fixation points, the errors and confidences that follow from them, and rules to stop. Methods made of them are presets.
"""
