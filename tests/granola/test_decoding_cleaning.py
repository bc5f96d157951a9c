"""Responses as models write them, and what they come down to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granola.decoding.response_cleaning import answer_candidates, clean_response
from tests.tables import read_table

SUBJECT = "Barack Obama"


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("Hamburg", "Hamburg"),
        ("  Hamburg.\n", "Hamburg"),
        ("Answer: Hamburg", "Hamburg"),
        ("Location: Location: Hamburg", "Hamburg"),
        ("Birthplace : Hamburg", "Hamburg"),
        ("**Hamburg**", "Hamburg"),
        ('"Hamburg".', "Hamburg"),
        ("“Hamburg”", "Hamburg"),
        ("- Hamburg", "Hamburg"),
        ("1. Hamburg", "Hamburg"),
        ("<answer>Hamburg</answer>", "Hamburg"),
        ("Hamburg<|endoftext|>The", "Hamburg"),
        ("Hamburg\n\nQ: Where was she born?\nA: Paris", "Hamburg"),
        ("Q: Where?\nA: Rome\nQ: And?", "Rome"),
        ("Here is the answer:\nHamburg", "Hamburg"),
        ("Sure! The answer is: Hamburg.", "Hamburg"),
        ("I think it's Hamburg, but I'm not sure.", "Hamburg"),
        ("I'm not sure, but I think it was Paris.", "Paris"),
        ("Ich bin nicht sicher, aber ich denke Paris.", "Paris"),
        ("near Hamburg", "near Hamburg"),
        ("Hamburg, I suppose", "Hamburg"),
        ("Jane Austen wrote it.", "Jane Austen"),
        ("Jane Austen wrote the novel Emma", "Jane Austen"),
        ("John Smith painted Barack Obama in 2009", "John Smith"),
        ("The Man Who Directed It", "The Man Who Directed It"),
        ("Answer: Hamburg Answer: Berlin", "Hamburg"),
        ("Vesuvius Luotettavuusasteikko: 100 % (Varma)", "Vesuvius"),
        # the fields of DRAG's examples, in a line, in another order, or called otherwise
        ("Germany Incorrect answer: Hamburg Explanation: All lie there.", "Germany"),
        ("Incorrect answer: Hamburg\nCorrect answer: Germany", "Germany"),
        ("Explanation: Three months are named.\nCorrect answer: 1937", "1937"),
        ("Most exact answer: Germany", "Germany"),
        ("The most specific consistent answer is 1937.", "1937"),
        ("Most Exact", "Most Exact"),
        ('["Hamburg"]', "Hamburg"),
        ("['Hamburg']", "Hamburg"),
        ("{'answer': 'Hamburg'}", "Hamburg"),
        ('{"thought": "It is Rome?", "final_answer": "Hamburg"}', "Hamburg"),
        ('{"value": 12}', "12"),
        ("{Hamburg", "{Hamburg"),
        ("First Symphony, so called", "First Symphony, so called"),
        ("Hamburg. It lies on the Elbe.", "Hamburg"),
        ("He was born in Hamburg.", "Hamburg"),
        ("In Hamburg.", "Hamburg"),
        ("the city of Hamburg", "Hamburg"),
        ("Barack Obama was born in Honolulu, Hawaii.", "Honolulu, Hawaii"),
        ("The composer was Claude Debussy.", "Claude Debussy"),
        ("Barack Obama's birthplace is Honolulu.", "Honolulu"),
        ("Barack Obama: Honolulu", "Honolulu"),
        ("<think>Hilo? No, not Hilo.</think>\n\nHonolulu", "Honolulu"),
        ("<think>" + "Hilo? " * 2000 + "</think>Honolulu", "Honolulu"),
        ("Hilo is a city. " * 300 + "So the answer is $\\boxed{Honolulu}$.", "Honolulu"),
        ("### Answer\nHonolulu", "Honolulu"),
        ('{"answer": "Honolulu"}', "Honolulu"),
        ('```json\n{"answer": "Honolulu"}\n```', "Honolulu"),
        ("Let me think. He was born in Honolulu.", "Honolulu"),
        ("Well, Honolulu", "Honolulu"),
        ("Stanley Ann Dunham's son was born in Honolulu.", "Honolulu"),
        ('"La Mer" was composed by Claude Debussy.', "Claude Debussy"),
        ("Honolulu, which is located in Hawaii", "Honolulu, which is located in Hawaii"),
        ("Honolulu which is located in Hawaii", "Honolulu which is located in Hawaii"),
        ("I was not born in Honolulu", "I was not born in Honolulu"),
        ("Born: Honolulu", "Honolulu"),
        ("$\\boxed{\\text{Honolulu}}$", "Honolulu"),
        ("(a) Honolulu", "Honolulu"),
        ("Honolulu Explanation: he was born there", "Honolulu"),
        ("Based on what I know, it is Honolulu.", "Honolulu"),
        ("I cannot tell for sure, but it may be Honolulu.", "Honolulu"),
        ("The Man Who Was Thursday", "The Man Who Was Thursday"),
        ("This Is Spinal Tap", "This Is Spinal Tap"),
        ("Who's Afraid of Virginia Woolf?", "Who's Afraid of Virginia Woolf"),
        ("From Here to Eternity", "Here to Eternity"),  # compared so; the prediction keeps its preposition
        ("Washington, D.C.", "Washington, D.C."),
        ("St. Louis, Missouri", "St. Louis, Missouri"),
        ("J. R. R. Tolkien", "J. R. R. Tolkien"),
        ("Star Wars: A New Hope", "Star Wars: A New Hope"),
        ("Who's Next", "Who's Next"),
        ("The Lord of the Rings", "The Lord of the Rings"),
        ("'N Sync", "'N Sync"),
        ("March 22, 1958.", "March 22, 1958"),
    ],
)
def test_what_a_response_states(response: str, text: str) -> None:
    found = clean_response(response, subject=SUBJECT)
    assert (found.text, found.abstains) == (text, None)


@pytest.mark.parametrize("response", read_table("declining_responses"))
def test_what_declines(response: str) -> None:
    found = clean_response(response, subject=SUBJECT)
    assert found.abstains
    assert found.prediction == "IDK"


def test_a_preposition_stays_in_the_prediction_for_it_may_begin_a_title() -> None:
    found = clean_response("In Rainbows")
    assert (found.whole, found.text, found.prediction) == ("In Rainbows", "Rainbows", "In Rainbows")


def test_what_runs_on_is_tried_without_its_rest() -> None:
    assert answer_candidates("Hamburg, where he grew up")[-1] == "Hamburg"
    assert answer_candidates("Hamburg, Germany, on 3 May 1950")[1] == "Hamburg, Germany"
    assert answer_candidates("Pierre Boulez in 1903")[-1] == "Pierre Boulez"
    assert answer_candidates("Hamburg") == ("Hamburg",)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_comes_down_to_something_and_to_nothing_less_the_second_time(response: str) -> None:
    found = clean_response(response)
    assert (found.abstains is None) == bool(found.text)
    assert len(found.whole) <= max(len(response), 3) + 3
    assert all(found.text.startswith(one) for one in answer_candidates(found.text))
