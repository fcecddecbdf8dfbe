import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.assembly import Answer, assemble, empty_program, reference_program, starting_answer
from examples.languages.python.indentation import inside_strings, moved
from examples.masking import MaskingError, mask
from tests.examples.published import exec_csn

CONTEXT = '''"""Module."""
from __future__ import annotations

import os

LIMIT = 3


class Outer:
    class Inner:
        def helper(self):
            return 1

        @staticmethod
        def m(a, b=2):
            """Say.

            More.
            """
            return a + b

    y = 1


z = 2
'''


def opened(source: str, name: str):
    masked = mask(source, name)
    return masked.context, masked.gap


def put(source: str, name: str, function: str, module: str = "", **extra):
    assembled = assemble(*opened(source, name), Answer(function, module), **extra)
    assert len(assembled.program.encode().splitlines()) == len(assembled.lines)
    return assembled


def result_of(program: str, expression: str):
    namespace = {"__name__": "program"}
    exec(program, namespace)
    return eval(expression, namespace)


def through_the_editor(masked) -> str:
    """Return the starting text with the reference typed into it."""
    start = starting_answer(masked.context, masked.gap)
    column = masked.context.encode()[: masked.gap].decode().splitlines()[-1]
    body = (column + masked.reference).replace("\r\n", "\n")
    lines = moved(body.split("\n"), column, "    ", inside=inside_strings(body))
    return start.removesuffix("    ") + "\n".join(lines)


def test_the_24_references_through_the_editor_give_the_published_program():
    for record in exec_csn():
        masked = mask(record["code"], record["func_name"])
        want = reference_program(masked.context, masked.gap, masked.reference)
        for text in (
            through_the_editor(masked),
            masked.reference,
            f"Sure:\n\n```python\n{record['code']}\n```\nDone.",
        ):
            got = assemble(masked.context, masked.gap, Answer(text))
            assert got.function_found
            assert got.error is None
            if "```" not in text:
                assert ast.dump(ast.parse(got.program)) == ast.dump(ast.parse(want))


def test_the_starting_text_is_the_signature_and_docstring_at_column_0_and_an_empty_line():
    assert starting_answer(*opened(CONTEXT, "Outer.Inner.m")) == (
        '@staticmethod\ndef m(a, b=2):\n    """Say.\n\n            More.\n            """\n    '
    )
    assert starting_answer(*opened("def f(a): return 1", "f")) == "def f(a):\n    "
    assert starting_answer(*opened('def f(a): "doc"; return 1', "f")) == 'def f(a):\n    "doc"\n    '
    assert starting_answer(*opened("class C:\n\tasync def f(self,\n\t\t\ta):\n\t\treturn 1", "C.f")) == (
        "async def f(self,\n        a):\n    "
    )


def test_imports_helpers_and_what_follows_go_to_their_places_and_every_line_knows_its_origin():
    function = "import re\nK = 5\n\n# about\ndef m(a, b=2):\n    return a * b * K * F\n\nw = Outer\n"
    module = "from __future__ import division\nfrom math import floor\nF = floor(1.5)\n"
    got = put(CONTEXT, "Outer.Inner.m", function, module)
    assert result_of(got.program, "Outer.Inner.m(2, 3), w is Outer, Outer.y, z") == (30, True, 1, 2)
    assert got.warnings == ()
    texts = got.program.splitlines()
    assert (
        texts.index("from __future__ import division") < texts.index("import os") < texts.index("import re")
    )
    assert texts.index("class Outer:") - 1 == texts.index("K = 5")
    regions = {
        "function": function.splitlines(),
        "module": module.splitlines(),
        "context": CONTEXT.splitlines(),
    }
    for text, origin in zip(texts, got.lines, strict=True):
        assert text.strip() == regions[origin.region][origin.line - 1].strip()


def test_decorators_of_the_context_stay_unless_the_answer_brings_its_own():
    assert put(CONTEXT, "Outer.Inner.m", "def m(a): return a").program.count("@staticmethod") == 1
    got = put(CONTEXT, "Outer.Inner.m", "@classmethod\ndef m(cls, a): return cls.__name__")
    assert "@staticmethod" not in got.program
    assert result_of(got.program, "Outer.Inner.m(1)") == "Inner"


@pytest.mark.parametrize(
    "answer",
    [
        "class Outer:\n    class Inner:\n        def m(a, b=2):\n            return 7\n",
        "class Inner:\n    @staticmethod\n    def m(a, b=2):\n        return 7\n",
        "def m(a): return 1\n\ndef m(a, b=2): return 7\n",
        "return 7",
        "    return 7\n",
        "if a:\n        return 7\n    return 8\n",
        "x = 7\n\ndef other(): return x\n\nreturn other()",
        "Here it is:\n```\ndef m(a, b=2):\n    return 7\n```\nand a use:\n```python\nprint(m(1))\n```\n",
        "```python\nreturn 7\n```",
        '```python\ndef m(a):\n    """\n    ```python\n    m(1)\n    ```\n    """\n    return 7\n```\n',
        "1. Like this:\n\n   ```python\n   def m(a):\n       return 7\n   ```\n2. Done.\n",
        "> ```py\n> def m(a):\n>     return 7\n> ```\n",
        "~~~~\ndef m(a):\n    return 7\n~~~~\n",
        "Sure.\n[PYTHON]\ndef m(a):\n    return 7\n[/PYTHON]\n[TESTS]\nassert m(1) == 7\n[/TESTS]\n",
        "```python\ndef m(a, b=2):\n    return 7\n",
        "\r\n\tx = 7\r\n\treturn x\r\n",
        'def m(a, b=2):\n    """```"""\n    return 7\n',
    ],
)
def test_the_function_is_found_wherever_it_stands(answer):
    got = put(CONTEXT, "Outer.Inner.m", answer)
    assert got.function_found
    assert got.error is None
    assert result_of(got.program, "Outer.Inner.m(1)") == 7


@pytest.mark.parametrize(
    "answer",
    [
        "        def m(a, b=2):\n            return a * b\n",
        "\n        # about\n        @staticmethod\n        def m(a, b=2):\n\n            return a * b\n\n",
        "    import os\n    def m(a, b=2):\n        return a * b",
    ],
)
def test_a_method_copied_with_its_indentation_is_the_function_and_no_body(answer):
    got = put(CONTEXT, "Outer.Inner.m", answer)
    assert result_of(got.program, "Outer.Inner.m(3, 4)") == 12
    assert got.error is None


def test_a_body_with_a_function_of_the_same_name_inside_stays_a_body():
    got = put(CONTEXT, "Outer.Inner.m", "    def m(a):\n        return a + 1\n    return m(a)\n")
    assert result_of(got.program, "Outer.Inner.m(3)") == 4


def test_a_body_of_two_functions_after_a_completion_keeps_the_second_one_outside():
    got = put("def f(a):\n    return 0\n", "f", "    return g(a)\n\n\ndef g(a):\n    return a + 1\n")
    assert result_of(got.program, "f(1), g(1)") == (2, 2)


def test_a_docstring_underlined_with_tildes_behind_a_body_is_no_fence():
    body = '    return a * b\n"""\n    Module\n    ~~~~~~\n\n    Words.\n"""\nimport os\n'
    assembled = put("def f(a, b):\n    return a\n", "f", body)
    assert assembled.function_found
    assert result_of(assembled.program, "f(2, 3)") == 6


def test_methods_that_the_answers_class_adds_are_kept_and_those_of_the_context_win():
    answer = """class Inner:
    def helper(self):
        return 99
    def extra(self):
        return 5
    @staticmethod
    def m(a, b=2):
        return Outer.Inner().extra()
"""
    got = put(CONTEXT, "Outer.Inner.m", answer)
    assert result_of(got.program, "Outer.Inner.m(1), Outer.Inner().helper()") == (5, 1)
    assert got.warnings == ("`helper` of the answer's class was left out: the context has its own.",)


def test_a_helper_that_hides_a_name_is_warned_of_by_name():
    got = put(
        CONTEXT,
        "Outer.Inner.m",
        "import os\ndef m(a): return 1",
        "LIMIT = 4\ndef test_m(): pass",
        tests=["test_m"],
    )
    assert got.warnings == ("`LIMIT` hides a name of the context.", "`test_m` hides a name of the tests.")


def test_a_main_block_of_the_answer_is_left_out():
    got = put(
        "def f():\n    return 1\n",
        "f",
        "def f():\n    return 2\n\nif __name__ == '__main__':\n    raise SystemExit\n",
    )
    assert "SystemExit" not in got.program
    assert "left out" in got.warnings[0]


def test_what_does_not_parse_runs_as_it_stands_at_the_functions_place():
    got = put(CONTEXT, "Outer.Inner.m", "def m(a):\n    return (\n")
    assert not got.function_found
    assert (got.error.region, got.error.line) == ("function", 2)
    with pytest.raises(SyntaxError) as caught:
        compile(got.program, "solution.py", "exec")
    assert got.lines[caught.value.lineno - 1] == ("function", 2)
    assert "        def m(a):\n" in got.program


def test_a_module_region_that_does_not_parse_is_marked_and_run():
    got = put(CONTEXT, "Outer.Inner.m", "def m(a): return 1", "import os\nimport +\n")
    assert (got.error.region, got.error.line, got.function_found) == ("module", 2, True)
    with pytest.raises(SyntaxError):
        compile(got.program, "solution.py", "exec")


@pytest.mark.parametrize(
    "answer", ["", "  \n", "# nothing\n", "def other(): return 1", "class X: pass", "import os"]
)
def test_an_answer_without_the_function_cannot_pass(answer):
    got = put(CONTEXT, "Outer.Inner.m", answer)
    assert not got.function_found
    with pytest.raises(NotImplementedError, match="does not define m"):
        result_of(got.program, "Outer.Inner.m(1)")


@pytest.mark.parametrize(
    ("source", "name", "answer", "expression", "value"),
    [
        ("def f(): return 1", "f", "def f():\n    return 2", "f()", 2),
        ("x = 1\r\ndef f():\r\n    return 1\r\ny = f()\r\n", "f", "def f():\n    return 2", "y", 2),
        (
            "class C:\n\tdef m(self):\n\t\t'''d'''\n\t\treturn 1\n\tq = 3\n",
            "C.m",
            "def m(self):\n    if 1:\n        return 2",
            "C().m() + C.q",
            5,
        ),
        ("class C:\n\tdef m(self):\n\t\t'''d'''\n\t\treturn 1\n", "C.m", "x = 2\nreturn x", "C().m()", 2),
        (
            "class C:\n  @property\n  def x(self): return 1\n  @x.setter\n  def x(self, v): self.v = v\n",
            "C.x",
            "def x(self, v):\n    self.v = v + 1",
            "(lambda c: (setattr(c, 'x', 1), c.v))(C())[1]",
            2,
        ),
        (
            "if 1:\n    def f():\n        return 1\nelse:\n    pass\ny = f()\n",
            "f",
            "g = 2\ndef f():\n    return g",
            "y",
            2,
        ),
        ("def f(): return 1", "f", "def f():\n    return '''a\n  b'''", "f()", "a\n  b"),
        (
            "class C:\n    def m(self):\n        return 1\n",
            "C.m",
            "def m(self):\n    return '''a\n  b\\\n  c'''",
            "C().m()",
            "a\n  b  c",
        ),
        (
            "def o():\n    def i():\n        return 1\n    return i()\n",
            "o.i",
            "def i():\n    return 2",
            "o()",
            2,
        ),
        (
            "import os; x = (1,\n 2)\ndef f(): return 1",
            "f",
            "import re\ndef f(): return re.I and 2",
            "f()",
            2,
        ),
        (
            "#!/usr/bin/python\n# licence\n\ndef f(): return 1",
            "f",
            "from __future__ import annotations\nimport re\ndef f(): return re.I and 2",
            "f()",
            2,
        ),
    ],
)
def test_the_answer_fits_the_contexts_form(source, name, answer, expression, value):
    assert result_of(put(source, name, answer).program, expression) == value


def test_an_async_function_is_put_back():
    got = put(
        "class C:\n    async def f(self):\n        return 1\n", "C.f", "async def f(self):\n    return 2\n"
    )
    assert "    async def f(self):\n        return 2\n" in got.program


def test_the_empty_program_keeps_the_docstring():
    program = empty_program(*opened(CONTEXT, "Outer.Inner.m"))
    assert result_of(program, "Outer.Inner.m(1), Outer.Inner.m.__doc__[:3]") == (None, "Say")


def test_a_gap_where_no_function_is_open_is_refused():
    with pytest.raises(MaskingError, match="byte 6"):
        assemble("x = 1\n", 6, Answer(""))
    with pytest.raises(MaskingError, match="not Python"):
        assemble("def f(\n", 0, Answer(""))


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_text_is_assembled_without_an_error_and_each_line_is_accounted_for(function, module):
    put(CONTEXT, "Outer.Inner.m", function, module)


STATEMENTS = st.sampled_from(
    [
        "x = 1",
        "s = '''a\n   b'''",
        "if a:\n    x = 2",
        "t = (1,\n2)",
        "# note",
        "",
        "def g():\n    return 3",
        "import os",
    ]
)


@given(st.lists(STATEMENTS, max_size=6), st.sampled_from(["    ", "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_the_answers_function_keeps_its_meaning_at_any_indentation(statements, unit, newline):
    answer = "def m(a):\n" + textwrap.indent(
        "\n".join([*statements, "return a"]), "    ", lambda line: bool(line.strip())
    )
    want = ast.dump(ast.parse(answer).body[-1])
    source = f"class C:\n{unit}def n(self): pass\n{unit}def m(a):\n{unit}{unit}return 0\n".replace(
        "\n", newline
    )
    got = ast.parse(put(source, "C.m", answer).program).body[0].body[-1]
    assert ast.dump(got) == want
