"""A source table becomes records: reading, cleaning, inference, field declarations, encoding."""

from kolchin.records.columns.cleaning import MISSING_MARKERS
from kolchin.records.columns.column_kinds import Kind
from kolchin.records.columns.column_reports import column_table
from kolchin.records.columns.inference import ColumnReport
from kolchin.records.faults_and_notes import DataWarning
from kolchin.records.fields.declarations import (
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
from kolchin.records.fields.field_choices import choices_text, write_choices
from kolchin.records.loading import Inspection, LoadedTable, inspect, load
from kolchin.records.records import Records

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
    "LoadedTable",
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
