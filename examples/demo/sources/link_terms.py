"""A glossary that links the terms in a text to their explanations."""

import re


class Glossary:
    """Terms and the anchors of their explanations."""

    def __init__(self, base="#"):
        self.base = base
        self.anchors = {}

    def add(self, term, anchor=None):
        """Add a term; its anchor is the term in lower case with hyphens unless given."""
        self.anchors[term] = anchor or re.sub(r"\W+", "-", term.lower()).strip("-")

    def link(self, term, shown):
        """Return `shown` as a Markdown link to the term's explanation."""
        return f"[{shown}]({self.base}{self.anchors[term]})"

    def link_terms(self, text):
        """Return the text with the first occurrence of each term made a link."""
        if not self.anchors:
            return text
        by_length = sorted(self.anchors, key=len, reverse=True)
        pattern = re.compile(r"\b(?:" + "|".join(re.escape(term) for term in by_length) + r")\b", re.IGNORECASE)
        terms = {term.lower(): term for term in self.anchors}
        linked = set()

        def replace(match):
            term = terms[match[0].lower()]
            if term in linked:
                return match[0]
            linked.add(term)
            return self.link(term, match[0])

        return pattern.sub(replace, text)


def make_glossary():
    glossary = Glossary()
    for term in ("tree", "binary tree", "node"):
        glossary.add(term)
    return glossary


def test_first_occurrence_only():
    glossary = make_glossary()
    assert glossary.link_terms("A node is a node.") == "A [node](#node) is a node."
    assert glossary.link_terms("Nothing here.") == "Nothing here."
    assert Glossary().link_terms("A tree.") == "A tree."


def test_longer_terms_win_and_case_is_kept():
    glossary = make_glossary()
    assert glossary.link_terms("A Binary Tree is a tree.") == "A [Binary Tree](#binary-tree) is a [tree](#tree)."
    assert glossary.link_terms("TREE, then tree") == "[TREE](#tree), then tree"


def test_only_whole_words_and_plain_text():
    glossary = make_glossary()
    assert glossary.link_terms("trees and street") == "trees and street"
    glossary.add("e.g", "example")
    assert glossary.link_terms("egg, e.g. nothing") == "egg, [e.g](#example). nothing"
    glossary.add("link", "tree")
    assert glossary.link_terms("a tree, a link") == "a [tree](#tree), a [link](#tree)"


if __name__ == "__main__":
    test_first_occurrence_only()
    test_longer_terms_win_and_case_is_kept()
    test_only_whole_words_and_plain_text()
