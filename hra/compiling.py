"""Numba's ``njit`` as every compiled function of hra uses it."""

from __future__ import annotations

import functools

import numba

# Numba also compiles an entry point for C, which nothing calls, for each function: about a tenth of the first use.
njit = functools.partial(numba.njit, no_cfunc_wrapper=True)  # pyright: ignore[reportCallIssue]: not in its types
