"""Sentences and the place in the image that they name: only places, never verbs, adjectives, names or neighbours."""

from __future__ import annotations

import pytest

from hra.domains.tokens.relevance.spatial_words import named_place, without_places

LOW, MIDDLE, HIGH = pytest.approx(1 / 6), pytest.approx(1 / 2), pytest.approx(5 / 6)
# Sentence, (vertical, horizontal); None leaves an axis open.
SENTENCES = {
    # Places.
    "what is at the top left?": (LOW, LOW),
    "what is at the top?": (LOW, None),
    "what does the sign at the bottom say?": (HIGH, None),
    "who stands on the left?": (None, LOW),
    "what does the sign on the right say?": (None, HIGH),
    "what is written in the top right corner?": (LOW, HIGH),
    "read the bottom-left corner": (HIGH, LOW),
    "the upper half": (LOW, None),
    "what is in the lower part of the picture?": (HIGH, None),
    "describe the left side": (None, LOW),
    "which animal is on the right-hand side?": (None, HIGH),
    "what can be seen in the middle?": (MIDDLE, MIDDLE),
    "is there a dog in the centre of the image?": (MIDDLE, MIDDLE),
    "what is in the center, please?": (MIDDLE, MIDDLE),
    "what is at the very top of the page?": (LOW, None),
    "the lower left": (HIGH, LOW),
    "upper right": (LOW, HIGH),
    "left": (None, LOW),
    "which colour has the upper left corner?": (LOW, LOW),
    "on the left, what do you see?": (None, LOW),
    "what is on the far right of the photo?": (None, HIGH),
    "the object on the left is what?": (None, LOW),
    "what is printed along the bottom edge?": (HIGH, None),
    "who is in the upper third of the scene?": (LOW, None),
    "what is at the bottom of the receipt?": (HIGH, None),
    "what is the man on the left wearing?": (None, LOW),
    "what is in the central area?": (MIDDLE, MIDDLE),
    "what is in the middle of the bottom left?": (HIGH, LOW),
    "what is the date at the top right of the invoice?": (LOW, HIGH),
    "what is to the right?": (None, HIGH),
    # Verbs.
    "who left the room?": (None, None),
    "how many cookies are left?": (None, None),
    "has the train left?": (None, None),
    "what did she leave when she left?": (None, None),
    "does it top the list?": (None, None),
    "should I turn to the right?": (None, None),
    "which way do I go, to the left?": (None, None),
    # Adjectives and nouns of another meaning.
    "is the right answer given?": (None, None),
    "is this right?": (None, None),
    "what is happening right now?": (None, None),
    "do they have the right to vote?": (None, None),
    "what is the top speed?": (None, None),
    "what is the bottom line?": (None, None),
    "who has the lower price?": (None, None),
    "is he upper class?": (None, None),
    "what is the middle name?": (None, None),
    "which data center is this?": (None, None),
    "is the woman in the red top smiling?": (None, None),
    "what does the spinning top look like?": (None, None),
    "was it written in the middle ages?": (None, None),
    "are they on the right track?": (None, None),
    "what is on the left wall?": (None, None),
    "is the left shoe black?": (None, None),
    "what does he hold in his right hand?": (None, None),
    "which party is on the political left wing?": (None, None),
    "bright leftovers on a laptop": (None, None),
    # Names.
    "who plays in Top Gun?": (None, None),
    "is this the Left Bank?": (None, None),
    "what does the sign of Lower Manhattan say?": (None, None),
    "who owns the Top Shop?": (None, None),
    # Beside things, not in the image.
    "what is below the title?": (None, None),
    "what is above the door?": (None, None),
    "what stands on top of the car?": (None, None),
    "what is to the left of the tree?": (None, None),
    "what lies at the bottom of the sea?": (None, None),
    "who sits in the middle of the road?": (None, None),
    "what is on the right side of the dog?": (None, None),
    "what is below?": (None, None),
    # Both ends of an axis restrict nothing.
    "is the cat on the left or on the right?": (None, None),
    "read it from the top to the bottom": (None, None),
    "who is on the left and who is on the right, at the top?": (LOW, None),
    # Nothing spatial at all.
    "": (None, None),
    "what is the total?": (None, None),
    "日本": (None, None),
}


@pytest.mark.parametrize(("sentence", "place"), SENTENCES.items())
def test_a_sentence_names_a_place_or_none(sentence, place):
    assert named_place(sentence) == place


def test_there_are_enough_sentences():
    named = sum(place != (None, None) for place in SENTENCES.values())
    assert len(SENTENCES) >= 60 and named >= 25 and len(SENTENCES) - named >= 35


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("what is in the bottom-left corner?", "what is in the"),
        ("what is the total at the bottom right of the page?", "what is the total at the of the"),
        ("what is the right answer?", "what is the right answer?"),
        ("", ""),
    ],
)
def test_what_a_question_says_beside_places(sentence: str, rest: str):
    assert without_places(sentence) == rest
