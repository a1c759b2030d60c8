"""The texts of the pages of both judges."""

from __future__ import annotations

from string import Template

_TABLES = """
$gate

- **oracle** knows where the answer stands: what any relevance can reach at best with a pyramid. **question** is
  relevance that follows from the question alone, with a pyramid or with patches of one scale (**grid**);
  **uniform** spends a pyramid without the question; **uniform grid** and **random** are patches of one scale in
  full detail; **down-sampling** is the whole image, smaller.
- Intervals are 95 %, by the paired bootstrap over images (2,000 draws). Only means over images are claimed.

$means

## Tokens needed for equal scores

How many tokens reach the score that down-sampling has with as many as the column says. "more" is more than 529,
"<= 16" that already the fewest tried are enough.

$needed

## Difference from down-sampling

Points of percent, with as many tokens.

$differences

## Where down-sampling fails

Only the images that down-sampling with as many tokens scores below a half; how many they are is in the last line.

$failed

$more
"""

MORE = Template("""## Also: $measure

The images themselves: $full.

$means""")
"""Placeholders are filled in by `hra_lab.evaluation.answers.page.render`."""

READING = Template(
    """# Judged by reading

Written by one command, with the scores of every page in `reading.json`:

    hra eval reading --out examples/lab/docs

Asked: $tasks made receipts, forms and letters whose words and boxes are known, one field of each, in the words of
its label. Tokens are made an image again, and the recogniser of RapidOCR reads the place of the answer. The answer is
what it reads there without spaces; the score is ANLS with its threshold of 0.5 (`hra_lab.vqa`). **The place is
given**, so that this judges what tokens show and not whether a model would find it. The relevance from the question,
`PhraseRelevance`, reads the page with the same recogniser; every third page is read by Tesseract as well, which it
has not seen.

![score against tokens](pictures/reading.png)
"""
    + _TABLES
    + """
Of the words near and far, the share is of those with three letters or digits and more, in the line nearest to the
answer and in one of the farther half of the page.
"""
)
"""Placeholders are filled in by `hra_lab.evaluation.answers.page.render`."""

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
"""Placeholders are filled in by `hra_lab.evaluation.answers.page.render`."""
