"""Which script, and which language of those in Latin letters, a text is in, by its letters and its smallest words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

WORD = re.compile(r"[^\W\d_]+")
SMALL = {
    "English": (
        "the and of to in is that it for with was this are you have be not from his they by an as which "
        "on at he but or one all we can her has there their what so if who will more no would like just "
        "about me my out up do when been she its had were than into only some them your him our how most "
        "even because any very also these could"
    ),
    "German": (
        "der die und das ist nicht ein eine den von mit auf sich dem zu auch für wird sie ich wie aber im "
        "in es er des hat war als an wir bei noch nach nur so wenn man werden aus oder einen einem einer "
        "am sind über um zum zur haben kann mehr durch dass vor diese dieser mich mir"
    ),
    "French": (
        "le la les de des un une est et dans qui que pour pas il elle sur du en ce au aux je vous nous "
        "plus cette ne se son sa ses par avec mais on ou tout leur été être fait comme même sont ont si "
        "lui cet deux bien sans peut tous"
    ),
    "Spanish": (
        "el la los las de que en un una por con del es para su se lo como más pero al sus fue este no le "
        "me si sin sobre ha ya muy todo también hay cuando mi te qué era son entre esta desde nos ni "
        "donde quien tu ser está hasta otro todos él eso estos"
    ),
    "Italian": (
        "il lo la di che in un una per con non del della gli si le nel è sono anche più questo alla dei "
        "ma come da al ha se ci io mi ho suo sua ne dal nella alle sul cui tutto quando era essere dopo "
        "molto solo questa loro delle"
    ),
    "Portuguese": (
        "os as uma um não do da em para com que de se dos das mais por ao como na no você foi ele ela seu "
        "sua mas são isso quando me eu muito já também só pelo pela até nos esta este tem ser está entre "
        "era depois sem mesmo aos seus"
    ),
    "Dutch": (
        "de het een van en in is niet op te dat voor met zijn ik er maar ook aan naar bij wordt die je "
        "hij was om als dan ze heeft nog uit wel deze kan geen werd over door zo hebben meer mijn worden "
        "had of we wat"
    ),
    "Swedish": (
        "och att det som är på en för av med den inte jag till ett har om de var han hon men så vi sig "
        "från kan när nu där mot eller ut upp hade skulle mycket efter vid detta också alla sin"
    ),
    "Danish": (
        "og at det er på som en af ikke til jeg med den for har de et fra var han hun men så vi sig kan "
        "der om du ved eller nu op ud havde skal blev efter også alle sin være mig min hvad"
    ),
    "Finnish": (
        "ja on ei se että oli hän mutta ovat kun niin myös joka minä tämä olla sen en kuin ole mitä vain "
        "jos nyt sitä mukaan jo sekä voi vielä ne siitä hänen"
    ),
    "Polish": (
        "na się nie jest do że jak ale po od przez są był tak dla już to co za czy tym przy jego tylko "
        "ich jej może mnie bardzo być aby oraz było ze która który"
    ),
    "Czech": (
        "se na je že to ne do jsem ale jako byl pro která jsou po tak by co si jak už ve při od za bylo "
        "jeho podle nebo když jen které který může"
    ),
    "Romanian": (
        "și de la în este nu cu un pe din care mai pentru că sunt se fi au ce să al sau ca era ale lui "
        "fost prin până cum după foarte acest dar are"
    ),
    "Hungarian": (
        "az és hogy nem is egy van meg ez volt csak de már mint ha el ki le fel azt lesz még ezt vagy "
        "minden mert lehet kell sem nagyon akkor"
    ),
    "Turkish": (
        "ve bir bu için da de çok ne ile var daha gibi ama olarak olan kadar sonra en her mi ki ben değil "
        "yok şey iyi olduğu diye"
    ),
    "Indonesian": (
        "yang dan di itu dengan untuk tidak ini dari pada adalah akan dalam ke saya ada juga bisa oleh "
        "atau sudah kita mereka dia karena lebih kami anda"
    ),
    "Vietnamese": (
        "và của là không có được trong cho một người với các này những đã để khi từ đến nhiều cũng như về tôi"
    ),
}
"""The commonest small words of languages, which hardly a sentence lacks."""
_LANGUAGES: dict[str, list[str]] = {}
for _language, _words in SMALL.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_language)
ENOUGH = 3
"""Different small words of a language, or letters of a script, that a text must have to be said to be in it."""
OTHER_NAMES = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "FULLWIDTH": "Latin", "HALFWIDTH": "Kana"}


class _Scripts(dict[str, str]):
    """The script of each letter, by the first word of its name; found out once."""

    def __missing__(self, letter: str) -> str:
        name = unicodedata.name(letter, "unnamed").split()[0]
        self[letter] = OTHER_NAMES.get(name, name.title())
        return self[letter]


_SCRIPTS = _Scripts()


def script(text: str) -> str | None:
    """The script that most letters of a text are of; Chinese and Japanese are one. None where there are few letters."""
    if text.isascii():
        return "Latin" if sum(map(str.isalpha, text[:100])) >= ENOUGH else None
    found = Counter(_SCRIPTS[letter] for letter in text if letter.isalpha())
    if sum(found.values()) < ENOUGH:
        return None
    if "Kana" in found:
        found["Han"] += found.pop("Kana")
    return found.most_common(1)[0][0]


def languages(text: str) -> Counter[str]:
    """How many different small words of each language a text has."""
    return Counter(name for word in set(WORD.findall(text.lower())) for name in _LANGUAGES.get(word, ()))


def language(text: str, usual: str | None = None) -> str | None:
    """The language that a text is in, if that is plain; None else, as for most short texts.

    It has twice as many small words of it as of the `usual` one or, where none is, of any other.
    """
    found = languages(text)
    if not found:
        return None
    first, count = min(found.items(), key=lambda one: (-one[1], one[0]))
    others = [found[name] for name in found if name != first and (usual in (None, first, name))]
    return first if count >= max(ENOUGH, 2 * max(others, default=0)) else None
