"""A person in the loop: questions in order of worth, a page that asks them, and the answers."""

from kolchin.review.answers_file import Answer, AnswersFile
from kolchin.review.review_content import ReviewContent

__all__ = ["Answer", "AnswersFile", "ReviewContent"]
