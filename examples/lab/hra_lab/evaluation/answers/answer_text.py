"""The texts of the pages of both judges."""

from __future__ import annotations

from string import Template

from hra_lab.templates import text

_TABLES = text(__package__, "answer_text.tables.txt")

MORE = Template("""## Also: $measure

The images themselves: $full.

$means""")
"""Placeholders are filled in by `hra_lab.evaluation.answers.answer_page.render`."""

READING = Template(
    """# Judged by reading

Written by one command, with the scores of every page in `reading.json`:

    hra eval reading --out examples/lab/docs

Asked: $tasks made receipts, forms and letters whose words and boxes are known, one field of each, in the words of
its label. Tokens are made an image again, and the recogniser of RapidOCR reads the place of the answer. The answer is
what it reads there without spaces; the score is ANLS with its threshold of 0.5 (`hra_lab.vqa`). **The place is
given**, so that this judges what tokens show and not whether a model would find it. The relevance from the question,
`PhraseRelevance`, reads the page with the same recogniser. Where Tesseract is installed it reads every third page, too;
relevance has not seen it.

![score against tokens](pictures/reading.png)
"""
    + _TABLES
    + """
Of the words near and far, the share is of those with three letters or digits and more, in the line nearest to the
answer and in one of the farther half of the page.

## Strata, levels and budgets

ANLS of every third page's answer for settings that [are compared in pixels](splits.md), with the tokens that are
stated; relevance follows from the question. Intervals as above; differences are points of percent from the first row.

$splits
"""
)
"""Placeholders are filled in by `hra_lab.evaluation.answers.answer_page.render`."""

SEEING = Template(
    """# Judged by seeing

Written by one command, with the scores of every scene in `seeing.json`:

    hra eval seeing --out examples/lab/docs

Asked: $tasks scenes of 1,024 pixels with five photographed things of 112 to 240 pixels on a texture, one of
them asked for.
Tokens are made an image again, the place of the thing is cut out, enlarged to 224 pixels, and named by
EfficientNet-Lite0 (ImageNet; the weights come inside a package). It is right where the likeliest of 1,000 classes is
one that names the thing. **The place is given.** The relevance from the question is `ImageNetRelevance`, the same
network: what it finds, it can also name. Five photos are few, and variety is that of place, size and ground alone.

![score against tokens](pictures/seeing.png)
"""
    + _TABLES
)
"""Placeholders are filled in by `hra_lab.evaluation.answers.answer_page.render`."""
