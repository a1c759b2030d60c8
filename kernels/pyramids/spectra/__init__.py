"""Fourier spectra of planes, filtered, cut off and turned back: the steps of the steerable pyramid, per backend.

The same functions in every backend; a spectrum is [P, h, w // 2 + 1], the half of it that real planes [P, h, w] need.
"""
