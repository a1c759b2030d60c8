"""What the page about reducers says."""

from __future__ import annotations

from string import Template

NEEDS = {
    "": "features",
    "attention": "features and attention of the encoder (CLIP, SigLIP and InternViT; not Qwen's)",
    "flow": "attention and values of all layers of the encoder, with a class token (CLIP and InternViT)",
    "pixels": "pixels alone",
    "text": "features and embeddings of the question",
    "language": "features, and two layers of the language model once more",
}

PAGE = Template("""\
# Reducers of visual tokens

Made by `hra eval reducers --out docs`. Published reducers are compositions of the parts that hra's own methods are made
of: rules that pick cells in turn ([`InTurn`](../hra/traversals/in_turn.py)), and what becomes of the others
([`merges`](../domains/tokens/methods/reducers/merges.py)). They differ from hra's methods only in their names:
`hra tokens allocate --method visionzip`, `reduce(model, inputs, allocator=REDUCERS["visionzip"](), budget=64)`. What a
model gives them, features and attention, is replaced on the command line by colour, texture and relevance.

Measured on $cells cells with $width features each, a projection of a photo's patches, and a made-up attention: times
say something, quality does not. Processor milliseconds of selection and merging at $budget tokens, relevance given;
beside them the paper's algorithm written in plain torch
([`reducers`](../examples/lab/hra_lab/bench/tokens/reducers.py)). Counts were checked at $budgets tokens. *Entering*
and *layer average* are the two numbers that papers quote, for a language model of 32 layers: these drop nothing
inside it, so that the two differ only by the layers that run twice. Times are whole: features checked, tokens chosen,
merged and pooled; ToMe's is that of the whole merge tree, which serves every budget, while the plain one stops at the
count. All on one thread (`OPENBLAS_NUM_THREADS=1`).

| method | exact count | ms | ms, plain torch | entering | layer average | needs | positions |
| --- | --- | --- | --- | --- | --- | --- | --- |
$rows

## Compositions

| method | rules, by shares | the others |
| --- | --- | --- |
$compositions

## What differs from the papers

Merging is done behind the connector, where the language model takes its tokens, and not before it. No attention has to
be "eager": the rows that are needed are computed from the queries and keys that the model itself projects.

$differences

## Inside the language model

`Dropping` lets visual tokens go on their way, see [Inside models](models.md#dropping-inside-the-language-model). Shares
of the tokens that enter, for 32 layers; with 576 tokens *entering*, the *layer average* is what papers call their
number of tokens.

| stages | before layer | share that stays | by whose attention | layer average of 576 |
| --- | --- | --- | --- | --- |
| `fastv` | 2 | 1/2 | last token, layer before | 306 |
| `pyramiddrop` | 8, 16, 24 | 1/2, 1/4, 1/8 | last token, that layer | 270 |
| `sparsevlm` | 3, 7, 16 | 300, 200, 110 of 576; 30 % take up others | words that concern it, layer before | 202.8 |
| `vscan` | 16 | 1/3 | last token, that layer | 384 |
| `aim` | 16 to 25 | 9/10 down to 0 | rank in the whole table, layer before | 368.9 |

## What is not here

- Videos: `prunevid` merges the cells of a picture, and
  [`prunevid_frames`](../domains/tokens/methods/reducers/prunevid_frames.py) those of frames, with an exact
  count; what gives models fewer tokens of pictures refuses videos.
- Dropping inside the encoder: `flowcut` scores by all of its layers and lets them run whole, `pixelprune` chooses by
  pixels what an encoder that takes any set of patches need not see. Both save the language model's time alone.
- PVC is InternVL2 trained with a progressive encoding of frames; FastVLM is an encoder (FastViTHD), trained with its
  language model, that makes fewer tokens by itself; Token Compensator is an adapter (LoRA), trained to move a ViT
  between degrees of merging. What they are is their weights: without them there is nothing to run.
- DToMA needs no training, and cannot run for another reason: it works within the layers of language models for videos,
  in three stages, where caches would differ in length and videos are refused.
""")
