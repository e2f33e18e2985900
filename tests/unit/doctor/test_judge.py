"""How findings are put together."""

from __future__ import annotations

import re

from cvm.doctor.finding import Finding
from cvm.doctor.judge import grouped
from cvm.doctor.registry import checks, titles


def finding(code, severity, consumer, culprit=None):
    return Finding(code, severity, consumer, f"{consumer} {code}", {"culprit": culprit} if culprit else {})


def shape(findings):
    return [(one.code, one.consumer, [(each.code, each.consumer) for each in one.consequences]) for one in findings]


def test_the_worst_first_then_the_consumers_then_the_environment():
    found = [
        finding("CVM030", "note", "torch"),
        finding("CVM007", "warning", "torch"),
        finding("CVM020", "error", ""),
        finding("CVM001", "error", "jax"),
        finding("CVM004", "error", "torch"),
        finding("CVM002", "error", "torch"),
    ]
    order = [
        ("CVM002", "torch"),
        ("CVM004", "torch"),
        ("CVM001", "jax"),
        ("CVM020", ""),
        ("CVM007", "torch"),
        ("CVM030", "torch"),
    ]
    assert [(code, name) for code, name, _ in shape(grouped(found, ["torch", "jax"]))] == order


def test_one_culprit_is_one_fault():
    found = [
        finding("CVM007", "warning", "torch", "A"),
        finding("CVM002", "error", "jax", "A"),
        finding("CVM003", "error", "torch", "B"),
        finding("CVM002", "error", "torch", "A"),
    ]
    assert shape(grouped(found, ["torch", "jax"])) == [
        ("CVM002", "torch", [("CVM002", "jax"), ("CVM007", "torch")]),
        ("CVM003", "torch", []),
    ]


def test_the_environments_fault_comes_before_the_loads():
    found = [finding("CVM001", "error", "torch", "A"), finding("CVM021", "error", "torch", "A")]
    assert shape(grouped(found, ["torch"])) == [("CVM021", "torch", [("CVM001", "torch")])]


def test_a_note_is_no_consequence_and_has_none():
    found = [
        finding("CVM002", "error", "torch", "A"),
        finding("CVM030", "note", "", "A"),
        finding("CVM031", "note", "", "A"),
    ]
    assert shape(grouped(found, ["torch"])) == [("CVM002", "torch", []), ("CVM030", "", []), ("CVM031", "", [])]


def test_what_has_no_culprit_stands_alone():
    found = [finding("CVM001", "error", "torch"), finding("CVM012", "error", "torch")]
    assert len(grouped(found, ["torch"])) == 2


def test_codes_are_unique_and_sorted():
    codes = [code for one in checks() for code in one.CODES]
    assert codes == sorted(set(codes))
    assert all(re.fullmatch(r"CVM\d{3}", code) for code in codes)
    assert list(titles()) == codes
