"""The residency suite: what is on the screen for the bytes that are held, beside other rules over camera paths."""
