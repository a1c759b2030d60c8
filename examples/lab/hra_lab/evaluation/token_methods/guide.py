"""The half page before the table of token methods."""

GUIDE = """# Visual tokens

![273 tokens for "what does the figure show?" on a page, and what they alone give back, with a legend of levels](pictures/tokens_sheet.jpg)

**Half a page first.** An image is cut into patches at every level of a pyramid; a budget of tokens goes to the patches that
leave least error, or least of the error that matters to a question. The count is met exactly, at any image size.

| you want | command | in Python |
| --- | --- | --- |
| tokens of an image, and to see them | `hra tokens allocate page.png --budget 273 -o sheet.png` | `tokens.PyramidSampling().allocate((image, ""), budget=273)` |
| tokens for a question | `... --query "what is the total?"`, extra `ocr` | `tokens.PyramidSampling(tokens.PhraseRelevance())` |
| `[B, K, D]` from your encoder's features | | `chosen.pool(features)`, `tokens.batch_tokens`: [tutorial](tutorials/tokens-for-pytorch.md) |
| all methods on your image | `hra tokens compare page.png -o sheet.png` | `tokens.preset(name)` |
| a method | `even-pyramid` shows the whole image best; `pyramid` follows a question; `downsample` is the baseline to beat | |

The command says so where it could not use the question. Relevance moves tokens to what a question is about, so the error of
the whole image may rise: measure what you need. [Tokens that know the question](../examples/lab/docs/questions.md) measures how often answers
stay readable, the [tutorial](tutorials/273-tokens.md) goes through it in Python.

What follows is the record: every method, compared on real images.

## All methods compared
"""  # noqa: E501
