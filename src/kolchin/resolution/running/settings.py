"""What a run was asked for, as plain data from which it can be made again."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin import priors
from kolchin.answers import SAME, KnownAnswer
from kolchin.errors import KolchinError, ModelError
from kolchin.likelihoods import Exemplar, compare
from kolchin.model import Model
from kolchin.options import option
from kolchin.parameters import Beta, Gamma, Hyper, IntArray
from kolchin.priors import PRIORS, Prior
from kolchin.records import Records
from kolchin.sampling.run.run_settings import RunSettings, check_run_settings, choose_warmup
from kolchin.sampling.run.starts import STARTS

FIRST_LOOK = 250
"""Draws of each chain before the diagnostics are looked at for the first time."""

EARLY_LOOK, MANY_RECORDS = 150, 500_000
"""Of so many records, where fields are compared, a draw takes about a second: look earlier."""

AUTO = "auto"
SECONDS_A_MILLION = 600.0
"""The time limit that is chosen by itself, for each million records, and at least for one."""

THIN = 2

FEWEST_AGAIN = 30
"""Steps of warm-up, at least, of chains that go on from where they were."""

LIKELIHOODS = ("compared", "categorical")
"""All fields are compared by how near they are, or all are the same or not."""


@dataclass(frozen=True)
class Settings:
    """Model and sampling; ``draws`` is None where diagnostics decide.

    With ``one_per_source`` no entity has two records of one source; ``thin`` steps make a draw.
    ``first_look`` is after how many draws diagnostics are looked at, where none are asked for.
    ``known`` are answers that were given with the table, ``reviewed`` those of a review so far;
    where these came after a warm-up, the next one is ``short``.
    """

    prior: Prior
    delta: Hyper
    tied: bool
    chains: int
    draws: int | None
    warmup: int
    seed: int
    one_per_source: bool = False
    thin: int = THIN
    keys: tuple[tuple[str, ...], ...] = ()
    first_look: int | None = None
    likelihood: str = LIKELIHOODS[0]
    known: tuple[KnownAnswer, ...] = ()
    reviewed: tuple[KnownAnswer, ...] = ()
    short: bool = False

    @classmethod
    def check(
        cls,
        prior: str | Prior | None,
        delta: Hyper,
        tied: bool,
        chains: int,
        draws: int | None,
        seed: int | None,
        time_limit: float | str | None,
        one_per_source: bool = False,
        keys: Sequence[Sequence[str]] | None = None,
        likelihood: str = LIKELIHOODS[0],
    ) -> Self:
        """Check what a user gave; every fault is told in one message."""
        faults: list[str] = []
        chosen = _choose_prior(prior, likelihood, faults)
        try:
            checked = check_run_settings(
                chains, draws or FIRST_LOOK, None, THIN, None, STARTS, seed=seed
            )
            warmup = checked.warmup
        except KolchinError as error:
            faults.append(str(error))
        if draws is not None and draws == 0:
            faults.append("The 'draws' parameter must be a whole number of at least 1. Got 0.")
        if not _is_limit(time_limit):
            faults.append(
                "The 'time_limit' must be more than 0 seconds, 'auto', or None for no limit. "
                f"Got {time_limit!r}."
            )
        wanted = _check_keys(keys or (), faults)
        if likelihood not in LIKELIHOODS:
            faults.append(
                f"The 'likelihood' parameter must be one of {', '.join(LIKELIHOODS)}. "
                f"Got {likelihood!r} instead."
            )
        elif wanted and likelihood == "categorical":
            faults.append(
                "The 'keys' parameter says which records are compared, and with likelihood="
                "'categorical' none are: leave one of the two out."
            )
        if faults:
            raise ModelError("\n".join(faults))
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        how = bool(tied), int(chains), draws, warmup, int(seed), bool(one_per_source)
        return cls(chosen, delta, *how, keys=wanted, likelihood=likelihood)

    def model(
        self,
        records: Records,
        source: pl.Series | None = None,
        kept: Exemplar | None = None,
    ) -> Model:
        """Return the model of some records that come from these sources.

        ``keep`` is what was learned from comparing them before; without it they are compared now.
        """
        likelihood, sources = None, self.sources_of(source)
        if self.likelihood == "categorical":
            records = records.as_categorical()
        else:
            records = records.as_compared()
            likelihood = compare(records, self.keys, sources) if kept is None else kept
        said = (*self.known, *self.reviewed)
        how = self.prior, self.delta, self.tied, likelihood
        return Model(records, *how, sources=sources, answers=said)

    def sources_of(self, source: pl.Series | None) -> NDArray[np.int32] | None:
        """Return the number of each record's source, where records of one are never linked."""
        return number_sources(source).astype(np.int32) if self.one_per_source else None

    def run_settings(self) -> RunSettings:
        """Return how chains run."""
        first = self.draws or self.first_look or FIRST_LOOK
        warmup = max(FEWEST_AGAIN, self.warmup // 3) if self.short else self.warmup
        return check_run_settings(self.chains, first, warmup, self.thin, None, STARTS)

    def fit_to_model(self, model: Model) -> Self:
        """Return the same with the warm-up and the thinning that a model needs."""
        first = FIRST_LOOK if self.draws is None else self.draws
        n_compared = model.likelihood.n_compared
        warmup = choose_warmup(first, n_compared)
        look = EARLY_LOOK if n_compared >= MANY_RECORDS else None
        return replace(self, warmup=warmup, thin=1 if n_compared else THIN, first_look=look)

    def with_known(self, known: tuple[KnownAnswer, ...]) -> Self:
        """Return the same with answers that were given with the table."""
        return replace(self, known=known)

    def with_reviewed(self, reviewed: tuple[KnownAnswer, ...], has_drawn: bool) -> Self:
        """Return the same with other answers of a review; chains that have drawn know the rest."""
        return replace(self, reviewed=reviewed, short=self.short or has_drawn)

    def with_draws(self, draws: int) -> Self:
        """Return the same for another number of draws."""
        return replace(self, draws=draws)

    def forget_sources(self) -> Self:
        """Return the same, in which sources and answers do not matter: chances hang on neither."""
        return replace(self, one_per_source=False, known=(), reviewed=())

    def move_rows(self, row_before: IntArray) -> Self:
        """Return the same for a table whose records stood elsewhere before (-1: nowhere).

        What was said of records that are gone is left out.
        """
        now = {int(row): place for place, row in enumerate(row_before.tolist()) if row >= 0}

        def keep(answers: tuple[KnownAnswer, ...]) -> tuple[KnownAnswer, ...]:
            own = [one for one in answers if one.one in now and one.two in now]
            return tuple(sorted(one._replace(one=now[one.one], two=now[one.two]) for one in own))

        return replace(self, known=keep(self.known), reviewed=keep(self.reviewed))

    def words(self) -> dict[str, Any]:
        """Return the settings as people read them."""
        return {
            "prior": repr(self.prior),
            "likelihood": self.likelihood,
            "delta": _make_plain(self.delta) if isinstance(self.delta, float) else repr(self.delta),
            "tied": self.tied,
            "one_per_source": self.one_per_source,
            "chains": self.chains,
            "draws": self.draws,
            "warmup": self.warmup,
            "thin": self.thin,
            **({"keys": [list(key) for key in self.keys]} if self.keys else {}),
            **({"answers": self._count_answers()} if self.known or self.reviewed else {}),
        }

    def _count_answers(self) -> dict[str, Any]:
        """Count the answers that the posterior is conditioned on."""
        same = sum(one.answer == SAME for one in (*self.known, *self.reviewed))
        told: dict[str, Any] = {
            "same": same,
            "different": len(self.known) + len(self.reviewed) - same,
            "reviewed": len(self.reviewed),
        }
        if self.reviewed:
            told["error_rate"] = self.reviewed[0].error
        return told

    def to_json(self) -> dict[str, Any]:
        """Return plain data; priors made of tables have none."""
        name = next((key for key, kind in PRIORS.items() if type(self.prior) is kind), None)
        sizes = getattr(self.prior, "sizes", None)
        if name is None or getattr(sizes, "base_table", None) is not None:
            raise ModelError(
                f"A run directory can hold the priors {', '.join(PRIORS)} with numbers, kp.Gamma "
                f"and kp.Beta as parameters. Got {self.prior!r}: use it without a directory."
            )
        plain = {**vars(self), "delta": _make_plain(self.delta)}
        given = {key: _make_plain(value) for key, value in self.prior.given.items()}
        return {**plain, "prior": {"name": name, "parameters": given}}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Build from what ``to_json`` made."""
        prior = data["prior"]
        given = {key: _read_hyper(value) for key, value in prior["parameters"].items()}
        made = PRIORS[prior["name"]](**given)
        listed: dict[str, Any] = {"keys": tuple(tuple(key) for key in data["keys"])}
        for name in ("known", "reviewed"):
            listed[name] = tuple(KnownAnswer(*one) for one in data.get(name, ()))
        return cls(**{**data, **listed, "prior": made, "delta": _read_hyper(data["delta"])})


def _is_limit(time_limit: float | str | None) -> bool:
    if time_limit is None or isinstance(time_limit, str):
        return time_limit in (None, AUTO)
    return time_limit > 0


def check_cores(cores: int | None) -> int | None:
    """Return how many cores to use, None for all, or say what is wrong.

    >>> check_cores(2)
    2
    """
    if cores is not None and (not isinstance(cores, int | np.integer) or cores < 1):
        raise ModelError(
            f"The 'cores' parameter must be a whole number of at least 1. Got {cores!r} instead."
        )
    return cores


def choose_limit(time_limit: float | str | None, n_records: int) -> float:
    """Return the seconds that sampling may take; by itself that grows with the records.

    >>> choose_limit("auto", 5_000), choose_limit("auto", 3_000_000), choose_limit(90.0, 3_000_000)
    (600.0, 1800.0, 90.0)
    """
    if time_limit is None:
        return math.inf
    if time_limit == AUTO:
        return SECONDS_A_MILLION * max(n_records / 1e6, 1.0)
    return float(time_limit)


def _choose_prior(prior: str | Prior | None, likelihood: str, faults: list[str]) -> Prior:
    """Return the prior of a name; of NBD, the paper's own only with the paper's likelihood.

    The paper's base measure halves from size to size, so that ten records of one entity would
    rather be several: a base that is learnt knows how large entities are.
    """
    if isinstance(prior, Prior):
        return prior
    if prior is not None and str(prior).lower() not in PRIORS:
        faults.append(
            f"The 'prior' parameter must be one of {', '.join(PRIORS)}, or a prior such as "
            f"kp.NBD(). Got {prior!r} instead."
        )
        prior = None
    name = str(prior or "nbd").lower()
    if name == "nbd" and likelihood != "categorical":
        return priors.NBD(base=Beta(1, 1))
    return PRIORS[name]()


def number_sources(source: pl.Series | None) -> IntArray:
    """Return a number for each source, -1 for none; refuse sources that forbid every link."""
    if source is None:
        raise ModelError(
            f"{option('one_per_source')} needs the source of each record. Give several files, "
            f"or the column that says it with {option('source')}."
        )
    numbers = (source.rank("dense") - 1).cast(pl.Int64).fill_null(-1).to_numpy()
    if numbers.size and numbers.min() == numbers.max() == 0:
        raise ModelError(
            f"With {option('one_per_source')} records of one source are never linked, and all of "
            f"them are of {source[0]!r}. Name another column with {option('source')}, or leave "
            f"{option('one_per_source')} out."
        )
    return numbers


def _check_keys(keys: Any, faults: list[str]) -> tuple[tuple[str, ...], ...]:
    """Return keys as tuples of columns; a bare name is a key of one column."""
    listed = [keys] if isinstance(keys, str) else keys
    made = [(key,) if isinstance(key, str) else key for key in listed]
    faults.extend(
        "The 'keys' parameter must be tuples of column names, such as [('surname', 'dob')]. "
        f"Got {key!r} in it instead."
        for key in made
        if not isinstance(key, Sequence) or not key or not all(isinstance(c, str) for c in key)
    )
    return () if faults else tuple(tuple(key) for key in made)


def _make_plain(value: Hyper) -> Any:
    if isinstance(value, Gamma | Beta):
        return {type(value).__name__: list(asdict(value).values())}
    return float(value)


def _read_hyper(value: Any) -> Hyper:
    if isinstance(value, dict):
        ((name, numbers),) = value.items()
        return Gamma(*numbers) if name == "Gamma" else Beta(*numbers)
    return float(value)


def read_limit(time_limit: float | str | None) -> float | str | None:
    """Return a time limit that may be given as text as seconds, "auto", or None."""
    return read_seconds(time_limit) if isinstance(time_limit, str) else time_limit


def read_seconds(text: str) -> float | str:
    """Read a time limit: seconds, or a number with s, m or h; 'auto', or 'none' for no limit.

    >>> read_seconds("90"), read_seconds("10m"), read_seconds("1.5h")
    (90.0, 600.0, 5400.0)
    """
    plain = text.strip().lower()
    if plain == AUTO:
        return AUTO
    if plain in ("none", "no", "inf"):
        return math.inf
    unit = {"s": 1, "m": 60, "h": 3600}.get(plain[-1:])
    try:
        value = float(plain[:-1]) * unit if unit else float(plain)
    except ValueError:
        value = math.nan
    if not value > 0:
        raise ModelError(
            f"The time limit must be a time such as 90s, 10m or 2h, auto, or none. Got {text!r}."
        )
    return value
