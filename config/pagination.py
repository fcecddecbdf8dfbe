"""Pages of the API: by cursor, so that page 600 costs what page 1 does and nothing is counted."""

from __future__ import annotations

from rest_framework.pagination import CursorPagination


class ByCursor(CursorPagination):
    """100 rows a page, or `page_size` up to 1,000, newest last."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000
    ordering = "pk"
