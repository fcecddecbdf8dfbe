import ast
import textwrap

import pytest

from examples.generation.slicing import slice_function
from examples.languages.python.source import FunctionNotFound, qualified_names


def cut(text, name="f", **options):
    made = slice_function(textwrap.dedent(text).lstrip("\n"), name, **options)
    ast.parse(made.source)
    return made


def test_what_the_function_needs_is_kept_in_source_order_with_its_comments_and_the_rest_goes():
    made = cut(
        '''
        """What this module is for."""
        import os, re
        import json

        # How often; see the paper.
        LIMIT = 3  # not more

        def unused():
            return json.dumps(LIMIT)

        def helper(x):
            # why
            return re.sub("a", "b", x) * LIMIT

        def f(x):
            return helper(x)
        '''
    )
    assert made.source == (
        "import re\n\n# How often; see the paper.\nLIMIT = 3  # not more\n\n\ndef helper(x):\n    # why\n"
        '    return re.sub("a", "b", x) * LIMIT\n\ndef f(x):\n    return helper(x)\n'
    )
    assert (made.kept, made.total, made.unresolved) == (4, 6, ())


def test_a_local_that_is_called_like_something_of_the_module_brings_nothing_along():
    made = cut(
        """
        table = {1: 2}
        def g(): return table
        def f(table, xs):
            return [g for g in xs if table]
        """
    )
    assert made.source == "def f(table, xs):\n    return [g for g in xs if table]\n"


def test_classes_come_with_bases_and_decorators_and_what_changes_them_later():
    made = cut(
        """
        import functools
        def mark(cls): return cls
        class Base: pass
        @mark
        class C(Base):
            @functools.cache
            def f(self, x: "Later"): return TABLE[x]
        C.limit = 4
        TABLE = {}
        TABLE["a"] = 1
        TABLE.update(b=2)
        OTHER = {}
        OTHER["a"] = 1
        """,
        "C.f",
    )
    assert "OTHER" not in made.source
    for text in (
        "import functools",
        "def mark",
        "class Base",
        "@mark",
        "C.limit = 4",
        'TABLE["a"]',
        "update(b=2)",
    ):
        assert text in made.source


def test_locals_of_a_function_called_top_are_locals():
    made = cut("limit = 1\nitem = 2\ndef top(item): return item + limit\n", "top")
    assert made.source == "limit = 1\n\n\ndef top(item): return item + limit\n"
    assert not made.unresolved


def test_conditional_imports_and_definitions_are_kept_whole_and_future_imports_come_first():
    made = cut(
        """
        from __future__ import annotations
        import sys
        try:
            import numpy
        except ImportError:
            numpy = None
        if sys.version_info >= (3, 12):
            def g(): return numpy
        else:
            def g(): return None
        def f(x: int) -> int:
            return g()
        """
    )
    assert made.source.startswith("from __future__ import annotations\n\nimport sys\n")
    assert "except ImportError:\n    numpy = None\n" in made.source
    assert made.source.count("def g") == 2


def test_a_global_that_only_another_function_sets_brings_that_function():
    made = cut(
        """
        def start():
            global state
            state = 1
        def reads():
            global state
            return state
        def f(): return state
        """
    )
    assert "def start" in made.source
    assert "def reads" not in made.source


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("from .near import g", "relative_import", "g from .near"),
        ("from elsewhere import *", "star_import", "a star import of elsewhere"),
        ("", "missing_name", "g, used by the statement in line 2, is bound nowhere"),
        ("from . import g", "module_object", "the module . as a whole"),
    ],
)
def test_what_cannot_be_had_is_said_with_its_line(line, code, told):
    made = cut(
        f"{line}\ndef f(): return g(1)\n"
        if line
        else "\ndef f(): return g(1)\n".replace("\n", "\n#\n", 1)[2:]
    )
    assert [each.code for each in made.unresolved] == [code]
    assert (
        told.replace("line 2", f"line {2 if line else made.unresolved[0].line}")
        in made.unresolved[0].sentence
    )


def test_a_star_import_of_the_standard_library_is_kept_where_a_name_may_come_from_it():
    made = cut("from itertools import *\ndef f(x): return chain(x)\n")
    assert made.source.startswith("from itertools import *\n")
    assert not made.unresolved


def test_a_relative_import_behind_except_import_error_falls_back_by_itself():
    made = cut("try:\n    from .near import g\nexcept ImportError:\n    g = len\ndef f(x): return g(x)\n")
    assert not made.unresolved


SIBLINGS = {
    "pack": "from .near import *\n",
    "pack.near": "from .deep import base as root\n__all__ = ['g']\nSEED = 1\ndef g(x): return root(x) + SEED\n",
    "pack.deep": "import math\ndef base(x): return math.floor(x)\ndef other(): pass\n",
}


def test_imports_from_the_same_package_are_replaced_by_what_they_import():
    made = cut("from pack import g as h\ndef f(x): return h(x)\n", module="pack.main", siblings=SIBLINGS)
    assert made.inlined == ("pack.near.g", "pack.deep.base")
    assert made.source == (
        "# From pack/deep.py\nimport math\ndef base(x): return math.floor(x)\n\n\n"
        "# From pack/near.py\nroot = base\n\nSEED = 1\ndef g(x): return root(x) + SEED\n\n\n"
        "h = g\ndef f(x): return h(x)\n"
    )
    space = {}
    exec(made.source, space)
    assert space["f"](2.5) == 3


def test_one_name_for_two_things_is_said_and_not_joined():
    made = cut(
        "from .near import g\nSEED = 2\ndef f(x): return g(x) + SEED\n", module="pack.main", siblings=SIBLINGS
    )
    assert [each.code for each in made.unresolved] == ["name_clash"]
    assert "SEED is one thing in pack.near and another in pack.main" in made.unresolved[0].sentence


def test_modules_that_need_one_another_stand_behind_what_they_use():
    siblings = {
        "pack.a": "from pack.c import none\ndef one(x=none): return x\ndef two(): return one()\n",
        "pack.c": "none = 'none'\n",
    }
    made = cut(
        "from pack.a import one, two\ndef f(): return one(), two()\n", module="pack.b", siblings=siblings
    )
    space = {}
    exec(made.source, space)
    assert space["f"]() == ("none", "none")


def test_line_breaks_of_the_file_stay_and_a_slice_of_a_slice_is_the_slice():
    text = "import re\r\nA = 1\r\nB = 2\r\ndef f():\r\n    return re, A\r\n"
    made = slice_function(text, "f")
    assert made.source == "import re\r\nA = 1\r\n\r\n\r\ndef f():\r\n    return re, A\r\n"
    assert slice_function(made.source, "f").source == made.source


def test_every_function_of_some_modules_of_the_standard_library_is_cut_out_whole_and_parses():
    import bisect
    import inspect
    import shlex
    import statistics

    for module in (bisect, shlex, statistics):
        text = inspect.getsource(module)
        for name in dict.fromkeys(qualified_names(ast.parse(text).body)):
            if name.count(".") < 2:
                made = slice_function(text, name)
                again = ast.parse(made.source)
                assert any(getattr(node, "name", "") == name.partition(".")[0] for node in ast.walk(again))
                assert not made.unresolved


def test_a_function_that_is_not_there_is_named_with_what_is_near():
    with pytest.raises(FunctionNotFound, match="nearest: f"):
        slice_function("def f(): pass\n", "g")
