"""What can be asked of simulated people, and what is asked by default."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from kolchin.errors import ModelError

TYPOS: Mapping[str, float] = {
    "first_name": 0.03,
    "last_name": 0.03,
    "sex": 0.005,
    "birth_date": 0.02,
    "street": 0.04,
    "house_number": 0.02,
    "city": 0.02,
    "postcode": 0.02,
    "phone": 0.02,
    "email": 0.02,
}
"""Share of values with a typing error, by column."""

GAPS: Mapping[str, float] = {
    "first_name": 0.01,
    "last_name": 0.005,
    "sex": 0.02,
    "birth_date": 0.03,
    "street": 0.05,
    "house_number": 0.06,
    "city": 0.03,
    "postcode": 0.04,
    "phone": 0.25,
    "email": 0.15,
}
"""Share of values left out, by column; of e-mails, beside the people who have none."""

COLUMNS = tuple(TYPOS)
"""The columns of simulated people, after `rec_id` and `ent_id`."""

Share = float | Mapping[str, float]


@dataclass(frozen=True)
class Options:
    """Shares of everything that makes people hard to tell apart; 0 switches a kind off.

    Parameters
    ----------
    households
        Share of persons in families, who share surname and address.
    twins
        Share of persons who are twins: one surname, birth date and address. Most live in families.
    shared_phones
        Share of households with one phone for all.
    city_from_postcode
        Share of addresses whose city is the postcode's; others have any city.
    emails
        Share of persons with an e-mail address.
    emails_from_names
        Share of e-mail addresses made from first name and surname.
    moved
        Share of persons with several records whose later records have a new address.
    married
        Share of grown-up women with several records whose later records have a new surname.
    nicknames
        Share of records with a nickname, where the first name has one.
    swapped_names
        Share of records with first name and surname exchanged.
    swapped_dates
        Share of records with day and month of birth exchanged, where that is another date.
    typos, gaps
        Share of values mistyped or left out: one for all columns, or by column.
    """

    households: float = 0.4
    twins: float = 0.01
    shared_phones: float = 0.3
    city_from_postcode: float = 1.0
    emails: float = 0.6
    emails_from_names: float = 0.8
    moved: float = 0.1
    married: float = 0.03
    nicknames: float = 0.05
    swapped_names: float = 0.005
    swapped_dates: float = 0.005
    typos: Share = field(default_factory=lambda: dict(TYPOS))
    gaps: Share = field(default_factory=lambda: dict(GAPS))

    def by_column(self, name: str) -> dict[str, float]:
        """Return the share of each column; columns that a mapping does not name have 0."""
        share: Share = getattr(self, name)
        if isinstance(share, Mapping):
            return {column: share.get(column, 0.0) for column in COLUMNS}
        return dict.fromkeys(COLUMNS, share)


def check_options(given: Mapping[str, Any]) -> Options:
    """Return the options, defaults filled in, or raise one error with every fault."""
    known = [parameter.name for parameter in fields(Options)]
    faults = [
        f"People have no parameter {name!r}. The parameters are {', '.join(known)}."
        for name in given
        if name not in known
    ]
    options = Options(**{name: value for name, value in given.items() if name in known})
    for name, value in asdict(options).items():
        faults += _share_faults(name, value)
    if not faults and options.households + options.twins > 1:
        faults.append("The 'households' and 'twins' parameters must not add up to more than 1.")
    if faults:
        raise ModelError("\n".join(faults))
    return options


def _share_faults(name: str, value: object) -> list[str]:
    """Return what is wrong with a share, or with one share a column."""
    if isinstance(value, Mapping) and name in ("typos", "gaps"):
        unknown = [column for column in value if column not in COLUMNS]
        return [f"The '{name}' parameter names no column '{column}'." for column in unknown] + [
            fault
            for column in value
            for fault in _share_faults(f"{name} of {column}", value[column])
        ]
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        return [f"The '{name}' parameter must be a share from 0 to 1. Got {value!r} instead."]
    return []


def read_shares(settings: Sequence[str]) -> dict[str, float]:
    """Read settings such as 'households=0', or raise one error with every fault.

    >>> read_shares(["households=0", "moved=0.2"])
    {'households': 0.0, 'moved': 0.2}
    """
    shares, faults = {}, []
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            shares[name.strip()] = float(value)
        except ValueError:
            faults.append(f"A setting must be like households=0.2. Got {setting!r} instead.")
    if faults:
        raise ModelError("\n".join(faults))
    check_options(shares)
    return shares
