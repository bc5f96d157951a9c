"""How answers decline in the languages that have a file of words, and what declines nothing."""

from __future__ import annotations

import pytest

from granola.replies.refusals import abstention, languages

DECLINE = {
    "fi": ("En tiedä.", "En löytänyt nimeä.", "Tekijä on tuntematon.", "Valitettavasti en osaa sanoa."),
    "sv": (
        "Jag kunde inte hitta namnet.",
        "Tyvärr kan jag inte svara på det.",
    ),
    "en": (
        "The name escapes me.",
        "That isn't something I know.",
        "The author's identity remains unknown.",
        "I wasn't able to find the answer.",
        "I haven't a clue.",
        "No results found.",
        "I could not find the name.",
    ),
    "cs": (
        "Nepodařilo se mi najít jméno.",
        "Jméno jsem nenašel.",
        "Nevím.",
        "Bohužel nevím, kdo to napsal.",
        "Na tuto otázku nemohu odpovědět.",
        "Nemám k dispozici žádné informace o jejím narození.",
        "Poskytnuté zdroje neuvádějí místo narození.",
        "Nejsem si jistý.",
        "Datum není známo.",
        "Omlouvám se, ale nemám dostatek informací.",
        "V textu není uvedeno, kdy se narodil.",
    ),
    "pl": (
        "Nie udało mi się znaleźć nazwiska.",
        "Autor jest nieznany.",
        "Trudno powiedzieć.",
        "Nie wiem.",
        "Niestety nie wiem, kto to napisał.",
        "Nie mogę odpowiedzieć na to pytanie.",
        "Nie mam informacji na ten temat.",
        "Podane źródła nie zawierają informacji o miejscu urodzenia.",
        "Nie jestem pewien.",
        "Brak danych.",
        "Nie wiadomo.",
        "Przepraszam, ale nie mam pojęcia.",
    ),
    "ru": (
        "Мне не удалось найти эту информацию.",
        "Информация отсутствует.",
        "Я не знаю.",
        "К сожалению, я не знаю ответа.",
        "Не могу ответить на этот вопрос.",
        "У меня нет информации об этом.",
        "В предоставленных источниках не указано место рождения.",
        "Я не уверен.",
        "Неизвестно.",
        "Извините, но у меня недостаточно данных.",
        "Источники не содержат информации о дате.",
    ),
    "zh": (
        "对不起，我找不到这个名字。",
        "目前尚不清楚是谁写的。",
        "我不知道。",
        "抱歉,我无法回答这个问题。",
        "对不起，我没有相关信息。",
        "提供的资料中没有提到她的出生地。",
        "我不确定。",
        "未知",
        "根据现有资料，无法确定她的出生地。",
        "没有找到相关信息。",
    ),
    "it": (
        "Non mi ricordo.",
        "Purtroppo non dispongo di queste informazioni.",
        "Non lo so.",
        "Mi dispiace, ma non dispongo di informazioni.",
        "Le fonti fornite non indicano il luogo di nascita.",
        "Non sono sicuro.",
        "Non è possibile determinarlo.",
    ),
    "pt": (
        "Não consegui encontrar o nome.",
        "Não sei.",
        "Os documentos fornecidos não mencionam o local de nascimento.",
        "Não tenho certeza.",
        "Desculpe, mas não tenho essa informação.",
    ),
    "nl": (
        "Ik heb geen idee.",
        "Ik kon de naam niet vinden.",
        "De auteur is onbekend.",
        "Ik weet het niet.",
        "De bronnen vermelden de geboorteplaats niet.",
        "Ik ben niet zeker.",
        "Daar heb ik geen informatie over.",
        "Het spijt me, maar ik kan die vraag niet beantwoorden.",
    ),
    "ja": (
        "名前が見つかりませんでした。",
        "覚えていません。",
        "特定できません。",
        "分かりません。",
        "申し訳ありませんが、お答えできません。",
        "資料には記載がありません。",
        "情報がありません。",
        "不明",
        "その情報は提供された文書に含まれていません。",
    ),
    "da": (
        "Det er ukendt.",
        "Det ved jeg ikke.",
        "Jeg er ikke sikker.",
        "Kilderne nævner ikke fødestedet.",
    ),
    "de": (
        "Ich konnte den Namen nicht finden.",
        "Ich kann mich nicht erinnern.",
        "Die Quellen nennen den Geburtsort nicht.",
        "In den Texten wird der Geburtsort nicht erwähnt.",
        "Es ist nicht angegeben.",
        "Das weiß ich leider nicht.",
    ),
    "fr": (
        "L'auteur est inconnu.",
        "Je ne trouve pas le nom de l'auteur.",
        "Les sources fournies ne mentionnent pas le lieu de naissance.",
        "Le lieu n'est pas mentionné dans le texte.",
    ),
    "es": (
        "No me acuerdo del nombre.",
        "No cuento con esa información.",
        "Las fuentes proporcionadas no mencionan el lugar de nacimiento.",
        "El lugar no se menciona en el texto.",
    ),
}
ANSWER = {
    "fi": ("Eino Leino", "Ei Helsinki vaan Turku", "Enontekiö"),
    "en": ("The cause of her death remains unknown to historians.",),
    "cs": (
        "Praha",
        "Narodila se v Brně, nikoli v Praze.",
        "Neznámý vojín",
        "Není to Praha, ale Brno",
        "Nevada",
        "Nejvyšší hora je Everest, ale je to jen odhad.",
        "Otec jej nenechal studovat.",
        "Jan Hus, o němž není mnoho známo.",
    ),
    "pl": (
        "Warszawa",
        "Urodziła się w Krakowie.",
        "Nie Kraków, lecz Warszawa",
        "Niemcy",
        "To nie jest Gdańsk, to Gdynia.",
    ),
    "ru": (
        "Москва",
        "Она родилась в Киеве.",
        "Не Киев, а Москва",
        "Нева",
        "Неизвестный солдат",
        "Но Пасаран",
        "Это не Киев.",
    ),
    "zh": (
        "北京",
        "她出生在上海。",
        "不是北京,而是上海",
        "不丹",
        "无锡",
        "未来",
        "无间道",
    ),
    "it": (
        "Nonantola",
        "Non Roma ma Milano",
    ),
    "pt": (
        "no Brasil",
        "Não é Lisboa, é Porto",
    ),
    "nl": ("Niet Amsterdam maar Utrecht",),
    "ja": (
        "東京",
        "不忍池",
        "彼女は京都で生まれました。",
    ),
}


@pytest.mark.parametrize("code", DECLINE)
def test_answers_that_decline(code: str) -> None:
    assert [text for text in DECLINE[code] if abstention(text, code) is None] == []


@pytest.mark.parametrize("code", ANSWER)
def test_answers_that_answer(code: str) -> None:
    assert [text for text in ANSWER[code] if abstention(text, code) is not None] == []


def test_every_language_of_the_data_has_a_file() -> None:
    assert {"cs", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh"} <= set(languages())
