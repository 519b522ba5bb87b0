"""A table like RLdata10000: German names and birth dates, one error in every duplicate.

One record in ten is a second record of another one's person. Names are drawn from lists ordered by
how common they are, with weights that fall with the rank as those of names do; a few persons
have a second first name or surname. The lists are general knowledge, not the names of any table.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.simulation.people.typos import mistype

Ints = NDArray[np.int64]

MEN = (
    "peter michael thomas andreas wolfgang klaus juergen guenter stefan christian uwe werner "
    "horst frank dieter manfred gerhard hans bernd thorsten mathias helmut walter heinz "
    "martin joerg rolf jens sven alexander jan rainer holger karl dirk joachim ralf carsten "
    "herbert oliver wilhelm kurt markus heinrich harald paul hermann lothar norbert robert "
    "marko siegfried kai heiko daniel erich rudolf otto volker friedrich tobias ulrich "
    "sebastian detlef georg josef roland willi alfred johannes erwin steffen reinhard franz "
    "gerd marcel alois bruno egon fritz ernst"
).upper()
WOMEN = (
    "maria ursula monika petra elisabeth sabine renate helga karin brigitte ingrid erika "
    "andrea gisela claudia susanne gabriele christa christine hildegard anna birgit barbara "
    "gerda kerstin ute angelika anja heike martina ilse irmgard marianne silke jutta inge "
    "gertrud elke stefanie nicole christiane bettina ruth anke cornelia heidi katharina "
    "waltraud hannelore doris regina ulrike simone margarete edith sonja melanie sandra "
    "katrin silvia daniela tanja marion eva charlotte frieda hedwig johanna lieselotte martha "
    "elfriede rosemarie dagmar annette carola anneliese sigrid astrid julia sarah laura lena "
    "christina franziska antje maike veronika"
).upper()
LAST = (
    "mueller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schaefer "
    "koch bauer richter klein wolf schroeder neumann schwarz zimmermann braun krueger hofmann "
    "hartmann lange schmitt werner schmitz krause meier lehmann schmid schulze maier koehler "
    "herrmann koenig walter mayer huber kaiser fuchs peters lang scholz moeller weiss jung "
    "hahn schubert vogel friedrich keller guenther frank berger winkler roth beck lorenz "
    "baumann franke albrecht schuster simon ludwig boehm winter kraus martin schumacher "
    "kraemer vogt stein jaeger otto sommer gross seidel heinrich brandt haas schreiber graf "
    "schulte dietrich ziegler kuhn kuehn pohl engel horn busch bergmann thomas voigt sauer "
    "arnold wolff pfeiffer beyer ernst lindner hansen jansen huebner kaufmann riedel "
    "boettcher seifert wenzel ulrich dietz kern bock thiel hermann nowak paul kruse fiedler "
    "marx paulus ebert wirth kunz sander lenz schroeter hein bayer barth peter ritter hess "
    "petersen reuter witt rudolph stark geiger blum bruns brinkmann wulf schuetz schilling "
    "kessler franz moser seitz wild fritz merkel behrens eckert urban bischoff zander hagen "
    "heller noack jacob krebs jahn kramer anders steiner hinz kirchner probst ullrich weidner "
    "bender gruber adam brand maurer may michel naumann schramm freitag runge conrad wiese "
    "kurz funk wegner baier adler wendt rose kroeger heck lutz menzel"
).upper()

FIRST_FLATNESS, LAST_FLATNESS = 12, 4
"""The name of rank k has weight 1 / (flatness + k): surnames are less even than first names."""

SECOND_FIRST, SECOND_LAST = 0.06, 0.015
OLDEST, YOUNGEST = 1910, 2008
ERRORS = {"fname_c1": 0.35, "lname_c1": 0.35, "by": 0.1, "bm": 0.1, "bd": 0.1}
"""Where the one error of a duplicate is."""


def simulate_germans(n_records: int, seed: int) -> pl.DataFrame:
    """Draw a table with nine persons to ten records, rows in random order."""
    rng = np.random.default_rng(seed)
    n_persons = n_records * 9 // 10
    persons = _persons(rng, n_persons)
    copied = rng.choice(n_persons, n_records - n_persons, replace=False)
    duplicates = _with_one_error(rng, persons[copied])
    order = rng.permutation(n_records)
    person = np.concatenate([np.arange(n_persons), copied])[order] + 1
    shuffled = pl.concat([persons, duplicates])[order]
    return shuffled.select(rec_id=pl.Series(np.arange(1, n_records + 1)), ent_id=person).hstack(
        shuffled
    )


def _persons(rng: np.random.Generator, n: int) -> pl.DataFrame:
    born = np.datetime64(f"{OLDEST}-01-01") + rng.integers(0, (YOUNGEST - OLDEST) * 365, n)
    parts = pl.DataFrame({"born": born.astype("datetime64[D]")})["born"].dt
    is_man = pl.Series(rng.random(n) < 0.5)
    first, second = (_first_names(rng, is_man) for _ in range(2))
    return pl.DataFrame(
        {
            "fname_c1": first,
            "fname_c2": _some(rng, second, SECOND_FIRST),
            "lname_c1": _names(rng, LAST, LAST_FLATNESS, n),
            "lname_c2": _some(rng, _names(rng, LAST, LAST_FLATNESS, n), SECOND_LAST),
            "by": parts.year().cast(pl.String),
            "bm": parts.month().cast(pl.String),
            "bd": parts.day().cast(pl.String),
        }
    )


def _first_names(rng: np.random.Generator, is_man: pl.Series) -> pl.Series:
    men, women = (_names(rng, names, FIRST_FLATNESS, is_man.len()) for names in (MEN, WOMEN))
    return men.zip_with(is_man, women)


def _names(rng: np.random.Generator, names: str, flatness: int, n: int) -> pl.Series:
    listed = names.split()
    weights = 1 / (flatness + np.arange(len(listed)))
    return pl.Series(listed)[rng.choice(len(listed), n, p=weights / weights.sum())]


def _some(rng: np.random.Generator, names: pl.Series, share: float) -> pl.Series:
    kept = pl.Series(rng.random(names.len()) < share)
    return pl.select(pl.when(kept).then(names)).to_series()


def _with_one_error(rng: np.random.Generator, rows: pl.DataFrame) -> pl.DataFrame:
    where = rng.choice(list(ERRORS), rows.height, p=list(ERRORS.values()))
    wrong = {
        "fname_c1": _mistyped(rng, rows["fname_c1"]),
        "lname_c1": _mistyped(rng, rows["lname_c1"]),
        "by": _other(rng, rows["by"], OLDEST, YOUNGEST),
        "bm": _other(rng, rows["bm"], 1, 13),
        "bd": _other(rng, rows["bd"], 1, 29),
    }
    return rows.with_columns(
        pl.when(pl.Series(where == name)).then(values).otherwise(pl.col(name)).alias(name)
        for name, values in wrong.items()
    )


def _mistyped(rng: np.random.Generator, names: pl.Series) -> pl.Series:
    return mistype(rng, names).str.to_uppercase()


def _other(rng: np.random.Generator, values: pl.Series, low: int, high: int) -> pl.Series:
    """Replace each number by another one of a range."""
    numbers = values.cast(pl.Int64).to_numpy()
    others = rng.integers(low, high - 1, numbers.size)
    return pl.Series(others + (others >= numbers)).cast(pl.String)
