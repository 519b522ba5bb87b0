"""A source table becomes records: reading, field declarations, encoding."""

from kolchin.records.fields import Categorical, Field
from kolchin.records.findings import DataWarning
from kolchin.records.records import Records

__all__ = ["Categorical", "DataWarning", "Field", "Records"]
