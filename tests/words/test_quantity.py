"""Quantities: what Kubernetes' own code makes of a text, and what people type beyond it."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.words import quantity
from taugen.words.quantity import QuantityError, canonical

TABLE = [line.split("\t") for line in (Path(__file__).parent / "quantities.tsv").read_text().splitlines() if not line.startswith("#")]

numbers = st.one_of(
    st.integers(0, 10**13).map(str),
    st.tuples(st.integers(0, 10**6), st.integers(0, 999)).map(lambda t: f"{t[0]}.{t[1]}"),
    st.sampled_from(["1000", "1024", "0.5", ".5", "5.", "+7", "007", "1536", "1048576", "3072"]),
)
suffixes = st.sampled_from(
    ["", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E6", "e-3", "e+2", "GB", "GiB", "kb", " MB", "B"]
)
typed = st.tuples(numbers, suffixes).map("".join)


def keeps(text):
    try:
        quantity.parse(text)
    except QuantityError:
        return False
    return True


valid = typed.filter(keeps)


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_as_kubernetes_writes_it(text, expected):
    """Multiplying by one writes the family's canonical form for any unit."""
    assert quantity.multiply(text, 1) == expected


@given(valid)
def test_nothing_is_lost_and_canonical_is_stable(text):
    once = quantity.multiply(text, 1)
    assert quantity.parse(once) == quantity.parse(text)
    assert quantity.multiply(once, 1) == once


@given(typed, st.sampled_from(["cpu", "memory", "count"]))
def test_canonical_by_unit(text, unit):
    try:
        once = canonical(text, unit=unit)
    except QuantityError:
        return
    assert quantity.parse(once) == quantity.parse(text)
    assert canonical(once, unit=unit) == once
    if unit != "cpu":
        assert quantity.parse(once) % 1 == 0


@given(valid, valid)
def test_arithmetic(first, second):
    a, b = quantity.parse(first), quantity.parse(second)
    assert quantity.compare(first, second) == (a > b) - (a < b)
    if (a + b) * 1000 < 2**63:
        assert quantity.parse(quantity.add(first, second)) == a + b
        assert quantity.parse(quantity.total([first, second])) == a + b
        assert quantity.parse(quantity.write(a + b)) == quantity.parse(quantity.write(a + b, binary=True)) == a + b
    if a * 7000 < 2**63:
        assert quantity.parse(quantity.multiply(first, 7)) == a * 7


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("1000m", "cpu", "1"),
        ("0.5", "cpu", "500m"),
        (0.5, "cpu", "500m"),
        (8, "cpu", "8"),
        (8.0, "cpu", "8"),
        (1e3, "cpu", "1k"),
        ("12000m", "cpu", "12"),
        ("1000", "count", "1k"),
        (0, "count", "0"),
        ("1024Mi", "memory", "1Gi"),
        ("65536Mi", "memory", "64Gi"),
        ("1.5Gi", "memory", "1536Mi"),
        ("1500M", "memory", "1500M"),
        ("1.5G", "memory", "1500M"),
        ("3203.125Ki", "memory", "3280k"),
        ("12e6", "memory", "12e6"),
        ("64GB", "memory", "64G"),
        ("64 GiB", "memory", "64Gi"),
        ("64gb", "memory", "64G"),
        ("64GIB", "memory", "64Gi"),
        ("64KB", "memory", "64k"),
        ("4096B", "memory", "4096"),
        (" 64Gi ", "memory", "64Gi"),
        ("8Pi", "memory", "8Pi"),
    ],
)
def test_canonical(text, unit, expected):
    assert canonical(text, unit=unit) == expected


@pytest.mark.parametrize(
    ("text", "unit", "message", "hint"),
    [
        ("64G b", "memory", '"64G b" is not a quantity', "64Gi"),
        ("", "cpu", '"" is not a quantity', "8"),
        (".", "cpu", '"." is not a quantity', "8"),
        ("Gi", "memory", '"Gi" is not a quantity', "64Gi"),
        ("1.2.3", "cpu", '"1.2.3" is not a quantity', "8"),
        ("1_000", "cpu", '"1_000" is not a quantity', "8"),
        ("1,5", "cpu", '"1,5" is not a quantity', "8"),
        ("0x10", "cpu", '"0x10" is not a quantity', "8"),
        ("１６", "cpu", "is not a quantity", "8"),
        ("8\n", "cpu", '"8\\n" is not a quantity', "8"),
        ("8\x1b[31m", "cpu", '"8\\x1b[31m" is not a quantity', "8"),
        ("9" * 500, "cpu", "…", "8"),
        ("-1", "cpu", '"-1" is negative', "0 or more"),
        (-1, "count", '"-1" is negative', "0 or more"),
        (-(10**400), "count", "is negative", "0 or more"),
        ("nan", "cpu", '"nan" is not a quantity', "8"),
        (float("nan"), "cpu", '"nan" is not a quantity', "8"),
        (float("inf"), "cpu", '"inf" is not a quantity', "8"),
        (True, "count", "true is not a quantity", "64Gi"),
        ("0.0001", "cpu", '"0.0001" is finer than a thousandth', "500m"),
        ("1e-999999999999", "cpu", "is finer than a thousandth", "500m"),
        ("1e999999999999", "cpu", "is more than any cluster has", "8Pi"),
        (10**400, "count", "is more than any cluster has", "8Pi"),
        (1e300, "count", "is more than any cluster has", "8Pi"),
        ("9Pi", "memory", '"9Pi" is more than any cluster has', "8Pi"),
        ("64g", "memory", '"64g" has the unknown unit "g"', "write 64Gi (powers of 1024) or 64G (powers of 1000)"),
        ("64K", "memory", '"64K" has the unknown unit "K"', "write 64Ki (powers of 1024) or 64k (powers of 1000)"),
        ("64gi", "memory", '"64gi" has the unknown unit "gi"', "write 64Gi"),
        ("64 cores", "cpu", '"64 cores" has the unknown unit "cores"', "the units are"),
        ("64m", "memory", '"64m" is not whole bytes', "m means thousandths; write 64Mi or 64M"),
        ("0.1Gi", "memory", '"0.1Gi" is not whole bytes', "write 103Mi"),
        ("0.3Ki", "memory", '"0.3Ki" is not whole bytes', "write 308"),
        ("1.5", "count", '"1.5" is not a whole number', "write 2"),
        ("4Gi", "cpu", '"4Gi" is an amount of bytes', "8 or 500m"),
        ("4GB", "count", '"4GB" is an amount of bytes', "8"),
    ],
)
def test_refused(text, unit, message, hint):
    with pytest.raises(QuantityError) as caught:
        canonical(text, unit=unit)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


def test_sums_are_bounded():
    with pytest.raises(QuantityError, match="the sum is more than any cluster has"):
        quantity.add("8Pi", "8Pi")
    with pytest.raises(QuantityError, match="the sum"):
        quantity.multiply("8Pi", 2)
    with pytest.raises(ValueError, match="-1 times"):
        quantity.multiply("1", -1)


def test_families_of_sums():
    assert quantity.add("1Gi", "512Mi") == "1536Mi"
    assert quantity.add("0", "64Gi") == "64Gi"
    assert quantity.add("1G", "1Gi") == "2073741824"
    assert quantity.total([]) == "0"
    assert quantity.total(["500m", "0.5", 1]) == "2"
    assert quantity.multiply("64Gi", 16) == "1Ti"
    assert quantity.write(Decimal("0.5")) == "500m"
    assert quantity.write(2**36, binary=True) == "64Gi"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("64", True), (64, True), ("1048575", True), ("1048576", False), ("0", False), ("64Gi", False), ("64k", False), ("x", False)],
)
def test_looks_like_bytes(text, expected):
    assert quantity.looks_like_bytes(text) is expected
