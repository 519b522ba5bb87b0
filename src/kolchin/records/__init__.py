"""A source table becomes records: reading, cleaning, inference, field declarations, encoding."""

from kolchin.records.choices import choices_text, write_choices
from kolchin.records.cleaning import MISSING_MARKERS
from kolchin.records.fields import (
    Categorical,
    Code,
    Compared,
    Date,
    Email,
    Field,
    Name,
    Number,
    Phone,
    Text,
    Words,
)
from kolchin.records.findings import DataWarning
from kolchin.records.inference import ColumnReport
from kolchin.records.loading import Inspection, Loaded, inspect, load
from kolchin.records.records import Records
from kolchin.records.reports import column_table
from kolchin.records.shapes import Kind

__all__ = [
    "MISSING_MARKERS",
    "Categorical",
    "Code",
    "ColumnReport",
    "Compared",
    "DataWarning",
    "Date",
    "Email",
    "Field",
    "Inspection",
    "Kind",
    "Loaded",
    "Name",
    "Number",
    "Phone",
    "Records",
    "Text",
    "Words",
    "choices_text",
    "column_table",
    "inspect",
    "load",
    "write_choices",
]
