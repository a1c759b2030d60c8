from __future__ import annotations

import numpy as np

from hra.domains import tokens
from hra.pages.explore.page import render
from hra.pages.explore.tokens import token_view
from tests.helpers.explorers import cuts, unpacked


def test_every_step_is_what_python_allocates_for_the_image(image, of_tokens):
    allocator = tokens.PyramidSampling(tokens.CueRelevance())
    context = allocator.context(image, "what is on the right?")
    track = of_tokens["tracks"][0]
    places = unpacked(of_tokens["places"]).reshape(-1, 3)
    for budget, cost, nodes in zip(unpacked(track["budgets"]), unpacked(track["cost"]), cuts(track), strict=True):
        allocation = allocator.allocate(context, int(budget))
        made = np.stack([allocation.hierarchy.attribute(name)[allocation.cut] for name in ("level", "x", "y")], axis=1)
        assert {tuple(places[node]) for node in nodes} == {tuple(place) for place in made.tolist()}
        assert cost == allocation.cost <= budget


def test_text_of_a_question_cannot_leave_its_place(image):
    view = token_view(image, "</script><script>alert(1)</script>", 20, tokens.UniformRelevance())
    assert render("page", [view]).count("</script>") == 2
