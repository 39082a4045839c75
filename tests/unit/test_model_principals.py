"""What the claims of a token must say, one by one."""

import pytest

from penstock.model.catalogue import LOCAL_USER
from penstock.model.errors import Refused
from penstock.model.principals import LOCAL, Principal, Proof, is_user_id, principal_of
from tests.support.clock import START
from tests.support.tokens import EXPECTED, USER, claims

NOW = int(START)

ODD_SUBJECTS = [
    USER.upper(),
    f"{{{USER}}}",
    f"urn:uuid:{USER}",
    USER.replace("-", ""),
    f" {USER}",
    f"{USER}\n",
    f"{USER}\0",
    USER.replace("3", "\u0663"),  # a digit three of another script
    USER.replace("b", "\u0432"),
    USER[:-1],
    USER + "0",
    "00000000-0000-0000-0000-000000000000",
    "",
    "admin",
    "../../etc/passwd",
    "' OR 1=1 --",
    7,
    0,
    True,
    None,
    [USER],
    {"id": USER},
]

ODD_TIMES = [
    float(NOW + 3540),
    str(NOW + 3540),
    True,
    None,
    [NOW + 3540],
    -1,
    0,
    10**12,
    2**63,
    10**400,
    float("inf"),
    float("nan"),
]


def test_usual_claims_name_their_user() -> None:
    """The principal is the token's subject, until the token ends."""
    principal = principal_of(claims(), EXPECTED, NOW)

    assert principal == Principal(
        user=USER, role="authenticated", expires_at=NOW + 3540 + EXPECTED.leeway, proof=Proof.TOKEN
    )


@pytest.mark.parametrize(
    "given",
    [
        claims(aud=["other", "authenticated"]),
        claims(nbf=NOW),
        claims(without=("is_anonymous",)),
        claims(iat=NOW + 10),
        claims(exp=NOW - 9),
    ],
)
def test_what_differs_within_the_rules_is_accepted(given: dict[str, object]) -> None:
    """Several audiences, a beginning, clocks a little apart."""
    assert principal_of(given, EXPECTED, NOW).user == USER


REFUSED: list[dict[str, object]] = [
    *(claims(sub=subject) for subject in ODD_SUBJECTS),
    *(claims(exp=time) for time in ODD_TIMES),
    *(claims(iat=time) for time in ODD_TIMES if not isinstance(time, int) or time is True or time <= 0),
    *(claims(nbf=time) for time in ODD_TIMES if not isinstance(time, int) or time is True or time <= 0),
    *(claims(without=(name,)) for name in ("iss", "aud", "sub", "role", "iat", "exp")),
    *(
        claims(role=role)
        for role in ("service_role", "anon", "Authenticated", "authenticated ", "", None, ["authenticated"])
    ),
    *(claims(is_anonymous=value) for value in (True, "false", "true", 0, 1, None, [False])),
    *(
        claims(aud=aud)
        for aud in ("anon", "", None, 7, [], ["other"], ["authenticated", 7], {"authenticated": 1})
    ),
    claims(aud=["authenticated"] * 17),
    *(claims(iss=iss) for iss in ("https://auth.example/auth/v1/", "HTTPS://auth.example/auth/v1", None, 7)),
    claims(nbf=NOW + 11),
    claims(iat=NOW + 11),
    claims(exp=NOW - 60),
    claims(nbf=NOW, exp=NOW),
    # What a user may write himself counts for nothing.
    claims(role="anon", user_metadata={"role": "authenticated"}),
    claims(without=("sub",), user_metadata={"sub": USER}),
]


@pytest.mark.parametrize("given", REFUSED, ids=range(len(REFUSED)))
def test_anything_else_is_refused_with_one_sentence(given: dict[str, object]) -> None:
    """T2: the reason is a note for those who run the program, and no part of what is told."""
    with pytest.raises(Refused) as refused:
        principal_of(given, EXPECTED, NOW)

    assert (refused.value.code, refused.value.message) == ("ERR_TOKEN_INVALID", "the token is not accepted")
    assert refused.value.__notes__[0] not in str(refused.value)


def test_only_a_token_that_was_right_is_called_expired() -> None:
    """T2: a caller can refresh it; of a wrong one nobody learns that it is over."""
    with pytest.raises(Refused) as over:
        principal_of(claims(iat=NOW - 7200, exp=NOW - 10), EXPECTED, NOW)
    with pytest.raises(Refused) as wrong:
        principal_of(claims(iat=NOW - 7200, exp=NOW - 10, role="anon"), EXPECTED, NOW)

    assert (over.value.code, wrong.value.code) == ("ERR_TOKEN_EXPIRED", "ERR_TOKEN_INVALID")


def test_what_a_user_may_write_changes_nothing() -> None:
    """Metadata that claims a role, a name or an end is not looked at."""
    loud = {"sub": LOCAL_USER, "role": "service_role", "exp": 0, "is_anonymous": True}

    assert principal_of(claims(user_metadata=loud), EXPECTED, NOW) == principal_of(claims(), EXPECTED, NOW)


def test_the_local_user_is_the_one_of_the_first_migration_and_never_over() -> None:
    """One person at this machine, without an end."""
    assert (LOCAL.user, LOCAL.proof, LOCAL.is_over(1e18)) == (LOCAL_USER, Proof.LOCAL, False)
    assert is_user_id(LOCAL.user)


def test_a_proof_is_over_at_its_end() -> None:
    """To the second, and not before."""
    principal = Principal(user=USER, expires_at=NOW + 5.0)

    assert [principal.is_over(NOW + 4.999), principal.is_over(NOW + 5.0)] == [False, True]
