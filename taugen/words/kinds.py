"""Pydantic's kinds of errors -> the project's words, for every model that people write.

Source: pydantic's documentation, "Validation errors".
"""

WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
"""kind of error -> what is wanted instead."""
BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
"""kind of error -> (key of the bound in the error's context, how the bound is said)."""
MOST_DIGITS = 18
"""Digits of a text that is still read as a mistyped whole number."""
