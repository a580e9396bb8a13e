import pytest

from planner.kafka.auth.jaas import JaasError, parse_jaas

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        pytest.param(
            f'{PLAIN} required username="u" password="p";',
            {"username": "u", "password": "p"},
            id="quoted",
        ),
        pytest.param(f"{PLAIN} required username=u;", {"username": "u"}, id="bare"),
        pytest.param(f"{PLAIN} required;", {}, id="no-options"),
        pytest.param(
            f'{PLAIN} REQUIRED\n  password = "a;b=\\"c\\" \\\\d" ;',
            {"password": 'a;b="c" \\d'},
            id="marks-within-quotes",
        ),
    ],
)
def test_a_login_module_is_read(text: str, options: dict[str, str]):
    module = parse_jaas(text)

    assert (module.name, module.options) == ("PlainLoginModule", options)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{PLAIN} required password="hush"', id="no-semicolon"),
        pytest.param(f'{PLAIN} password="hush";', id="no-flag"),
        pytest.param(f'{PLAIN} required password="hush;', id="open-quote"),
        pytest.param(f'{PLAIN} required a="hush"; {PLAIN} required;', id="two-modules"),
        pytest.param("", id="empty"),
    ],
)
def test_other_text_is_refused_without_quoting_it(text: str):
    with pytest.raises(JaasError) as refused:
        parse_jaas(text)

    assert "hush" not in str(refused.value)


def test_a_login_module_does_not_show_its_options():
    assert "hush" not in repr(parse_jaas(f'{PLAIN} required password="hush";'))
