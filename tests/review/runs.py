"""A run made by hand: people in pairs and a group, of which some are open."""

import numpy as np
import polars as pl

from kolchin.posterior import Posterior
from kolchin.posterior.draws import Draw
from kolchin.records.columns.column_texts import Texts
from kolchin.review import ReviewContent
from kolchin.review.answers_file import Answer, AnswersFile, read_clock
from kolchin.review.desk import ReviewDesk
from kolchin.review.queues import make_group_questions, make_pair_questions


def draw(*clusters):
    members = np.array([row for cluster in clusters for row in cluster], dtype=np.int32)
    sizes = np.array([len(cluster) for cluster in clusters], dtype=np.int32)
    return Draw(members, sizes, {}, 0.0)


def content_in(folder, n_pairs=4):
    """Records 2k and 2k + 1 are one in 4 of 10 draws; the last three are one in 8 of 10."""
    first = 2 * n_pairs
    group = (first, first + 1, first + 2)
    draws = []
    for t in range(10):
        pairs = [(2 * k, 2 * k + 1) for k in range(n_pairs) if t < 4]
        draws.append(draw(*pairs, group if t < 8 else group[:2]))
    posterior = Posterior.from_draws(first + 3, [draws])
    labels = np.append(np.arange(first), [first] * 3).astype(np.int64)
    values = pl.DataFrame(
        {
            "name": [f"Ann {k // 2}" for k in range(first + 3)],
            "city": ["Rome" if k % 2 else "Roma" for k in range(first + 3)],
        }
    )
    return ReviewContent(
        title="people.csv",
        directory=folder,
        ids=pl.Series([f"r{k}" for k in range(first + 3)]),
        values=Texts.of(values),
        used=("name", "city"),
        unused=(),
        labels=labels,
        pairs=posterior.links(0.01),
        posterior=posterior,
    )


def desk_in(folder, reviewer="ann", n_pairs=4):
    content = content_in(folder, n_pairs)
    queues = {"pairs": make_pair_questions(content), "groups": make_group_questions(content)}
    return ReviewDesk(content, queues, reviewer)


def write_many(path, who):
    file = AnswersFile(path)
    for k in range(50):
        file.append([Answer(f"{k}", 'a "b"\n', "same", who, read_clock(), "pairs")])
