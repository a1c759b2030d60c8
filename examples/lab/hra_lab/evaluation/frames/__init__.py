"""What frames of a cluster mesh look like: cuts at one pixel beside full detail, and what pops on a slow zoom.

Subjects, pictures, the two measurements, and the page that examples/lab/docs/frame-quality.md is.
"""
