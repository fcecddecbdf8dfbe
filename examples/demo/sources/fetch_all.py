"""A client for a service that hands out articles page by page."""

import requests


class ArticleError(Exception):
    """The service did not answer as agreed."""


class ArticleClient:
    """Reads articles from `base`, through a session that the caller may bring along."""

    def __init__(self, base, session=None):
        self.base = base.rstrip("/")
        self.session = session or requests.Session()

    def get(self, url, **params):
        """Return the JSON that a page holds. Raises ArticleError for any answer but 200."""
        response = self.session.get(url, params=params, timeout=10)
        if response.status_code != 200:
            raise ArticleError(f"{url} answered {response.status_code}")
        return response.json()

    def fetch_all(self, limit=None):
        """Return the articles of all pages."""
        articles = []
        seen = set()
        url = f"{self.base}/articles"
        while url and (limit is None or len(articles) < limit):
            if url in seen:
                raise ArticleError(f"{url} comes round again")
            seen.add(url)
            page = self.get(url)
            articles.extend(page["items"])
            url = page.get("next")
        return articles[:limit]


class FakeSession:
    """A session without a network: pages by address, and a record of what was asked for."""

    def __init__(self, pages):
        self.pages = pages
        self.asked = []

    def get(self, url, params=None, timeout=None):
        self.asked.append(url)
        response = requests.Response()
        response.status_code = 200 if url in self.pages else 404
        response._content = self.pages.get(url, "").encode()
        return response


PAGES = {
    "http://news.test/articles": '{"items": [1, 2], "next": "http://news.test/articles?page=2"}',
    "http://news.test/articles?page=2": '{"items": [3], "next": "http://news.test/articles?page=3"}',
    "http://news.test/articles?page=3": '{"items": [4, 5], "next": null}',
}


def test_all_pages_in_order():
    session = FakeSession(PAGES)
    assert ArticleClient("http://news.test/", session).fetch_all() == [1, 2, 3, 4, 5]
    assert len(session.asked) == 3
    assert ArticleClient("http://one.test", FakeSession({"http://one.test/articles": '{"items": []}'})).fetch_all() == []


def test_a_limit_saves_requests():
    session = FakeSession(PAGES)
    client = ArticleClient("http://news.test", session)
    assert client.fetch_all(limit=2) == [1, 2]
    assert len(session.asked) == 1
    assert client.fetch_all(limit=4) == [1, 2, 3, 4]
    assert client.fetch_all(limit=0) == []


def test_pages_that_fail_or_go_round():
    around = {"http://bad.test/articles": '{"items": [1], "next": "http://bad.test/articles"}'}
    for base, pages in (("http://none.test", {}), ("http://bad.test", around)):
        try:
            result = ArticleClient(base, FakeSession(pages)).fetch_all()
        except ArticleError:
            result = "refused"
        assert result == "refused"


if __name__ == "__main__":
    test_all_pages_in_order()
    test_a_limit_saves_requests()
    test_pages_that_fail_or_go_round()
