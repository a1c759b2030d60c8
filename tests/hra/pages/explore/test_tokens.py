from __future__ import annotations

import numpy as np

from hra.domains import tokens
from hra.pages.explore import tokens as explore
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
    view = token_view(tokens.TokenContext.of(image, "</script><script>alert(1)</script>"), 20)
    assert render("page", [view]).count("</script>") == 2


def test_another_question_is_answered_as_if_it_were_the_first(image):
    first = tokens.PyramidSampling(tokens.CueRelevance()).context(image, "what is on the right?")
    token_view(first, 20)
    fresh = tokens.PyramidSampling(tokens.CueRelevance()).context(image, "what is at the top?")
    assert token_view(first.asking("what is at the top?"), 20) == token_view(fresh, 20) != token_view(first, 20)


def test_what_the_image_alone_decides_is_made_for_the_first_question_only(image, monkeypatch):
    context, made = tokens.TokenContext.of(image, "one"), []
    squares = explore.downsampling_squares
    monkeypatch.setattr(explore, "downsampling_squares", lambda *given: made.append(given) or squares(*given))
    token_view(context, 20)
    assert len(made) > 10
    made.clear()
    token_view(context.asking("two"), 20)
    assert not made
