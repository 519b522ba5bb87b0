"""A person in the loop: questions in order of worth, a page that asks them, and the answers."""

from kolchin.review.answers import Answer, AnswersFile
from kolchin.review.content import Content

__all__ = ["Answer", "AnswersFile", "Content"]
