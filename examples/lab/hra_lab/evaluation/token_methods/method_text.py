"""The text of the page that compares token methods."""

from __future__ import annotations

from string import Template

from hra_lab.evaluation.token_methods.guide import GUIDE

PAGE = Template(
    GUIDE
    + """
Written by one command; choices and qualities are the same every time, milliseconds are those of the machine, in
processor time:

    hra eval pixels --out docs

Every method shows $images real images with exactly 273 tokens of 16 x 16 pixels. Images of fewer than 4,096 patches get
the same share of theirs and have tables of their own, so that no mean is over 19 and 273 tokens. Methods that spend 256
tokens on a base first are shown with what they were made for, 529 tokens, beside others with as many.
`hra tokens compare IMAGE` does it for an image of yours and draws a contact sheet; the
[tutorial](tutorials/273-tokens.md) does it in Python. Numbers are means over the images, unless they say otherwise.

- **PSNR, SSIM** of the image that the tokens alone give back.
- **over down-sampling**: PSNR less that of `$baseline`, the whole image made smaller until its patches are the budget.
- **shown**: share of the pixels that some token shows. What no token shows is guessed from the others.
- **empty cells** of an 8 x 8 grid: nothing of them is shown.
- **gain**: share of the relevance-weighted squared error of a canvas of the mean colour that the tokens remove, with
  the same relevance (`CueRelevance`) for every method; negative where a flat canvas would be better.
- **redundancy**: mean over tokens of the largest cosine similarity to another one.
- **residual gap**: how much more error remains than the bound allows as the least, by the method's own objective, on
  the worst image; a dash where its gains do not add up, so that nothing is claimed.
- **ms, to select**: medians of processor time from the image to its tokens, and of the choice alone, repeated when
  everything that follows from image and query is known.

`$first` is the classic selection. `$oracle` is the proven best cut of the pyramid for the squared error that PSNR
measures: hardly any other cut of the same pyramid shows the whole image better. It needs no knowledge beyond the image:
`even-pyramid` aims at the same error without the proof. All others serve a query, or a rule of their own.

PSNR counts every pixel alike. A method that leaves out what a question does not need *must* lose by it. Whether a model
answers better with its tokens is not measured here, and no number on this page says so.

$tables

## What the numbers say

$findings

## Why documents gain little

An allocation beats even detail only as far as error is uneven: it takes detail from where little is lost by it and
gives it to where much is. At a quarter of the resolution, the worst tenth of the patches holds $photo_share of the
squared error of a photo, but $document_share of that of a document: text is everywhere, and 273 of thousands of patches
make only a few lines of it sharp. So even the oracle gains $oracle_documents dB over down-sampling on documents, where
it gains $oracle_photos dB on photos. Regions that follow the page (`semantic-tree`) are not bound to squares that are
half paper: $tree_documents dB on documents, $tree_photos dB on photos. What pays on a page is to know which lines
matter, or to value text only once it can be read (`tokens.Legibility`); no error of pixels says so.

## Methods

$methods

## Images

$sources

$skipped"""
)
"""Placeholders are filled in by `hra_lab.evaluation.token_methods.method_page.render`."""
