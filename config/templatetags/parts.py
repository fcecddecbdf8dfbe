"""The parts of every page, as template tags and filters."""

from django import template

register = template.Library()
