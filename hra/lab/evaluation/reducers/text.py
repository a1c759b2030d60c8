"""What the page about reducers says."""

from __future__ import annotations

from string import Template

NEEDS = {
    "": "features",
    "attention": "features and attention of the encoder (CLIP, SigLIP and InternViT; not Qwen's)",
    "text": "features and embeddings of the question",
    "language": "features, and two layers of the language model once more",
}

PAGE = Template("""\
# Reducers of visual tokens

Made by `hra eval reducers --out docs`. Published reducers are compositions of the parts that hra's own methods are made
of: rules that pick cells in turn ([`InTurn`](../hra/traversals/in_turn.py)), and what becomes of the others
([`merges`](../domains/tokens/reducers/merges.py)). They differ from hra's methods only in their names:
`hra tokens allocate --method visionzip`, `reduce(model, inputs, allocator=REDUCERS["visionzip"](), budget=64)`. What a
model gives them, features and attention, is replaced on the command line by colour, texture and relevance.

Measured on $cells cells with $width features each, a projection of a photo's patches, and a made-up attention: times
say something, quality does not. Processor milliseconds of selection and merging at $budget tokens, relevance given;
beside them the paper's algorithm written in plain torch ([`reducers`](../hra/lab/bench/tokens/reducers.py)). Counts
were checked at $budgets tokens. *Entering* and *layer average* are the two numbers that papers quote, for a language
model of 32 layers: nothing is dropped inside it, so that they differ only by the layers that run twice. ToMe's whole
merge tree is built, which serves every budget, while the plain one stops at the count: it takes about three times as
long. All on one thread (`OPENBLAS_NUM_THREADS=1`).

| method | exact count | ms | ms, plain torch | entering | layer average | needs | positions |
| --- | --- | --- | --- | --- | --- | --- | --- |
$rows

## Compositions

| method | rules, by shares | the others |
| --- | --- | --- |
$compositions

## What differs from the papers

Merging is done behind the connector, where the language model takes its tokens, and not before it. No attention has to
be "eager": the rows that are needed are computed from hidden states and the projections of one layer.

$differences

## What is not here

- Dropping *inside* the language model (PyramidDrop, the second stages of VScan, AIM and FastV as published, DyRate
  while decoding): layers with caches of different lengths cannot run in the unmodified model. `fastv` and `sparsevlm`
  drop before it by the attention of its first layers.
- PruneVid merges over time: videos are not reduced yet. PixelPrune drops patches before the encoder, which needs an
  encoder that takes any set of patches. FlowCut and HoloV are not built.
- PVC, FastVLM, Token Compensator and DToMA are trained: a progressive encoder, another encoder, adapters, a finetuned
  video model. Without their weights there is nothing to run.
""")
