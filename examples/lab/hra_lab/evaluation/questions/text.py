"""The text of the page about questions."""

from __future__ import annotations

from string import Template

PAGE = Template("""# Tokens that know the question

Written by one command; choices are the same every time, seconds are those of the machine, in processor time:

    hra eval questions --out docs

Every image was made from a seed (`hra_lab.inputs.documents`), so that the answers and their places are known.

## Can the answer be read from the tokens alone?

$documents receipts, forms and letters in varied fonts and sizes, with grain, or photographed by a camera model
(perspective, uneven light, blur, noise, JPEG); one field of each is asked for. `PyramidSampling` spends the tokens,
they are made an image again, and OCR (the recogniser of RapidOCR) reads the place of the answer. It counts as read
when all of its letters and digits are right. Of the images themselves it reads $full.

$read

- **oracle** knows where the answer stands; **phrase** is `PhraseRelevance`, asked in the words of the label;
  **paraphrased** asks in others, such as "what did the customer spend?"; **layout** finds lines and reads none;
  **uniform** knows nothing.
- Of what the oracle's tokens give, phrase gives $ratio at $budgets tokens,
  and $paraphrased where the question paraphrases.
- The coarse pass of phrase (find lines on a coarse copy, read candidates until one fits, match) took at most $median s
  of processor time for half of the pages, and at most $late s for 95 of 100, on one core; $quick of them took no more
  than the 0.5 s aimed at. It found $found lines and read $lines of them on average.
$findings

Forms, receipts and letters by themselves:

$layouts

Photographs alone:

$photos

`PhraseRelevance` was developed on pages of other seeds. Paraphrases share no word with any label of what they ask for;
some share one with the label of something else ("when was this printed?" of a date, on a receipt with "Printed at
22:42"). Labels, questions, paraphrases and the small thesaurus that `PhraseRelevance` matches paraphrases with
(`text/glosses.py`) were written by the same hands, before the evaluation but with these kinds of fields in mind. On
other documents paraphrases will do worse. The judge and the reader are one recogniser: what it cannot read at full
detail counts against all methods alike.

## How much of the answer is shown in full detail?

$pairs questions to pages and to canvases of labelled pictures; in $adversarial of them words of the question also
stand elsewhere in the image: in slogans, in other labels, or as a wrong name below another picture. The numbers are
the share of the answer's box that tokens of the finest level show, by tokens spent. `imagenet` is
`ImageNetRelevance`; a dash in the column of relevances means that the preset does not ask for any, elsewhere that a
budget is too small for the preset. The boxes of canvases have 100 to 196 patches, more than the small budgets.

### Pages

$page

### Canvases

$canvas

### `pyramid`, only where words of the question also stand elsewhere

$misleading

## Your own pages

    hra eval questions --images FOLDER --gold FILE [--out docs]

FILE has one JSON object a line: `image` (a path below FOLDER), `question`, `answer`, `boxes` (a list of [x0, y0, x1, y1] in pixels: every
place where the answer stands, what is asked for first) and, where wanted, `paraphrase` and `set`. `--seed` makes other pages. Numbers for
pages that nobody here made are in [results](results.md#questions-to-pages-that-nobody-here-made); those above are of made pages.
""")
"""Placeholders are filled in by `hra_lab.evaluation.questions.page.render`."""
