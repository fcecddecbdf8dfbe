import pytest

from examples.generation.docstrings import DocstringInvalid, instruction_of, without_examples
from examples.generation.doctests import DoctestsInvalid, convert_examples


def test_literals_become_values_and_other_texts_stay_texts():
    made = convert_examples(
        """
        >>> x = f(2)
        >>> x
        [1, 2]
        >>> f(x) in x
        True
        >>> f(3)
        Thing(3, 'a')
        """,
        name="test_f",
    )
    assert made.source == (
        "def test_f():\n    x = f(2)\n    assert x == [1, 2]\n    assert (f(x) in x) is True\n"
        "    assert repr(f(3)) == \"Thing(3, 'a')\"\n"
    )
    assert (made.assertions, made.examples, made.passed_over, made.needs) == (3, 4, 0, ("f", "repr"))


def test_what_is_printed_is_captured_and_compared_as_text():
    made = convert_examples(">>> for x in f():\n...     print(x)\n1\n<BLANKLINE>\n2\n", name="test_f")
    assert made.source == (
        "def test_f():\n    import contextlib\n    import io\n    printed = io.StringIO()\n"
        "    with contextlib.redirect_stdout(printed):\n        for x in f():\n            print(x)\n"
        "    assert printed.getvalue() == '1\\n\\n2\\n'\n"
    )


def test_a_text_of_several_lines_is_what_a_call_prints_or_shows():
    made = convert_examples(">>> f()\none\ntwo\n", name="test_f")
    for f in (lambda: print("one\ntwo"), lambda: type("T", (), {"__repr__": lambda self: "one\ntwo"})()):
        space = {"f": f}
        exec(made.source, space)
        space["test_f"]()


def test_exceptions_are_asserted_by_type_and_message():
    made = convert_examples(
        """
        >>> f(-1)
        Traceback (most recent call last):
        ...
        some.package.Wrong: -1: below 0
        >>> raised = 1
        """,
        name="test_f",
    )
    assert "raised_ = None\n    try:\n        f(-1)\n    except Exception as error:\n" in made.source
    assert "assert [type(raised_).__name__, str(raised_)] == ['Wrong', '-1: below 0']" in made.source


@pytest.mark.parametrize(
    ("example", "told"),
    [
        (
            ">>> f(1)  # doctest: +ELLIPSIS\n<x at 0x...>\n",
            "re.fullmatch('<x\\\\ at\\\\ 0x.*>', repr(f(1)), re.DOTALL)",
        ),
        (">>> f(1)  # doctest: +NORMALIZE_WHITESPACE\n{'a': 1,\n    'b': 2}\n", "f(1) == {'a': 1, 'b': 2}"),
        (
            ">>> print(f(1))  # doctest: +NORMALIZE_WHITESPACE\na   b\n",
            "\" \".join(printed.getvalue().split()) == 'a b'",
        ),
        (
            ">>> f(1)  # doctest: +IGNORE_EXCEPTION_DETAIL\nTraceback (most recent call last):\nm.E: x\n",
            "type(raised).__name__ == 'E'",
        ),
    ],
)
def test_options_of_an_example_are_honoured(example, told):
    made = convert_examples(example, name="test_f")
    assert f"assert {told}\n" in made.source
    assert "doctest:" not in made.source


def test_an_example_that_says_it_is_not_to_be_run_is_passed_over():
    made = convert_examples(">>> f(1)  # doctest: +SKIP\n2\n>>> f(2)\n3\n", name="test_f")
    assert (made.assertions, made.passed_over) == (1, 1)
    assert "f(1)" not in made.source


def test_imports_from_the_own_package_are_left_to_the_file_and_their_other_names_kept():
    made = convert_examples(
        ">>> from pack.a import f, g as h\n>>> import math\n>>> h(f(1))\n2\n", name="test_f", package="pack"
    )
    assert [(each.module, each.member, each.bound) for each in made.imports] == [
        ("pack.a", "f", "f"),
        ("pack.a", "g", "h"),
    ]
    assert made.source == "def test_f():\n    h = g\n    import math\n    assert h(f(1)) == 2\n"


@pytest.mark.parametrize(
    ("docstring", "said"),
    [
        (">>> f(1)\n>>> x = 2\n", "None of the docstring's 2 examples says what comes out"),
        (">>> print 1\n1\n", "line 1 of the docstring is not Python 3"),
        (">>> from math import *\n>>> f(1)\n2\n", "imports \\* from math"),
        (">>>f(1)\n", "malformed"),
        (">>> f(1)\n3\n>>> return 3\n", "no code that can stand|not Python 3"),
    ],
)
def test_examples_that_cannot_become_tests_are_refused_with_the_reason(docstring, said):
    if "return" in docstring:
        assert convert_examples(docstring, name="test_f").assertions == 1  # a function may return
        return
    with pytest.raises(DoctestsInvalid, match=said):
        convert_examples(docstring, name="test_f")


def test_strings_over_several_lines_keep_their_content():
    made = convert_examples(
        '>>> text = """a\n... b"""\n>>> f(text)\n3\n>>> def g():\n...     return """x\n... y"""\n',
        name="test_f",
    )
    space = {"f": len}
    exec(made.source, space)
    space["test_f"]()


DOCUMENTED = '''
def f(a, b=1):
    """Join two things:

    Examples
    --------
    >>> f(1)
    "it's 12345"

    For small ones the result is short:

        >>> f(2)
        2

    Parameters
    ----------
    a : int
        The first.

    Returns
    -------
    str
        Both, in order.
    """
    return a


def g():
    """Uses f.

    >>> f(2)
    2
    """


def h():
    r"""Other.

    >>> h()
    """
'''


def test_examples_are_taken_out_of_the_source_where_they_call_the_function_and_all_else_stays():
    kept = without_examples(DOCUMENTED, "f")
    assert kept == DOCUMENTED.replace("two things:", "two things.").replace(
        '    Examples\n    --------\n    >>> f(1)\n    "it\'s 12345"\n\n    For small ones the result is short:\n\n'
        "        >>> f(2)\n        2\n",
        "    For small ones the result is short.\n",
    ).replace("Uses f.\n\n    >>> f(2)\n    2\n    ", "Uses f.")


def test_the_instruction_has_the_parts_that_the_docstring_names():
    made = instruction_of(DOCUMENTED, "f")
    assert made.functionality == "Join two things.\n\nFor small ones the result is short."
    assert made.inputs.startswith("- a : int")
    assert made.outputs == "str\n    Both, in order."
    assert made.text.startswith("Functionality: Join two things.\n\n")
    assert "12345" not in made.text


def test_google_and_sphinx_forms_are_read_and_else_the_signature_is_given():
    google = 'def f(a):\n    """Do it well.\n\n    Args:\n        a (int): One.\n\n    Returns:\n        Two.\n    """\n    return 2\n'
    assert instruction_of(google, "f") == ("Do it well.", "- a (int): One.", "Two.")
    sphinx = 'def f(a):\n    """Do it well.\n\n    :param int a: One.\n    :returns: Two.\n    :rtype: int\n    """\n    return 2\n'
    assert instruction_of(sphinx, "f") == ("Do it well.", "- int a: One.", "Two.")
    assert instruction_of('def f(a, *, b=1):\n    """Do it well."""\n    return 2\n', "f").inputs == (
        "`a, *, b=1`, as in the signature."
    )


def test_a_docstring_of_examples_alone_gives_no_instruction():
    with pytest.raises(DocstringInvalid, match="says nothing beside its examples"):
        instruction_of('def f():\n    """\n    >>> f()\n    1\n    """\n    return 1\n', "f")


def test_an_escaped_line_break_in_the_docstring_is_said_rather_than_cut_wrongly():
    with pytest.raises(DocstringInvalid, match="line 2"):
        without_examples('def f():\n    """A b.\\n\n    >>> f()\n    1\n    """\n    return 1\n', "f")
