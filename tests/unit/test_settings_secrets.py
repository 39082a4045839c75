"""Secrets work and never show: not in repr, not in errors, not in the shown tree."""

import traceback
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.settings import ConfigurationError, Secret, load
from penstock.settings.masking import masked
from tests.support.settings_files import Configuration

SECRET = "hunter2"


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return Configuration(tmp_path)


def test_settings_show_no_secret(configuration: Configuration) -> None:
    """Every place a password can stand is masked in repr and in the shown tree, and works all the same."""
    settings = configuration.load(
        f"""
        database: postgresql://ann:{SECRET}@db/penstock?sslpassword={SECRET}
        queue: redis://:{SECRET}@cache/0
        blobs: s3://{SECRET}@minio:9000/bucket?secret_key={SECRET}
        vectors: https://qdrant:6333/?api_key={SECRET}
        events: kafka://ann:{SECRET}@broker:9092
        embedder: https://{SECRET}@models/v1
        answerer: https://:{SECRET}@models/v1
        embedding: {{model: small, api_key: {SECRET}}}
        answering: {{model: large, api_key: {SECRET}}}
        redis: {{password: {SECRET}, url: "redis://:{SECRET}@cache"}}
        observability: {{tracing: {{endpoint: "https://ann:{SECRET}@collector"}}}}
        """
    )

    assert SECRET not in repr(settings)
    assert SECRET not in str(settings)
    assert SECRET not in str(settings.as_shown())
    assert settings.as_shown()["redis"]["password"] == "***"
    assert settings.as_shown()["queue"] == "redis://:***@cache/0"
    assert SECRET not in f"{settings.database} {settings.database!r} {settings.redis.password}"
    assert settings.database.reveal() == f"postgresql://ann:{SECRET}@db/penstock?sslpassword={SECRET}"
    assert settings.redis_server().password == Secret(SECRET)


@pytest.mark.parametrize(
    "text",
    [
        f"redis: {{password: [{SECRET}]}}",
        f"redis: {{password: {{{SECRET}: 1}}}}",
        f"redis: {{passwrd: {SECRET}}}",
        f"redis: redis://:{SECRET}@cache",
        f"redis: {{password: *{SECRET}}}",
        f"redis: {{password: !{SECRET}}}",
        f"redis: {{password: !{SECRET} x}}",
        f"redis: {{password: '{SECRET}}}",
        f"redis: {{password: {SECRET}: x}}",
        f"redis:\n  password: {SECRET}\n bad\n",
        f"redis: {{addr: 'ann:{SECRET}@cache:6379'}}",
        f"redis: {{url: 'redis://:{SECRET}@cache/jobs'}}",
        f"redis: {{url: 'redis://:{SECRET}@cache', password: other}}",
        f"database: mysql://ann:{SECRET}@db",
        f"database: ann:{SECRET}@db",
        f"database: postgresql://ann:a/{SECRET}@db",
        f"queue: redis://:{SECRET}@cache:99999",
        f"worker: {{count: 'redis://:{SECRET}@cache'}}",
        f"redis://:{SECRET}@cache: 1",
        SECRET,
    ],
)
def test_errors_show_no_secret(configuration: Configuration, text: str) -> None:
    """Whatever is wrong around a password, neither the error nor its traceback quotes it."""
    configuration.path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigurationError) as caught:
        load(configuration.path, {}, {})

    told = (
        "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(caught.value.problems)
    )
    assert SECRET not in told


def test_variables_that_disagree_show_no_secret(configuration: Configuration) -> None:
    """Two passwords in two variables are told apart without being told."""
    problems = configuration.refused("", {"PENSTOCK_REDIS_PASSWORD": SECRET, "REDIS_PASSWORD": f"{SECRET}x"})

    assert SECRET not in str(problems)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30))
def test_any_password_in_a_url_is_masked(password: str) -> None:
    """Unescaped slashes, question marks and at signs bare no piece of a password."""
    shown = masked(f"redis://ann:{password}@cache:6379/0")

    assert shown in ("redis://ann:***@cache:6379/0", "redis://ann:***")


@given(st.from_regex(r"[!-%'-:<-~]{1,30}", fullmatch=True))
@example("one:two@three")
@example("one#two")
def test_any_secret_in_a_query_is_masked(secret: str) -> None:
    """Up to the next parameter, everything after a secret's name is hidden."""
    shown = masked(f"https://qdrant/?api_key={secret}&x=1")

    assert shown in ("https://qdrant/?api_key=***&x=1", "https://qdrant/?api_key=***")
