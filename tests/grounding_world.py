"""Questions with passages, written for tests: every type, noise from none to all, dates, private and web, deflections.

A question's labels are a letter a passage: A answers, R related, O outdated, U of unknown age, - irrelevant. What its
reference cites stands in it as [1] and so on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from granola.evidence.attribution.evaluators import WordEvaluator
from granola.evidence.grounding.answer_judging import EvaluatorSentenceJudge
from granola.evidence.grounding.grounded_rows import Relevance
from granola.evidence.grounding.grounding_task import AnsweredSentence, AnswerVerdict, GroundingItem, SentenceVerdict

LABELS = {"A": "ANSWER-THE-QUESTION", "R": "RELATED-INFORMATION", "O": "OUTDATED", "U": "UNKNOWN"}
ASKED = "2024-11-20"


@dataclass(frozen=True)
class Topic:
    """Passages as (text, date, provider), and questions as (question, kinds, labels, reference)."""

    name: str
    category: str
    passages: tuple[tuple[str, str, str], ...]
    questions: tuple[tuple[str, str, str, str], ...]


# A question's kinds: complexity / time-sensitivity / popularity.
TOPICS = (
    Topic("bridge", "Travel", (
        ("The Golden Gate Bridge opened to pedestrians on 27 May 1937, and to cars a day later.", "2019-05-27", "web"),
        ("Its main span is 1,280 metres long; until 1964 no suspension bridge had a longer one.", "2018-02-01", "web"),
        ("The Verrazzano-Narrows Bridge in New York opened in 1964, its main span 1,298 metres long.", "2020-03-02",
         "web"),
        ("Sourdough bread is a speciality of San Francisco's bakeries.", "2022-08-14", "web"),
        ("Fog covers the strait on many summer mornings.", "2021-07-01", "web"),
    ), (
        ("When did the Golden Gate Bridge open?", "Simple/static/Head", "A-R--",
         "The Golden Gate Bridge opened to pedestrians on 27 May 1937 and to cars the day after [1]."),
        ("Which has the longer main span, the Golden Gate Bridge or the Verrazzano-Narrows Bridge?",
         "Comparison/static/Torso", "RAA--",
         "The Verrazzano-Narrows Bridge, with 1,298 metres [3] against 1,280 metres [2]."),
        ("How long did the Golden Gate Bridge have the longest main span of all suspension bridges?",
         "Post-processing heavy/static/Tail", "AAA--",
         "For 27 years: it opened in 1937 [1] and was surpassed in 1964 [2][3]."),
        ("How many people work on the Golden Gate Bridge?", "Simple/slow-changing/Tail", "-----",
         "The passages do not say how many people work on the bridge."),
    )),
    Topic("moon", "Science", (
        ("Apollo 11 landed on the Moon on 20 July 1969.", "2019-07-20", "web"),
        ("Twelve people have walked on the Moon, all of them between 1969 and 1972.", "2022-12-14", "web"),
        ("Apollo 17, in December 1972, was the last mission of the programme to land.", "2022-12-07", "web"),
        ("The Moon is on average 384,400 kilometres away from the Earth.", "2015-01-01", "web"),
        ("Luna 2, a Soviet probe, struck the Moon in September 1959.", "2009-09-13", "web"),
        ("Tides follow the Moon's gravity.", "2013-05-05", "web"),
    ), (
        ("On what day did Apollo 11 land on the Moon?", "Simple/static/Head", "A-----",
         "Apollo 11 landed on the Moon on 20 July 1969 [1]."),
        ("Which mission was the last of the Apollo programme to land on the Moon?", "Simple w. condition/static/Torso",
         "--AR--", "Apollo 17 was the last one to land, in December 1972 [3]."),
        ("How many people have walked on the Moon?", "Aggregation/static/Head", "RAR---",
         "Twelve people have walked on the Moon [2]."),
        ("How many years passed between the first probe to strike the Moon and the first people on it?",
         "Multi-Hop/static/Tail", "A---A-",
         "About ten years: Luna 2 struck the Moon in September 1959 [5], Apollo 11 landed in July 1969 [1]."),
    )),
    Topic("rivers", "Science", (
        ("The Danube rises in the Black Forest and flows into the Black Sea.", "2016-04-04", "web"),
        ("The Danube flows through Vienna, Bratislava, Budapest and Belgrade.", "2017-06-06", "web"),
        ("The Rhine rises in the Swiss Alps and flows into the North Sea.", "2016-04-04", "web"),
        ("Budapest is the capital of Hungary, Belgrade that of Serbia.", "2018-01-01", "web"),
    ), (
        ("Into which sea does the Danube flow?", "Simple/static/Head", "AR--",
         "The Danube flows into the Black Sea [1]."),
        ("Which four capitals lie on the Danube?", "Set/static/Torso", "-A-R",
         "Vienna, Bratislava, Budapest and Belgrade lie on the Danube [2]."),
        ("Do the Danube and the Rhine flow into the same sea?", "Comparison/static/Torso", "A-A-",
         "No: the Danube flows into the Black Sea [1], the Rhine into the North Sea [3]."),
        ("Of which countries are Budapest and Belgrade, both on the Danube, the capitals?",
         "Multi-Hop/static/Torso", "-A-A",
         "Budapest, on the Danube [2], is the capital of Hungary, and Belgrade, also on it [2], that of Serbia [4]."),
    )),
    Topic("harbour weather", "Time & Weather", (
        ("Harbour office, morning report: wind from the west at 30 knots, waves of two metres.", "2024-11-19", "ent"),
        ("Harbour office, morning report: calm, no waves.", "2024-11-05", "ent"),
        ("Harbour office: the pilot station closes when waves exceed two and a half metres.", "2023-01-10", "ent"),
        ("Knots are nautical miles an hour.", "2010-01-01", "web"),
    ), (
        ("How strong is the wind at the harbour?", "Simple/fast-changing/Tail", "AO-R",
         "The latest report has wind from the west at 30 knots [1]."),
        ("Is the pilot station open?", "Multi-Hop/fast-changing/Tail", "AOA-",
         "It should be: waves are two metres high [1], and it closes above two and a half metres [3]."),
        ("How high were the waves a fortnight ago?", "Simple w. condition/fast-changing/Tail", "-A--",
         "There were no waves in the report of that morning [2]."),
        ("What is the water temperature in the harbour today?", "Simple/fast-changing/Tail", "-O--",
         "The sources do not give the water temperature."),
    )),
    Topic("billing service", "Computers & Electronics", (
        ("Runbook: when the billing queue holds more than 10,000 messages, add two workers.", "2024-06-01", "ent"),
        ("Runbook: the billing workers restart on their own after a failed health check.", "2024-06-01", "ent"),
        ("Old runbook: when the billing queue holds more than 2,000 messages, call the team.", "2021-02-01", "ent"),
        ("Message queues decouple those who send from those who receive.", "2015-01-01", "web"),
        ("Health checks are requests that a load balancer sends.", "2016-01-01", "web"),
        ("A list of the cafeteria's dishes for June.", "2024-06-01", "ent"),
    ), (
        ("What is to be done when the billing queue holds more than 10,000 messages?", "Simple/slow-changing/Tail",
         "A-O---", "Add two workers [1]."),
        ("How do the billing workers behave after a failed health check?", "Simple/slow-changing/Tail", "-A--R-",
         "They restart on their own [2]."),
        ("How did the limit of the billing queue change between the two runbooks?", "Comparison/slow-changing/Tail",
         "A-A---", "It rose from 2,000 messages [3] to 10,000 messages [1]."),
        ("Who owns the billing service?", "Simple/slow-changing/Tail", "------",
         "I cannot answer this question from the passages."),
    )),
    Topic("filings", "Finance", (
        ("Annual report: revenue was 420 million in fiscal 2023.", "2024-02-15", "ent"),
        ("Annual report: revenue was 380 million in fiscal 2022.", "2023-02-15", "ent"),
        ("Quarterly report: revenue of the third quarter of fiscal 2024 was 118 million.", "2024-10-30", "ent"),
        ("Fiscal years end on 31 December unless a company says otherwise.", "2012-01-01", "web"),
        ("Revenue is what a company takes in before costs.", "2014-01-01", "web"),
    ), (
        ("By how much did annual revenue grow from fiscal 2022 to fiscal 2023?",
         "Post-processing heavy/static/Tail", "AA---",
         "It grew by 40 million, from 380 million [2] to 420 million [1]."),
        ("What was the revenue of fiscal 2023?", "Simple/static/Tail", "A---R", "Revenue was 420 million [1]."),
        ("What is the latest quarterly revenue?", "Simple/slow-changing/Tail", "--A--",
         "The third quarter of fiscal 2024 had revenue of 118 million [3]."),
        ("What is the share price today?", "Simple/fast-changing/Tail", "--O--",
         "The documents do not contain the share price."),
    )),
    Topic("graph papers", "Science", (
        ("Abstract: we show that shortest paths in sparse graphs can be kept in linear space.", "2022-09-01", "ent"),
        ("Abstract: a survey of shortest paths, from Dijkstra's algorithm of 1959 on.", "2020-09-01", "ent"),
        ("Dijkstra's algorithm was published in 1959.", "2009-01-01", "web"),
        ("Graphs are drawn with circles and lines.", "2009-01-01", "web"),
        ("A recipe for bread with seeds.", "2011-01-01", "web"),
        ("The library opens at eight.", "2024-01-01", "ent"),
        ("Sparse matrices are stored by their entries.", "2018-01-01", "web"),
    ), (
        ("When was Dijkstra's algorithm published?", "Simple/static/Torso", "-AA----",
         "It was published in 1959 [3], as the survey says too [2]."),
        ("What do we know of space for shortest paths in sparse graphs?", "Simple w. condition/static/Tail", "A-----R",
         "They can be kept in linear space [1]."),
        ("Which of the abstracts is a survey?", "Simple/static/Tail", "RA-----",
         "The one that covers shortest paths from Dijkstra's algorithm on [2]."),
        ("Who wrote the abstract on linear space?", "Simple/static/Tail", "-------",
         "The passages do not tell who wrote it."),
    )),
    Topic("mail", "Business & Industrial", (
        ("Mail: the pipeline inspection moves from Monday to Thursday.", "2024-11-18", "ent"),
        ("Mail: the pipeline inspection is on Monday.", "2024-11-01", "ent"),
        ("Mail: please bring helmets to every inspection.", "2024-03-01", "ent"),
        ("Mail: the lift is out of order.", "2024-11-18", "ent"),
        ("Pipelines are inspected from within by devices called pigs.", "2014-01-01", "web"),
    ), (
        ("On what day is the pipeline inspection?", "Simple/fast-changing/Tail", "AO---",
         "It has moved to Thursday [1]."),
        ("What should people bring to the inspection on Thursday?", "Multi-Hop/slow-changing/Tail", "R-A--",
         "They should bring helmets [3]."),
        ("Which devices inspect pipelines from within?", "Simple/static/Torso", "----A",
         "Devices called pigs inspect them from within [5]."),
        ("Why was the inspection moved?", "Simple/fast-changing/Tail", "R----",
         "The provided sources are insufficient to say why."),
    )),
)  # fmt: skip


# What questions were made from, by topic: one of the paper's private sources, `ent` for another, else the web.
MADE_FROM = {
    "billing service": "devops", "filings": "sec", "graph papers": "arxiv", "mail": "enron", "support": "ent",
    "harbour weather": "ent",
}  # fmt: skip


def own_rows() -> list[dict[str, Any]]:
    """The questions as rows of one's own."""
    return [
        _row(topic, f"{topic.name} {number}", *question)
        for topic in TOPICS
        for number, question in enumerate(topic.questions, 1)
    ]


def _row(topic: Topic, id: str, question: str, kinds: str, labels: str, reference: str) -> dict[str, Any]:
    complexity, time, popularity = kinds.split("/")
    cited = list(dict.fromkeys(re.findall(r"\[(\d+)\]", reference)))
    passages = [
        {
            "id": str(at), "text": text, "date": date, "provider": provider,
            **({"relevant": False} if label == "-" else {"relevant": True, "label": LABELS[label]}),
        }
        for at, ((text, date, provider), label) in enumerate(zip(topic.passages, labels, strict=True), 1)
    ]  # fmt: skip
    return {
        "id": id,
        "question": question,
        "question_date": ASKED,
        "passages": passages,
        "reference": reference,
        "reference_citations": cited,
        "deflection": not cited,
        "tags": {
            "complexity": complexity, "time_sensitivity": time, "popularity": popularity, "category": topic.category,
            "question_tag": MADE_FROM.get(topic.name, "web"),
        },
    }  # fmt: skip


def garage_rows() -> list[dict[str, Any]]:
    """The same questions with the fields of GaRAGe's file."""
    rows = []
    for row in own_rows():
        passages, tags = row["passages"], row["tags"]
        time = tags["time_sensitivity"]
        rows.append(
            {
                "sample_id": row["id"],
                "question_date": row["question_date"],
                "question": row["question"],
                "grounding": [
                    {f"cite_{at}": one["text"], "age": "not defined", "date": one["date"], "provider": one["provider"]}
                    for at, one in enumerate(passages, 1)
                ],
                "question_sensitive": "No" if time == "static" else "Yes",
                "question_type": "" if time == "static" else time.title(),
                "question_complexity": tags["complexity"],
                "question_popularity": tags["popularity"],
                "question_category": tags["category"],
                "question_tag": tags["question_tag"],
                "evidence_relevant": ["YES" if one["relevant"] else "NO" for one in passages],
                "evidence_correct": [one.get("label") for one in passages],
                "evidence_cited": [one["id"] in row["reference_citations"] for one in passages],
                "answer_generate": re.sub(r"\[(\d+)\]", r"[cite_\1]", row["reference"]),
                "answer_related_info": row["reference"],
                "answer_validate": "" if row["deflection"] else "YES",
            }
        )
    return rows


def judged_item(
    *, sentences: Sequence[str] = ("s1", "s2"), all_: Sequence[SentenceVerdict | None] = (),
    relevant: Mapping[Relevance, Sequence[SentenceVerdict | None]] | None = None, **more: Any,
) -> GroundingItem:  # fmt: skip
    """A judged answer without issues, its sentences supported but where verdicts are given, in both readings."""
    supported = (SentenceVerdict.SUPPORTED,) * len(sentences)
    verdicts = {"all": all_ or supported}
    verdicts |= {str(reading): own for reading, own in (relevant or dict.fromkeys(Relevance, supported)).items()}
    given: dict[str, Any] = {
        "id": "a", "answer": "x", "expected_deflection": False, "eligibility": AnswerVerdict.NO_ISSUES, "unjudged": {},
        "sentences": tuple(
            AnsweredSentence(text=text, **{name: own[at] for name, own in verdicts.items()})
            for at, text in enumerate(sentences)
        ),
        "readings": tuple(relevant or Relevance),
    }  # fmt: skip
    return GroundingItem(**{**given, **more})


def word_judge(share: float = 0.6) -> EvaluatorSentenceJudge:
    """The baseline that judges sentences by the words that they share with a passage."""
    return EvaluatorSentenceJudge(evaluator=WordEvaluator(share=share), apart=True)
