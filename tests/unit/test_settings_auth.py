"""Who may ask, as it is configured: complete, and in production nothing anybody could guess or reach."""

import secrets
from pathlib import Path

import pytest

from penstock.engines.jwt import JwtTokens
from penstock.model.diagnosis import Verdict
from penstock.model.errors import Fault
from penstock.model.visits import Threshold
from penstock.settings.auth_rules import weakness
from penstock.wiring.sign_in import open_tokens, sign_in_findings, threshold_of
from tests.support.clock import FakeClock
from tests.support.settings_files import Configuration
from tests.support.tokens import ISSUER, SECRET, USER, curve_jwk, es256, hs256, key_set
from tests.support.web_server import reply, web_server

JWT = f"auth: {{mode: jwt, issuer: '{ISSUER}', secret: '{SECRET}'}}"
EXAMPLE = "super-secret-jwt-token-with-at-least-32-characters-long"


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return Configuration(tmp_path)


def test_without_a_word_only_this_machine_is_answered(configuration: Configuration) -> None:
    """The defaults need no account and open nothing."""
    settings = configuration.load()

    assert (settings.auth.mode, settings.http.host) == ("local", "127.0.0.1")
    assert settings.auth.allowed_origins == ()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f"auth: {{mode: jwt, issuer: '{ISSUER}'}}", "auth.mode"),
        (f"auth: {{mode: jwt, secret: '{SECRET}'}}", "auth.issuer"),
        (
            f"auth: {{mode: jwt, issuer: i, secret: '{SECRET}', jwks_url: 'https://auth.example/keys'}}",
            "auth.mode",
        ),
        ("auth: {mode: jwt, issuer: i, jwks_file: a, jwks_url: 'https://auth.example/keys'}", "auth.mode"),
        ("auth: {mode: none}", "auth.mode"),
        ("auth: {secret: too-short}", "auth.secret"),
        (f"auth: {{secret: '{'s' * 4097}'}}", "auth.secret"),
        ('auth: {secret: "-----BEGIN PUBLIC KEY-----\\nMFkwEwYHKoZIzj0CAQYIKoZIzj0D"}', "auth.secret"),
        ("auth: {jwks_url: 'http://auth.example/keys'}", "auth.jwks_url"),
        ("auth: {jwks_url: 'http://localhost.evil/keys'}", "auth.jwks_url"),
        ("auth: {jwks_url: 'https://ann:word@auth.example/keys'}", "auth.jwks_url"),
        ("auth: {jwks_url: 'file:///etc/passwd'}", "auth.jwks_url"),
        ("auth: {leeway: 2m}", "auth.leeway"),
        ("auth: {ticket_ttl: 1h}", "auth.ticket_ttl"),
        ("auth: {jwks_stale: 1m}", "auth.jwks_stale"),
        ("auth: {allowed_origins: ['app.example.org']}", "auth.allowed_origins"),
        ("auth: {allowed_origins: ['null']}", "auth.allowed_origins"),
        ("auth: {allowed_origins: ['https://app.example.org/path']}", "auth.allowed_origins"),
        ("http: {host: 'http://127.0.0.1'}", "http.host"),
        ("http: {host: '127.0.0.1:8080'}", "http.host"),
        ("http: {host: '127.1'}", "http.host"),
        ("http: {allowed_hosts: ['*']}", "http.allowed_hosts"),
        (f"{{profile: production, auth: {{mode: jwt, issuer: i, secret: '{EXAMPLE}'}}}}", "auth.secret"),
        (f"{{profile: production, auth: {{mode: jwt, issuer: i, secret: '{'ab' * 20}'}}}}", "auth.secret"),
        ("{profile: production, auth: {jwks_url: 'http://127.0.0.1/keys'}}", "auth.jwks_url"),
        ("{profile: production, auth: {allowed_origins: ['*']}}", "auth.allowed_origins"),
        ("{profile: production, http: {host: 0.0.0.0}}", "http.host"),
        ("{profile: production, http: {host: '[::]'}}", "http.host"),
        ("{profile: production, http: {host: app.example.org}}", "http.host"),
        (f"{{profile: production, {JWT}, http: {{host: 0.0.0.0}}}}", "http.host"),
        (f"{{profile: production, {JWT}, http: {{host: '::'}}}}", "http.host"),
        (f"{{profile: production, {JWT}, http: {{host: '::ffff:0.0.0.0'}}}}", "http.host"),
        (f"{{profile: production, {JWT}, http: {{host: '0x0'}}}}", "http.host"),
    ],
)
def test_what_is_half_or_open_is_refused(configuration: Configuration, text: str, key: str) -> None:
    """Told at the key to mend, without the secret."""
    (problem,) = configuration.refused(text)

    assert problem.key == key
    assert not any(secret in str(problem) for secret in (SECRET, EXAMPLE, "too-short", "MFkw", "word@"))


@pytest.mark.parametrize(
    "text",
    [
        JWT,
        f"{{profile: production, {JWT}, http: {{host: 0.0.0.0, allowed_hosts: [app.example.org]}}}}",
        f"{{profile: production, {JWT}, http: {{host: 192.0.2.7}}}}",
        f"{{{JWT}, http: {{host: 0.0.0.0}}}}",
        f"auth: {{mode: jwt, issuer: i, secret: '{EXAMPLE}'}}",
        "auth: {mode: jwt, issuer: i, jwks_url: 'http://127.0.0.1:54321/keys'}",
        "auth: {mode: jwt, issuer: i, jwks_url: 'http://[::1]:54321/keys'}",
        "{profile: production, auth: {mode: jwt, issuer: i, jwks_url: 'https://auth.example/keys'}}",
        "{profile: production, http: {host: '[::1]', port: 0}}",
        "{profile: production, http: {host: '::1'}}",
        "{profile: production, http: {host: localhost}}",
        "{profile: production, auth: {allowed_origins: ['https://app.example.org']}}",
        "auth: {allowed_origins: ['*']}",
        "http: {host: 0.0.0.0}",
    ],
)
def test_what_is_whole_is_accepted(configuration: Configuration, text: str) -> None:
    """A trial may use an example; production what nobody can guess."""
    configuration.load(text)


@pytest.mark.parametrize(
    "secret",
    [
        "a" * 64,
        "abc" * 20,
        "0123456789abcdef0123456789abcdef",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
        "your-256-bit-secret-your-256-bit-s",
        f"YOUR-{EXAMPLE.upper()}",
        "changeme-changeme-changeme-please",
        "correct-horse-battery-staple-again",
    ],
)
def test_a_secret_that_can_be_guessed_is_weak(secret: str) -> None:
    """Repeated, monotonous, or from somebody's documentation; and it is never quoted."""
    why = weakness(secret)

    assert why is not None
    assert secret not in why


def test_a_random_secret_is_strong() -> None:
    """As `openssl rand` makes them, every time."""
    made = [secrets.token_hex(32) for _ in range(200)] + [secrets.token_urlsafe(32) for _ in range(200)]

    assert [weakness(secret) for secret in made] == [None] * 400


async def test_tokens_are_read_as_the_settings_say(configuration: Configuration, tmp_path: Path) -> None:
    """By secret, by file, by address; and in local mode nobody shows one."""
    clock = FakeClock()
    path = tmp_path / "keys.json"
    path.write_bytes(key_set(curve_jwk()))
    async with web_server() as web:
        web.answers["/keys"] = reply(key_set(curve_jwk()))
        for keys, token in (
            (f"secret: '{SECRET}'", hs256()),
            (f"jwks_file: '{path}'", es256()),
            (f"jwks_url: 'http://127.0.0.1:{web.port}/keys'", es256()),
        ):
            settings = configuration.load(f"auth: {{mode: jwt, issuer: '{ISSUER}', {keys}}}")
            async with open_tokens(settings, clock) as tokens:
                assert isinstance(tokens, JwtTokens)
                assert (await tokens.read(token)).user == USER
                with pytest.raises(Fault):
                    await tokens.read(token[:-4])
    async with open_tokens(configuration.load(), clock) as tokens:
        assert tokens is None


def test_hosts_and_pages_are_those_of_the_settings(configuration: Configuration) -> None:
    """What the door is told."""
    settings = configuration.load(
        "{auth: {allowed_origins: ['https://App.example.org/']}, http: {allowed_hosts: [api.example.org]}}"
    )

    assert threshold_of(settings) == Threshold(
        hosts=("api.example.org",), origins=("https://app.example.org",)
    )


async def test_doctor_says_whether_tokens_could_be_read(configuration: Configuration, tmp_path: Path) -> None:
    """Good keys, none where the file should be, a set without one; and who may ask where nobody signs in."""
    path = tmp_path / "keys.json"
    text = f"auth: {{mode: jwt, issuer: '{ISSUER}', jwks_file: '{path}'}}"

    (missing,) = await sign_in_findings(configuration.load(text), FakeClock())
    path.write_bytes(key_set(curve_jwk()))
    (there,) = await sign_in_findings(configuration.load(text), FakeClock())
    (local,) = await sign_in_findings(configuration.load(), FakeClock())
    (secret,) = await sign_in_findings(configuration.load(JWT), FakeClock())
    path.write_bytes(key_set())
    (empty,) = await sign_in_findings(configuration.load(text), FakeClock())
    (wide,) = await sign_in_findings(configuration.load("http: {host: 0.0.0.0}"), FakeClock())

    assert [each.verdict for each in (missing, empty)] == [Verdict.WRONG, Verdict.WRONG]
    assert [each.verdict for each in (there, local, secret)] == [Verdict.OK, Verdict.OK, Verdict.OK]
    assert (wide.verdict, "other machines" in wide.sentence.lower()) == (Verdict.WARNING, True)
    assert SECRET not in secret.sentence
