"""Times as people write them."""

import pytest

import kolchin as kp

TABLE = [{"name": name, "year": year} for name, year in zip("aabbcc", "112233", strict=True)]


@pytest.mark.parametrize("limit", ["90s", "2m", "1h", "none", "auto", 60, None])
def test_a_time_limit_may_be_text(limit):
    result = kp.resolve(TABLE, time_limit=limit, chains=1, draws=3, seed=1, progress=False)
    assert result.entities.height == 6


@pytest.mark.parametrize("limit", ["soon", "-1s", 0])
def test_what_is_no_time_is_refused(limit):
    with pytest.raises(kp.ModelError, match=r"time.limit"):
        kp.resolve(TABLE, time_limit=limit, chains=1, draws=3, seed=1, progress=False)
