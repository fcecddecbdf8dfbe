import ast
import io
import stat
import textwrap
import zipfile

import pytest

from examples.generation.fragments import archives
from examples.generation.fragments.archives import module_of, read_archive
from examples.generation.fragments.base import Candidate, LeftOut, Origin, Reason, SourceFile, SourceRefused
from examples.generation.fragments.checkouts import read_checkout
from examples.generation.fragments.codesearchnet import read_codesearchnet
from examples.generation.fragments.licences import named, of_metadata, of_text
from examples.generation.fragments.screening import Wanted, screen, touched
from examples.generation.fragments.structure import structure_of
from tests.examples.published import data_file

MIT = "Permission is hereby granted, free of charge, to any person obtaining\na copy of this software"


def file_of(text, path="pack/a.py", **values):
    return SourceFile(path, textwrap.dedent(text).lstrip("\n"), Origin("pack"), **values)


def screened(text, wanted=None, **values):
    return list(screen([file_of(text, **values)], wanted or Wanted()))


def reason_of(text, **values):
    (found,) = screened(text, **values)
    return found.reason if isinstance(found, LeftOut) else None


def zipped(files, **attributes):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = attributes.get(name, 0)
            archive.writestr(entry, data)
    stream.seek(0)
    return stream


def test_every_method_is_found_by_its_qualified_name_and_nested_functions_stay_where_they_are():
    found = screened(
        "class A:\n    class B:\n        def f(self): return 1\n    def g(self):\n        def h(): pass\n        return h\n"
    )
    assert [(each.name, each.line) for each in found] == [("A.B.f", 3), ("A.g", 4)]
    assert found[0].key == "pack/a.py::A.B.f"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f():\n    print 1\n", Reason.PYTHON_2),
        ("def f(:\n", Reason.NOT_PYTHON),
        ("x = 1\n", Reason.NO_FUNCTION),
        ("def f():\n    '''Doc.'''\n    ...\n", Reason.STUB),
        ("def f():\n    raise NotImplementedError('later')\n", Reason.STUB),
        ("def test_f():\n    return 1\n", Reason.TEST_CODE),
        ("def f():\n" + "    x = 1\n" * 201, Reason.TOO_LONG),
    ],
)
def test_what_is_no_fragment_is_left_out_with_a_code_and_a_sentence(text, reason):
    assert reason_of(text) == reason


def test_a_function_that_raises_something_else_with_that_word_in_it_is_no_stub():
    assert reason_of("def f():\n    raise ValueError('NotImplementedError')\n") is None


def test_the_sentence_names_the_line():
    (found,) = screened("x = 1\ndef f():\n    print 1\n")
    assert found.sentence.startswith("pack/a.py, line 3: looks like Python 2")
    assert found.line == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import requests as r\ndef f(u):\n    return r.get(u)\n", Reason.NETWORK),
        ("from urllib import request\ndef f(u):\n    return request.urlopen(u)\n", Reason.NETWORK),
        ("def f(u):\n    from socket import create_connection as c\n    return c(u)\n", Reason.NETWORK),
        ("import torch\ndef f(m):\n    return torch.cuda.is_available()\n", Reason.GPU),
        ("def f(model):\n    return model.cuda()\n", Reason.GPU),
        ("from os import system as s\ndef f(c):\n    return s(c)\n", Reason.SUBPROCESS),
        ("def f(c):\n    return subprocess.run(c)\n", Reason.SUBPROCESS),
        ("def f(p):\n    with open(p) as file:\n        return file.read()\n", Reason.FILES),
        ("def helper(p):\n    return open(p)\ndef f(p):\n    return helper(p)\n", Reason.FILES),
    ],
)
def test_what_a_function_touches_is_told_by_imports_and_aliases(text, reason):
    found = screened(text)
    assert isinstance(found[-1], LeftOut)
    assert found[-1].reason == reason


@pytest.mark.parametrize(
    "text",
    [
        "import requests\ndef f(requests):\n    return requests.get('a')\n",
        "def f():\n    return 'import subprocess; open(1)'\n",
        "import os, socket\ndef f(a):\n    return os.path.join(a, 'b'), socket.AF_INET\n",
        "def open(x):\n    return x\n",
        "from mine import subprocess\ndef f(c):\n    return subprocess.plan(c)\n",
        "def f(self):\n    self.requests.get(1)\n    return self.open\n",
    ],
)
def test_letters_that_only_look_like_it_touch_nothing(text):
    assert reason_of(text) is None


def test_what_may_be_touched_is_a_setting_and_kept_with_the_fragment():
    (found,) = screened("def f(p):\n    return open(p)\n", Wanted(refused=frozenset([Reason.NETWORK])))
    assert isinstance(found, Candidate)
    assert touched(found) == ["files"]


def test_a_copy_under_other_names_is_a_duplicate_and_says_of_what():
    found = screened(
        """
        def f(items, limit):
            '''Doc.'''
            return [each for each in items if each < limit]
        def g(xs, most):  # the same
            return [x for x in xs if x < most]
        def h(xs, most):
            return [x for x in xs if x <= most]
        """
    )
    assert [getattr(each, "reason", None) for each in found] == [None, Reason.DUPLICATE, None]
    assert found[1].sentence == "g in line 4 is pack/a.py, f under other names."


def test_names_from_outside_and_keywords_are_part_of_a_structure():
    def shape(text):
        return structure_of(ast.parse(text).body[0])

    assert shape("def f(a): return len(a)") == shape("def g(b): return len(b)")
    assert shape("def f(a): return len(a)") != shape("def f(a): return sum(a)")
    assert shape("def f(a): return a.x") != shape("def f(a): return a.y")
    assert shape("def f(a): return g(x=a)") != shape("def f(a): return g(y=a)")
    assert shape("def f(a):\n    global n\n    n = a") != shape("def f(a):\n    global m\n    m = a")
    assert shape("def f(n): return f(n)") == shape("def g(k): return g(k)")


def test_a_wheel_gives_its_functions_with_name_version_and_licence():
    metadata = "Name: pack\nVersion: 1.2\nLicense-Expression: BSD-3-Clause\n\nText\n"
    wheel = zipped({"pack/a.py": "def f(): return 1\n", "pack-1.2.dist-info/METADATA": metadata})
    (file,) = read_archive(wheel, file_name="pack-1.2-py3-none-any.whl")
    assert (file.module, file.origin.repository, file.origin.licence) == (
        "pack.a",
        "pack 1.2",
        "BSD-3-Clause",
    )
    assert file.siblings == {"pack.a": "def f(): return 1\n"}


def test_a_zip_is_read_without_leaving_it_and_without_links():
    link = (stat.S_IFLNK | 0o777) << 16
    archive = zipped(
        {
            "a.py": "x = 1\n",
            "../b.py": "x",
            "/c.py": "x",
            "C:\\d.py": "x",
            "e.py": "a.py",
            "f.py": b"\xff",
            "LICENSE": MIT,
        },
        **{"e.py": link},
    )
    found = list(read_archive(archive, file_name="some.zip"))
    assert [each.text for each in found if isinstance(each, SourceFile)] == ["x = 1\n"]
    assert found[-1].origin.licence == "MIT"
    left = {each.path: (each.reason, each.sentence) for each in found if isinstance(each, LeftOut)}
    assert left["../b.py"][1] == "../b.py leads out of the archive."
    assert left["e.py"][1] == "e.py is a symbolic link."
    assert left["f.py"] == (Reason.NOT_UTF8, "f.py is not UTF-8: byte 1, line 1.")
    assert {"/c.py", "C:\\d.py"} <= left.keys()


def test_the_licence_of_something_inside_an_archive_is_not_that_of_the_whole():
    inside = zipped({"top/a.py": "x = 1\n", "top/vendor/thing/LICENSE": MIT})
    assert [each.origin.licence for each in read_archive(inside, file_name="a.zip")] == [""]
    whole = zipped({"top/a.py": "x = 1\n", "top/LICENSE": MIT})
    assert [each.origin.licence for each in read_archive(whole, file_name="a.zip")] == ["MIT"]
    wheel = zipped(
        {"a.py": "x = 1\n", "a-1.dist-info/METADATA": "Name: a\n", "a-1.dist-info/licenses/LICENSE": MIT}
    )
    assert [each.origin.licence for each in read_archive(wheel, file_name="a.whl")] == ["MIT"]


def test_a_bomb_and_what_is_no_archive_are_refused(monkeypatch):
    with pytest.raises(SourceRefused, match="more than 100 times"):
        list(read_archive(zipped({"a.py": b" " * (4 << 20)}), file_name="a.zip"))
    with pytest.raises(SourceRefused, match="cannot be read"):
        list(read_archive(io.BytesIO(b"no archive"), file_name="a.zip"))
    monkeypatch.setattr(archives, "WHOLE_LIMIT", 10)
    with pytest.raises(SourceRefused, match="more than 0 MiB"):
        list(read_archive(zipped({"a.py": "x = 1\n" * 2}), file_name="a.zip"))
    monkeypatch.setattr(archives, "ENTRIES_LIMIT", 1)
    with pytest.raises(SourceRefused, match="2 entries"):
        list(read_archive(zipped({"a.py": "", "b.py": ""}), file_name="a.zip"))


def test_a_checkout_is_read_as_files_with_licence_and_commit_and_nothing_in_it_runs(tmp_path):
    (tmp_path / ".git/refs/heads").mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git/packed-refs").write_text("# pack-refs\n" + "a" * 40 + " refs/heads/main\n")
    (tmp_path / ".git/hooks").mkdir()
    (tmp_path / ".git/hooks/post-checkout.py").write_text("raise SystemExit")
    (tmp_path / "src/pack").mkdir(parents=True)
    (tmp_path / "src/pack/a.py").write_text("def f(): return 1\n")
    (tmp_path / "out.py").symlink_to("/etc/hostname")
    (tmp_path / "away").symlink_to("/usr/lib/python3")
    (tmp_path / "LICENCE.txt").write_text("Apache License\nVersion 2.0, January 2004\n")
    found = list(read_checkout(tmp_path, repository="me/pack"))
    assert [each.path for each in found] == ["out.py", "src/pack/a.py"]
    assert found[0].sentence == "out.py is a symbolic link."
    assert (found[1].module, found[1].origin.licence) == ("pack.a", "Apache-2.0")
    assert found[1].origin.facts["commit"] == "a" * 40
    with pytest.raises(SourceRefused, match="is no folder"):
        list(read_checkout(tmp_path / "none"))


@pytest.mark.parametrize(
    ("told", "licence"),
    [
        ("License: MIT License\n", "MIT"),
        ("License: BSD-2-Clause\n", "BSD-2-Clause"),
        ("Classifier: License :: OSI Approved :: Apache Software License\n", "Apache-2.0"),
        ("Classifier: License :: OSI Approved :: BSD License\n", ""),
        ("License: see the file\n", ""),
    ],
)
def test_a_licence_is_named_only_where_it_is_certain(told, licence):
    assert of_metadata(f"Name: a\nVersion: 1\n{told}").licence == licence


def test_the_text_of_a_licence_is_known_by_its_own_sentences():
    bsd = "Redistribution and use in source and binary forms, with or without modification"
    assert of_text(bsd) == "BSD-2-Clause"
    assert of_text(bsd + " Neither the name of the author") == "BSD-3-Clause"
    assert of_text(MIT) == "MIT"
    assert of_text("All rights reserved.") == ""
    assert named("Apache 2.0") == "Apache-2.0"


def test_a_path_that_cannot_be_a_module_has_no_name():
    assert [module_of(each) for each in ("src/p/__init__.py", "p/a.py", "p-1/a.py")] == ["p", "p.a", ""]


def test_each_of_the_200_published_records_is_a_candidate_or_says_why_not():
    folder = data_file("codesearchnet")
    counts = {}
    for name in ("python_train_sample.jsonl", "python_advtest_sample.jsonl"):
        with (folder / name).open("rb") as stream:
            found = list(screen(read_codesearchnet(stream), Wanted(refused=frozenset())))
        assert len(found) == 100
        old = [
            int(each.key.rpartition("-")[2])
            for each in found
            if getattr(each, "reason", "") == Reason.PYTHON_2
        ]
        counts[name] = (len(old), sum(isinstance(each, Candidate) for each in found))
    assert counts == {"python_train_sample.jsonl": (2, 98), "python_advtest_sample.jsonl": (3, 97)}
