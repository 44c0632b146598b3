import pytest

from roman import to_roman


@pytest.mark.parametrize(
    "number, text", [(1, "I"), (4, "IV"), (9, "IX"), (40, "XL"), (90, "XC"), (1994, "MCMXCIV"), (2026, "MMXXVI")]
)
def test_to_roman(number, text):
    assert to_roman(number) == text
