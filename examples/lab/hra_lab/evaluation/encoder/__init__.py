"""A real frozen encoder of images in the loop: how much of its output is left when it sees fewer tokens."""
