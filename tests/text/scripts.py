"""Texts of many scripts and of none: sentences made for this, odd ones, and strings thrown together from them."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Iterator

SENTENCES = {
    "Latin": ["Good morning, how are you? One, two, three.", "Wie spät ist es? Ein, zwei, drei Straßenbahnen.",
              "Xin chào, bạn khỏe không? Một, hai, ba.", "Günaydın, nasılsın? Bir, iki, üç; İSTANBUL ılık.",
              "Cześć, jak się masz? Jeden, dwa, trzy żółwie.", "It's 3:45, isn't it? They're late by 1,250.75 s."],
    "Greek": ["Καλημέρα, τι κάνεις; Ένα, δύο, τρία.", "ΟΔΟΣ ΟΔΥΣΣΕΑΣ"],
    "Cyrillic": ["Доброе утро, как дела? Один, два, три.", "Привіт, їжаче! Ґанок і п'ять яблук.", "Ёлка й Ӂ"],
    "Armenian": ["Բարի լույս, ինչպե՞ս ես։ Մեկ, երկու, երեք։"],
    "Georgian": ["დილა მშვიდობისა, როგორ ხარ? ერთი, ორი, სამი.", "ႠႡႢ ᲐᲑᲒ"],
    "Hebrew": ["בוקר טוב, מה שלומך? אחת, שתיים, שלוש.", "שָׁלוֹם"],
    "Arabic": ["صباح الخير، كيف حالك؟ واحد، اثنان، ثلاثة.", "سَلَامٌ ﷺ ﻻ", "صبح بخیر، یک، دو، سه ۱۲۳"],
    "Syriac": ["ܨܦܪܐ ܛܒܐ ܚܕ ܬܪܝܢ"],
    "Thaana": ["އެކެއް، ދެއް، ތިނެއް"],
    "Devanagari": ["सुप्रभात, आप कैसे हैं? एक, दो, तीन।", "क़िला १२३"],
    "Bengali": ["সুপ্রভাত, কেমন আছেন? এক, দুই, তিন।"],
    "Gurmukhi": ["ਸ਼ੁਭ ਸਵੇਰ, ਇੱਕ, ਦੋ, ਤਿੰਨ।"],
    "Gujarati": ["સુપ્રભાત, એક, બે, ત્રણ."],
    "Odia": ["ସୁପ୍ରଭାତ, ଏକ, ଦୁଇ, ତିନି।"],
    "Tamil": ["காலை வணக்கம், ஒன்று, இரண்டு, மூன்று."],
    "Telugu": ["శుభోదయం, ఒకటి, రెండు, మూడు."],
    "Kannada": ["ಶುಭೋದಯ, ಒಂದು, ಎರಡು, ಮೂರು."],
    "Malayalam": ["സുപ്രഭാതം, ഒന്ന്, രണ്ട്, മൂന്ന്."],
    "Sinhala": ["සුබ උදෑසනක්, එක, දෙක, තුන."],
    "Thai": ["สวัสดีตอนเช้า หนึ่ง สอง สาม น้ำ"],
    "Lao": ["ສະບາຍດີຕອນເຊົ້າ ໜຶ່ງ ສອງ ສາມ"],
    "Tibetan": ["གཅིག་གཉིས་གསུམ།"],
    "Burmese": ["မင်္ဂလာပါ တစ် နှစ် သုံး။"],
    "Khmer": ["អរុណសួស្តី មួយ ពីរ បី។"],
    "Ethiopic": ["እንደምን አደርክ? አንድ፣ ሁለት፣ ሦስት።"],
    "Cherokee": ["ᏌᏊ ᏔᎵ ᏦᎢ ꭰꭱ"],
    "Canadian syllabics": ["ᐊᑕᐅᓯᖅ ᒪᕐᕉᒃ ᐱᖓᓱᑦ"],
    "Mongolian": ["ᠨᠢᠭᠡ ᠬᠣᠶᠠᠷ ᠭᠤᠷᠪᠠ"],
    "Hangul": ["좋은 아침입니다. 하나, 둘, 셋.", "각", "ㄱㄴㄷ"],
    "Hiragana": ["おはようございます。いち、に、さん。", "がぎぐ"],
    "Katakana": ["アイスクリームを三つください！", "ｱｲｽ ガ"],
    "Han": ["早上好，你好吗？一、二、三。", "繁體字也有：１２３％【好】～", "𠀀𠮷"],
    "Bopomofo": ["ㄅㄆㄇㄈ"],
    "Yi": ["ꋍꑍꌕ"],
    "Tifinagh": ["ⵢⴰⵏ ⵙⵉⵏ ⴽⵔⴰⴹ"],
    "N'Ko": ["ߞߋߟߋ߲߫ ߝߌ߬ߟߊ߬"],
    "Runic": ["ᛖᛁᚾ ᛏᚹᛖᛁ"],
    "Gothic": ["𐌰𐌹𐌽𐍃 𐍄𐍅𐌰𐌹"],
    "Coptic": ["ⲟⲩⲁ ⲥⲛⲁⲩ ϣⲟⲙⲛⲧ"],
    "Javanese": ["ꦱꦶꦗꦶ ꦭꦺꦴꦫꦺꦴ"],
    "Adlam": ["𞤺𞤮𞥅 𞤁𞤭𞤣𞤭"],
    "Deseret": ["𐐀𐐁 𐐨𐐩"],
    "Hieroglyphs": ["𓀀𓂀𓏤"],
}  # fmt: skip
"""Greetings and numbers in each script."""
ODD = [
    "", " ", "   ", "\t\n", "a", "A", ".", "\n\n", "no\u00a0break", "line\u2028break\u2029", "a\u3000b\u2003c\u200ad",
    "crlf\r\nlf\ncr\rend\n", "\x00", "nul\x00in\x00side", "".join(map(chr, range(32))),
    "".join(map(chr, range(127, 161))), "tab\tbell\x07back\x08esc\x1b[0mdel\x7f", "fs\x1cgs\x1drs\x1eus\x1f nel\x85",
    "\ufeffmark", "a\ufeffb", "zero\u200bwidth\u200c\u200d\u2060", "soft\u00adhyphen",
    "\u202eright\u202c left\u200f\u200e", "e\u0301 \u00e9 n\u0303 \u00f1 o\u0308\u0304",
    "Z\u0351\u036b\u0343a\u0363\u0351l\u0350g\u0353o\u031f", "\u0301alone", "\u0e33\u0e4d",
    "ﬁ ﬂ ﬃ ½ ² Ⅷ ™ ㎏ ｆｕｌｌ ｗｉｄｔｈ", "\u212b \u2126 \u00df \u1e9e \u0130 \u0131 \u017f \u03c3\u03c2", "Dž ǅ ǆ",
    "\U0001f44d\U0001f3fd", "\U0001f469\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f \u2764",
    "\U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea", "1\ufe0f\u20e3", "\U0001f3f4\U000e0067\U000e0062\U000e007f",
    "so \U0001f600\U0001f600 glad", "\U0001f468\u200d\U0001f4bb!", "\ue000\uf8ff", "\ufffe\uffff\U0010ffff", "\ufffd",
    "\u0378\u0e5c", "\U000e0001", "``quoted'' and ''so''",
    "\u201cdouble\u201d \u2018single\u2019 \u00ablow\u00bb \u201edeep\u201c", "don't can't I'll 'tis o'clock ' \"",
    "a - b \u2014 c\u2013d well-known @-@ x-y-z", "wait... what.. .hidden ....", "U.S.A. Mr. Smith etc. No. 5 p. 7.",
    "1,234.56 3.14 1.2.3 5,000,000 ,5 5, \u0661,\u0662", "50 % 7% \u20ac20 $5 #tag @name a/b a\\b",
    "http://example.org/a?b=c&d=e#f me@example.org", "<b>bold</b> &amp; &lt;", "DOTMULTI DOTDOTMULTI x",
    "((nested) [brackets] {braces})", "a,b ,c , d;e:f", "\u2581under\u2581line \u2581", "\u0120Hello\u010a",
    "##ing </w> a</w>", "<0x41><0x00>", "[CLS] [SEP] [MASK] [PAD] [UNK]", "<s> </s> <mask> <pad> <unk>",
    "<|endoftext|>", "<extra_id_0> <extra_id_99>", "<special0><special9>", "en_XX ro_RO", ">>fr<< hello", ">>xx<<",
    ">> <<", "<eos> <formula> <EOS>", "  padded   with    spaces  ", "x" * 300, "ab" * 100, "-" * 50, "\u4e00" * 40,
    "word " * 40, "\u00e9" * 60, "a\u0301" * 30, "\U0001f600" * 20,
]  # fmt: skip
"""Controls, marks, spaces, emoji, and what vocabularies use for themselves."""
BYTES = [b"\xff\xfe", b"caf\xe9 au lait", b"\xf0\x9f\x98", b"a\x80b\xc3\x28c", b"\xed\xa0\x80 half", b"ok \xc0\xaf"]
"""What is no UTF-8."""
UNDECODED = [content.decode(errors="replace") for content in BYTES]
"""The same with a mark for what is lost."""


def texts() -> list[str]:
    """All of them, and lines in which scripts meet."""
    plain = [line for lines in SENTENCES.values() for line in lines]
    mixed = [" ".join(plain[number :: len(SENTENCES)]) for number in range(len(SENTENCES))]
    return [*plain, *mixed, *ODD, *UNDECODED]


def corpus() -> list[str]:
    """Enough lines to train a small vocabulary on: the sentences, in several orders of their words."""
    draw = random.Random(7)
    plain = [line for lines in SENTENCES.values() for line in lines]
    lines = [*plain, *(line.lower() for line in plain)]
    for _ in range(12):
        for line in SENTENCES["Latin"] * 4 + plain:
            words = line.split()
            draw.shuffle(words)
            lines.append(" ".join(words))
    return lines


def fuzzed(count: int, seed: int = 0) -> Iterator[str]:
    """Strings of letters of one script or of any, of pieces of the texts, and of all of these."""
    draw = random.Random(seed)
    known = texts()
    letters = sorted({letter for text in known for letter in text})
    ascii_letters = [chr(code) for code in range(32, 127)]
    kinds = [
        lambda: draw.choice(ascii_letters),
        lambda: draw.choice(letters),
        lambda: _any(draw),
        lambda: _piece(draw, draw.choice(known)),
        lambda: draw.choice((" ", "  ", "\n", "\t", " ")),
    ]
    for _ in range(count):
        weights = [draw.random() ** 3 for _ in kinds]
        parts = draw.choices(kinds, weights, k=draw.randint(1, 12))
        yield "".join(part() for part in parts)


def _any(draw: random.Random) -> str:
    """Any letter but half of one."""
    code = draw.randrange(draw.choice((0x300, 0x3000, 0x10000, 0x20000, sys.maxunicode + 1)))
    return " " if unicodedata.category(chr(code)) == "Cs" else chr(code)


def _piece(draw: random.Random, text: str) -> str:
    start = draw.randrange(len(text) + 1)
    return text[start : start + draw.randint(1, 12)]
