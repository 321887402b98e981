"""Letters and words: what was damaged on its way, and what a text is written in; nothing is said that is not plain."""

from __future__ import annotations

import pytest

from bough.data.check.encoding import misread
from bough.data.check.tongues import language, script


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("cafÃ© au lait", ("Ã©", "é")),
        ("itâ€™s late", ("â€™", "’")),
        ("ÃƒÂ©tÃ©", ("ÃƒÂ©", "é")),
        ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚", ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚", "привет")),
        ("ðŸ˜€!", ("ðŸ˜€", "😀")),
        ("ä½\u00a0å¥½", ("ä½\u00a0å¥½", "你好")),
        ("5Â\u00a0kg", ("Â\u00a0", "\u00a0")),
        ("â€œso â€\x9d", ("â€œ", "“")),
        ("Â£5", ("Â£", "£")),
    ],
)  # fmt: skip
def test_utf_8_that_was_read_as_something_else_is_known_and_what_it_should_be(
    text: str, mended: tuple[str, str]
) -> None:
    assert misread(text) == mended


@pytest.mark.parametrize(
    "text",
    ["«CAFÉ»", "voilà\u00a0»", "MANHÃ”", "NESTLÉ®", "l’été…", "À la carte", "Größe 50 °C", "São Paulo—É", "你好", "Ã"],
)
def test_letters_with_accents_are_no_damage(text: str) -> None:
    assert misread(text) is None


TONGUES = {
    "English": "There is no reason to watch this, and that is all that can be said for it.",
    "German": "Ein Film, der mich von Anfang bis Ende nicht gelangweilt hat, und das ist schon viel.",
    "French": "C'est un film qui ne laisse pas indifférent, et que je vous recommande.",
    "Spanish": "Una película maravillosa que todos deberían ver al menos una vez en la vida.",
    "Italian": "Uno dei migliori film che ho visto negli ultimi anni, con una trama che non annoia.",
    "Dutch": "Een prachtige film die je niet mag missen, met een verhaal dat je niet loslaat.",
    "Swedish": "En fantastisk film som jag rekommenderar till alla som inte har sett den.",
    "Finnish": "Elokuva on loistava ja se on pakko nähdä, mutta se ei ole kaikille.",
    "Polish": "To jest wspaniały film, który nie nudzi się i jest dla każdego.",
    "Turkish": "Bu film çok güzel ve herkes için bir şey var.",
}


@pytest.mark.parametrize("name", TONGUES)
def test_a_sentence_in_another_language_is_known_by_its_small_words(name: str) -> None:
    assert language(TONGUES[name]) == name
    assert language(TONGUES[name], "English") == name


@pytest.mark.parametrize("text", ["", "Lorem ipsum dolor sit amet", "no charm, no laughs, no fun", "La Dolce Vita"])
def test_no_language_is_named_where_none_is_plain(text: str) -> None:
    assert language(text) is None


SCRIPTS = {
    "plain": "Latin",
    "привет": "Cyrillic",
    "日本語とカナ": "Han",
    "नमस्ते": "Devanagari",
    "1234!": None,
    "été à": "Latin",
    "ab": None,
}


@pytest.mark.parametrize(("text", "name"), SCRIPTS.items())
def test_the_script_is_that_of_most_letters(text: str, name: str | None) -> None:
    assert script(text) == name
