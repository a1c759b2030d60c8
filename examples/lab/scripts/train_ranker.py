"""Train the ranker of candidates on made pages: python examples/lab/scripts/train_ranker.py [PAGES [SEED]].

Writes domains/tokens/text/ranker.json. Needs torch, and MiniLM for the features of meaning.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from hra.domains.tokens.text import candidates as candidates_of
from hra.domains.tokens.text import meaning
from hra.domains.tokens.text.candidates import FEATURES, Candidate, candidate_features, candidates
from hra.domains.tokens.text.ranker import PAGE_FEATURES, page_features
from hra_lab.inputs.documents.ambiguous import AmbiguousPage, ambiguous_page
from hra_lab.inputs.documents.labelled import labelled_page

_HIDDEN, _EPOCHS, _BATCH = (32, 16), 20, 64
_NETWORKS = 6
_FORMS = 7 / 30  # forms of columns and letters for each other page
_QUESTIONS = 4  # of a page, at most
# Made pages lack the answer more often than people ask for what is not there; fitted on the development half of pages
# that nobody made here, by the likelihood of what is right.
_THERE = 2.4
_NO_MODEL = 0.2  # share of the questions without MiniLM

Case = tuple[np.ndarray, np.ndarray, bool]
"""Features, which candidates are the answer, and whether none is."""


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def cases(count: int, seed: int, make: Callable[[np.random.Generator], AmbiguousPage]) -> list[Case]:
    """Questions to made pages."""
    found = []
    plain = candidates_of.same_meaning
    for number in range(count):
        random = np.random.default_rng((seed, number))
        page = make(random)
        parts = candidates(page.lines)
        for place in random.permutation(len(page.asked))[:_QUESTIONS]:
            question, answer, numbers = page.asked[place]
            without = random.random() < _NO_MODEL
            candidates_of.same_meaning = (lambda _, labels: np.zeros(len(labels))) if without else plain
            rows = candidate_features(question, page.lines, parts)
            right = np.array([_is_right(one, answer, numbers) for one in parts], bool)
            if len(rows):
                found.append((rows.astype(np.float32), right, not right.any()))
    candidates_of.same_meaning = plain
    return found


def _is_right(one: Candidate, answer: str, numbers: tuple[int, ...]) -> bool:
    """The right line, and the right part of it: letters may be misread, so lengths decide."""
    if one.line not in numbers:
        return False
    said, wanted = _letters(one.text), _letters(answer)
    return abs(len(said) - len(wanted)) <= 1 and (
        said == wanted or sum(map(str.__eq__, said, wanted)) >= 0.7 * len(wanted)
    )


class Net(torch.nn.Module):
    """Scores of candidates and of elsewhere."""

    def __init__(self, mean: np.ndarray, spread: np.ndarray) -> None:
        super().__init__()
        self.mean, self.spread = torch.tensor(mean), torch.tensor(spread)
        sizes = (len(FEATURES), *_HIDDEN, 1)
        self.layers = torch.nn.ModuleList(torch.nn.Linear(*pair) for pair in pairwise(sizes))
        self.elsewhere = torch.nn.Linear(PAGE_FEATURES, 1)

    def forward(self, rows: torch.Tensor, pages: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores of candidates [N] and of elsewhere [B]."""
        hidden = (rows - self.mean) / self.spread
        for number, layer in enumerate(self.layers):
            hidden = layer(torch.nn.functional.dropout(torch.relu(hidden), 0.2, self.training) if number else hidden)
        return hidden[:, 0], self.elsewhere(pages)[:, 0]


def loss_of(net: Net, batch: list[Case]) -> torch.Tensor:
    """Mean negative log of the probability of what is right."""
    rows = torch.tensor(np.concatenate([one[0] for one in batch]))
    pages = torch.tensor(np.stack([page_features(one[0]) for one in batch]).astype(np.float32))
    scores, none = net(rows, pages)
    parts = scores.split([len(one[0]) for one in batch])
    nowhere = torch.tensor([one[2] for one in batch])
    right = torch.tensor(np.concatenate([one[1] for one in batch]))
    told = torch.where(right, scores, -torch.inf).split([len(one[0]) for one in batch])
    everything = torch.cat([_padded(parts), none[:, None]], dim=1)
    answers = torch.cat([_padded(told), torch.where(nowhere, none, -torch.inf)[:, None]], dim=1)
    return (torch.logsumexp(everything, 1) - torch.logsumexp(answers, 1)).mean()


def _padded(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.nn.utils.rnn.pad_sequence(list(parts), batch_first=True, padding_value=-torch.inf)


def train(made: list[Case], scale: tuple[np.ndarray, np.ndarray], seed: int) -> Net:
    """The network of least loss on the pages, with the mean and spread of the features."""
    torch.manual_seed(seed)
    net = Net(*scale)
    steps = _EPOCHS * -(-len(made) // _BATCH)
    adam = torch.optim.AdamW(net.parameters(), 3e-3, weight_decay=0.05)
    slower = torch.optim.lr_scheduler.OneCycleLR(adam, 3e-3, total_steps=steps)
    random = np.random.default_rng(seed)
    for epoch in range(_EPOCHS):
        order, sums = random.permutation(len(made)), 0.0
        for first in range(0, len(made), _BATCH):
            chosen = [made[i] for i in order[first : first + _BATCH]]
            loss = loss_of(net, chosen)
            adam.zero_grad()
            loss.backward()
            adam.step()
            slower.step()
            sums += float(loss.detach()) * len(chosen)
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1}: {sums / len(made):.3f}", flush=True)
    return net.eval()


def main(pages: int, seed: int) -> None:
    """Make pages, train, judge on pages of another seed, write."""
    known: dict[str, np.ndarray] = {}
    embed = meaning._vectors

    def remembered(texts: tuple[str, ...]) -> dict[str, np.ndarray]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(embed(tuple(new)) if new else {})
        return known

    meaning._vectors = remembered
    torch.set_num_threads(1)
    made, forms = cases(pages, seed, ambiguous_page), cases(round(_FORMS * pages), seed + 7, labelled_page)
    print(f"{len(made)} and {len(forms)} questions, {len(known)} texts", flush=True)
    rows, nets = np.concatenate([one[0] for one in made]), []
    scale = rows.mean(axis=0), np.maximum(rows.std(axis=0), 0.05).astype(np.float32)
    few = max(pages // 10, 1)
    held = cases(few, seed + 1, ambiguous_page), cases(few, seed + 1, labelled_page)
    for number in range(_NETWORKS):
        nets.append(train([*made, *forms], scale, seed + number))
        with torch.no_grad():
            plain, formal = (float(loss_of(nets[-1], one)) for one in held)
        print(f"network {number + 1} on held out pages: {plain:.3f}, forms and letters: {formal:.3f}", flush=True)
    written = {
        "mean": scale[0].tolist(),
        "spread": scale[1].tolist(),
        "networks": [
            {
                "layers": [{"weight": one.weight.tolist(), "bias": one.bias.tolist()} for one in net.layers],
                "elsewhere": [*net.elsewhere.weight[0].tolist(), float(net.elsewhere.bias) - _THERE],
            }
            for net in nets
        ],
    }
    short = json.loads(json.dumps(written), parse_float=lambda text: float(f"{float(text):.5g}"))
    target = Path(__file__).parents[3] / "domains/tokens/text/ranker.json"
    target.write_text(json.dumps(short) + "\n")
    print(f"{target.stat().st_size} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=int, nargs="?", default=1500)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    chosen = parser.parse_args()
    main(chosen.pages, chosen.seed)
