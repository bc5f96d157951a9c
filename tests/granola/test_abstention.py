"""Abstentions by named rules in the four languages that ladders speak, and what only looks like one."""

from __future__ import annotations

import pytest

from granola.matching import matcher

LEVELS = [["Berlin"], ["Germany"]]
DECLINING = {
    "en": "I have no idea|I can't say for sure|No one knows|I'm afraid I don't know|That's beyond my knowledge|Not sure"
    "|I do not have access to that information|No clue|I'd rather not say|It is not publicly known|Unsure|idk."
    "|I prefer not to answer|I won't answer that|Unable to determine|I don't recall",
    "de": "Ich weiß es nicht.|Keine Ahnung|Das weiß ich nicht|Ich bin mir nicht sicher.|Weiß nicht|k. A.|Unbekannt"
    "|Ich kann diese Frage nicht beantworten.|Dazu habe ich keine Informationen.|Leider kann ich das nicht sagen."
    "|Das ist nicht bekannt|Mir liegen keine Informationen vor.|Es tut mir leid, aber ich weiß es nicht."
    "|Als KI-Modell kann ich das nicht beantworten|I don't know|Ich konnte leider nichts dazu finden.",
    "fr": "Je ne sais pas.|Aucune idée|Je l'ignore.|Je ne suis pas sûr.|Désolé, mais je ne sais pas.|Inconnu"
    "|Je ne peux pas répondre à cette question.|Je n'ai pas d'informations à ce sujet.|On ne sait pas."
    "|Je ne connais pas la réponse.|Impossible de répondre.|J’ignore la réponse"
    "|En tant qu'IA, je ne peux pas répondre.|Je n'ai pas trouvé d'information fiable."
    "|Je n'ai trouvé aucune source.|Je n'en ai aucune idée.|Je n'ai pas cette information.",
    "es": "No lo sé.|No sé|No tengo idea|Ni idea|No estoy seguro.|No puedo responder a esa pregunta.|Desconocido"
    "|No tengo información sobre eso.|Lo siento, pero no lo sé.|Se desconoce|No dispongo de información."
    "|No conozco la respuesta.|Como modelo de lenguaje, no puedo responder.|No he encontrado información."
    "|No pude encontrar la respuesta.",
}
ANSWERING = {
    "en": "Nobody Knows Anything but Berlin|Unknown Pleasures|No One but You",
    "de": "Nichts|Weißensee|Unbekannte Wege|Leider nur in Hamburg",
    "fr": "Inconnu à cette adresse|Pas de Calais|Je crois que c'est Paris",
    "es": "No me olvides|Noruega|Creo que Madrid",
}


@pytest.mark.parametrize(("code", "text"), [(code, t) for code, texts in DECLINING.items() for t in texts.split("|")])
def test_declining(code: str, text: str) -> None:
    verdict = matcher("rules", language=code).match(text, LEVELS, "?")
    assert verdict.abstained
    assert verdict.rule.startswith("abstain:")


@pytest.mark.parametrize(("code", "text"), [(code, t) for code, texts in ANSWERING.items() for t in texts.split("|")])
def test_answering(code: str, text: str) -> None:
    assert not matcher("rules", language=code).match(text, LEVELS, "?").abstained


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "I'm afraid I don't know, but maybe Berlin"),
        ("de", "Keine Ahnung, vielleicht Berlin"),
        ("de", "Tut mir leid, ich bin nicht sicher, aber ich glaube Berlin."),
        ("fr", "Je ne suis pas sûr, mais je crois que c'est Berlin."),
        ("es", "No estoy seguro, pero creo que Berlin."),
    ],
)
def test_a_guess_behind_a_refusal_is_judged(code: str, text: str) -> None:
    assert matcher("rules", language=code).match(text, LEVELS, "?").level == 1
