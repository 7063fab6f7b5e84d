import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lookalikes import lookalikes

CYRILLIC_A = "\u0430"


@pytest.mark.parametrize(
    ("text", "written", "host", "seems"),
    [
        (f"to billing@m{CYRILLIC_A}il.example now", f"billing@m{CYRILLIC_A}il.example", "xn--mil-6cd.example",
         "billing@mail.example"),
        (f"https://p{CYRILLIC_A}ypal.com/pay?x=1", f"https://p{CYRILLIC_A}ypal.com/pay?x=1", "xn--pypal-4ve.com",
         "paypal.com"),
        ("open xn--pypal-4ve.com.", "xn--pypal-4ve.com", "xn--pypal-4ve.com", "paypal.com"),
        (f"see p{CYRILLIC_A}ypal.com", f"p{CYRILLIC_A}ypal.com", "xn--pypal-4ve.com", "paypal.com"),
        ("jos\u00e9@mail.example", "jos\u00e9@mail.example", "", "jose@mail.example"),
        ("https://m\u00fcnchen.example", "https://m\u00fcnchen.example", "xn--mnchen-3ya.example", "munchen.example"),
        ("\u4f60@mail.example", "\u4f60@mail.example", "", ""),
    ],
)  # fmt: skip
def test_what_may_imitate_is_named_as_machines_write_it_and_as_people_may_read_it(
    text: str, written: str, host: str, seems: str
) -> None:
    (found,) = lookalikes([text, text])
    assert (found.written, found.host, found.seems) == (written, host, seems)


def test_the_alphabets_that_were_mixed_are_named() -> None:
    (found,) = lookalikes([f"a@m{CYRILLIC_A}il.example"])
    assert found.scripts == ("CYRILLIC", "LATIN")


@pytest.mark.parametrize(
    "text",
    [
        "anna@mail.example and https://mail.example/x",
        "https://mail.example/\u00fcber?q=\u00fc",
        "Ende.\u00dcber alles",
        "\u0441\u043b\u043e\u0432\u043e.\u0441\u043b\u043e\u0432\u043e",
        "",
    ],
)
def test_what_imitates_nothing_is_left_alone(text: str) -> None:
    assert lookalikes([text]) == ()


@given(st.text())
def test_no_text_makes_the_look_fail(text: str) -> None:
    for found in lookalikes([text, f"x@{text}", f"https://xn--{text}"]):
        assert found.host.isascii()
        assert found.seems.isascii()
