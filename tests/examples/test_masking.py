import ast
import contextlib
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.languages.python.source import FunctionNotFound, SourceInvalid, find, parse, qualified_names
from examples.masking import MaskingError, Segment, fill, mask, restore, test_source
from tests.examples.published import exec_csn

STDLIB = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))


def opened(source: str, name: str):
    masked = mask(source, name)
    assert restore(masked) == source
    ast.parse(fill(masked.context, masked.gap, "..."))
    return masked


def test_all_24_published_records_are_restored_byte_for_byte_and_have_one_test():
    for record in exec_csn():
        masked = opened(record["code"], record["func_name"])
        assert len(masked.expected) == 1
        assert [segment.kind for segment in masked.tests] == ["function", "block"]
        assert masked.expected[0] in masked.block
        assert masked.reference
        assert not any(line.startswith(("def test", "if __name__")) for line in masked.context.splitlines())


@pytest.mark.parametrize("path", STDLIB[::2][:100], ids=lambda path: path.name)
def test_every_function_of_a_standard_library_file_masks_and_restores(path):
    source = path.read_bytes().decode("utf-8", errors="replace")
    tree = parse(source)
    for name in dict.fromkeys(qualified_names(tree.body)):
        with contextlib.suppress(MaskingError):  # only a docstring, or inside something that is a test
            assert restore(mask(source, name, tree=tree)) == source
    masked = next(
        (mask(source, name, tree=tree) for name in qualified_names(tree.body) if name.isidentifier()), None
    )
    if masked:
        ast.parse(fill(masked.context, masked.gap, "..."))


def test_the_body_starts_behind_the_docstring_with_the_comments_that_lead_and_trail_it():
    masked = opened(
        'def f():  # kept\n    """Doc."""\n\n    # how\n    return 1  # why\n    # more\n\n# next\n', "f"
    )
    assert masked.reference == "# how\n    return 1  # why\n    # more"
    assert masked.context == 'def f():  # kept\n    """Doc."""\n\n    \n\n# next\n'


def test_a_comment_of_another_indentation_does_not_move_the_gap():
    masked = opened("def f():\n# odd\n    # own\n    return 1\n", "f")
    assert masked.reference == "# own\n    return 1"


def test_a_hash_inside_a_default_is_no_comment():
    masked = opened('def f(x="""\n# a"""):\n    return x\n', "f")
    assert masked.reference == "return x"


@pytest.mark.parametrize(
    ("source", "name", "reference"),
    [
        ("def f(): return 1", "f", "return 1"),
        ('def f(): "doc"; x = 1; return x;  # end\n', "f", "x = 1; return x;  # end"),
        ("def f():\n\tif 1:\n\t\treturn 2\n", "f", "if 1:\n\t\treturn 2"),
        ("def f():\r\n    x = 'é'\r\n    return x\r\n", "f", "x = 'é'\r\n    return x"),
        ("é = 'ü'\ndef f(): return 'ß' + é\n", "f", "return 'ß' + é"),
        ("async def f():\n    await g()\n", "f", "await g()"),
        ("@a\n@b(1)\ndef f():\n    pass\n", "f", "pass"),
        ("class C:\n    class D:\n        def m(self):\n            return 1\n", "C.D.m", "return 1"),
        (
            "class C:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, v): self.v = v\n",
            "C.x",
            "self.v = v",
        ),
        ("if 1:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n", "f", "return 2"),
        ("try:\n    def f():\n        return 1\nexcept E:\n    pass\n", "f", "return 1"),
        ("def f():\n    return 1\ndef f():\n    return 2\n", "f", "return 2"),
        ("def o():\n    def i():\n        return 1\n    return i\n", "o.<locals>.i", "return 1"),
        ("x = 1\n\x0cdef f():\n    return 1\n\x0c\n", "f", "return 1"),
        ("def f():\n    @d\n    def g(): pass\n    return g\n", "f", "@d\n    def g(): pass\n    return g"),
        (
            "def f():\n    @(\n        d\n    )\n    def g(): pass\n",
            "f",
            "@(\n        d\n    )\n    def g(): pass",
        ),
        ("def f():\r    return 1\r", "f", "return 1"),
        (
            "class C:\n    def m(self):\n        return 1\n\n    # about n\n    def n(self): pass\n",
            "C.m",
            "return 1",
        ),
    ],
)
def test_the_open_region_is_exactly_the_body(source, name, reference):
    assert opened(source, name).reference == reference


def test_a_function_with_only_a_docstring_is_refused():
    with pytest.raises(MaskingError, match="only a docstring"):
        mask('def f():\n    """Doc."""\n', "f")


def test_a_function_inside_a_test_is_refused():
    with pytest.raises(MaskingError, match="inside the tests"):
        mask("def test_a():\n    def g(): return 1\n    assert g()\n", "test_a.g")


def test_an_unknown_name_is_answered_with_the_near_ones():
    with pytest.raises(FunctionNotFound, match=r"'C.parse'.*C.parse_line"):
        mask("class C:\n    def parse_line(self): return 1\n", "C.parse")
    with pytest.raises(FunctionNotFound, match="defines no function"):
        mask("x = 1\n", "f")


def test_a_byte_order_mark_nul_and_half_characters_are_refused_in_plain_words():
    for source, words in [
        ("\ufeffdef f(): return 1", "byte order"),
        ("x = '\0'", "null"),
        ("x = '\udc80'", "half"),
    ]:
        with pytest.raises(SourceInvalid, match=words):
            mask(source, "f")


@pytest.mark.parametrize(
    "source",
    [
        "print 'a'\n",
        "print x\n",
        "try: pass\nexcept E, e: pass\n",
        "raise E, 'x'\n",
        "x = 0777\n",
        "exec 'a'\n",
        "a <> b\n",
    ],
)
def test_python_2_is_told_apart(source):
    with pytest.raises(SourceInvalid, match="looks like Python 2"):
        parse(source)


def test_other_syntax_errors_are_not_called_python_2_and_carry_their_line():
    with pytest.raises(SourceInvalid) as caught:
        parse("x = 1\nif x\n    pass\n")
    assert "Python 2" not in caught.value.message
    assert caught.value.line == 2


def test_nesting_too_deep_for_the_parser_is_an_error_not_a_crash():
    with pytest.raises(SourceInvalid, match="nested too deeply"):
        parse("-" * 100_000 + "1")


def test_a_block_without_guard_and_what_it_binds_are_taken_out():
    source = "def f(): return 1\ndef test_f(): assert f()\nresult = test_f()\nprint(result)\n"
    masked = opened(source, "f")
    assert [segment.kind for segment in masked.tests] == ["function", "block", "block"]
    assert masked.block == "result = test_f()\nprint(result)\n"
    assert masked.context == "def f(): \n"


def test_only_the_tests_that_the_block_reaches_are_expected():
    source = (
        "def f(): return 1\ndef test_a(): assert f()\ndef test_b(): assert f()\ndef test_c(): test_b()\n"
        "def run(): test_c()\nif '__main__' == __name__:\n    run()\n"
    )
    assert opened(source, "f").expected == ("test_b", "test_c")


def test_a_block_that_names_no_test_is_not_run():
    source = "import pytest\ndef f(): return 1\ndef test_a(): assert f()\nif __name__ == '__main__':\n    pytest.main()\n"
    masked = opened(source, "f")
    assert (masked.block, masked.expected) == ("", ("test_a",))
    assert len(masked.tests) == 2


def test_decorators_and_comments_right_above_belong_to_the_test():
    source = "def f(): return 1\n\n# Test it\n@gen.coroutine\nasync def test_f():\n    assert f()\n    # end\n# after\n"
    masked = opened(source, "f")
    assert masked.tests == (
        Segment(
            len("def f(): \n\n"),
            "# Test it\n@gen.coroutine\nasync def test_f():\n    assert f()\n    # end\n# after\n",
            "function",
            "test_f",
        ),
    )
    assert masked.context == "def f(): \n\n"


def test_comments_below_a_test_belong_to_it_but_those_right_above_what_stays():
    source = """def f(x):
    return x

def test_f():
    assert f(1) == 1
# case 4711: f(2) == 2

# case 4712

# about g
# and more
def g():
    pass

def test_g():
    assert g() is None

# case 4713
if __name__ == "__main__":
    test_f()
# case 4714

# case 4715
"""
    masked = opened(source, "f")
    assert "case" not in masked.context
    assert "# about g\n# and more\ndef g():" in masked.context
    assert masked.expected == ("test_f",)


def test_the_gaps_between_tests_do_not_stay_in_the_context():
    source = "def f(): return 1\n\n\ndef test_a(): assert f()\n\n\ndef test_b(): assert f()\n\n\nx = 1\n"
    masked = opened(source, "f")
    assert masked.context == "def f(): \n\n\nx = 1\n"
    assert test_source(masked.tests) == "def test_a(): assert f()\n\n\ndef test_b(): assert f()\n\n\n"


def test_a_string_that_looks_like_a_comment_stays_whole():
    masked = opened('def f(): return 1\nX = """\n# a"""\ndef test_f(): assert f()\n', "f")
    assert '# a"""' in masked.context


def test_the_focal_function_may_be_called_test_something():
    masked = opened(
        "def test_url(url): return url\ndef test_it(): assert test_url(1)\ntest_it()\n", "test_url"
    )
    assert masked.expected == ("test_it",)
    assert masked.reference == "return url"


def test_the_focal_function_is_never_a_test_even_without_arguments():
    masked = opened("def test_link(): return 1\ndef test_it(): assert test_link()\n", "test_link")
    assert (masked.expected, masked.reference) == (("test_it",), "return 1")


def test_calls_that_share_a_line_are_taken_out_once():
    source = (
        "def f(): return 1\ndef test_a(): assert f()\ndef test_b(): assert f()\ntest_a(); test_b()\nx = 1\n"
    )
    masked = opened(source, "f")
    assert masked.block == "test_a(); test_b()\n"
    assert masked.context == "def f(): \nx = 1\n"


def test_a_helper_called_test_that_needs_arguments_is_no_test():
    masked = opened(
        "def f(): return test_url(1)\ndef test_url(url): return url\ndef test_f(): assert f()\n", "f"
    )
    assert masked.expected == ("test_f",)
    assert "def test_url" in masked.context


def test_other_names_can_be_the_tests():
    source = "def f(x): return x\ndef check(candidate):\n    assert candidate(1)\ncheck(f)\n"
    masked = mask(source, "f", test_names=["check"])
    assert restore(masked) == source
    assert (masked.expected, masked.block) == (("check",), "check(f)\n")
    assert test_source(masked.tests) == "def check(candidate):\n    assert candidate(1)\n"


LINES = st.lists(
    st.sampled_from(
        [
            "x = 1",
            "# note",
            "",
            "x = 'é # no'",
            'y = """\n# in\n"""',
            "if x: pass",
            "def g(): pass",
            "return x;",
            "x = (1,\n2)",
        ]
    ),
    min_size=1,
    max_size=6,
)


@given(
    body=LINES,
    doc=st.sampled_from(["", '"""Doc."""', '"""Doc\n\n# no comment\n"""  # c']),
    indent=st.sampled_from(["    ", "\t", "  "]),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    wrapped=st.booleans(),
    tail=st.sampled_from(
        ["", "\n", "\n# after\nz = 1\n", "\ndef test_f():\n    assert f()\n    # end\n\ntest_f()"]
    ),
)
def test_any_function_masks_restores_and_stays_parseable(body, doc, indent, newline, wrapped, tail):
    lines = [
        "def f(a=1,",
        " b=2):",
        *([indent + doc] if doc else []),
        *(indent + line if line else "" for line in body),
    ]
    lines.append(indent + "pass")
    if wrapped:
        lines = ["class C:", *(indent + line if line else "" for line in "\n".join(lines).split("\n"))]
    source = ("\n".join(lines) + tail).replace("\n", newline)
    tree = ast.parse(source)
    name = "C.f" if wrapped else "f"
    masked = opened(source, name)
    kept = find(ast.parse(fill(masked.context, masked.gap, masked.reference)), name)
    assert ast.dump(kept) == ast.dump(find(tree, name))
    assert ast.unparse(find(ast.parse(fill(masked.context, masked.gap, "...")), name).body[-1]) == "..."
