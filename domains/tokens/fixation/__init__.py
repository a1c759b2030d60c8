"""Where to look first, what counts from there, and when enough has been seen."""
