"""Users and their workspaces: clauses A1 to A6."""

from functools import partial

import pytest

from penstock.model.accounts import (
    FIRST_WORKSPACE,
    NAME_CHARACTERS_MAX,
    WORKSPACES_MAX,
    Workspace,
    workspace_name_of,
)
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_USER, LOCAL_WORKSPACE, WorkspaceId
from penstock.model.conversations import title_of
from penstock.model.errors import Exhausted, Refused
from penstock.model.jobs import TenantId
from penstock.model.payloads import ItemType
from penstock.model.recipes import Recipe
from penstock.ports.database import Transaction
from penstock.ports.desk import Wanted
from tests.contract.engines import Store

NEEDS_DATABASE = True
ANNA, BERT = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


async def opened(store: Store, user: str, name: str) -> Workspace:
    await store.write(lambda tx: tx.accounts.sign_in(user))
    return await store.write(lambda tx: tx.accounts.open(user, name))


def remove(tx: Transaction, user: str, workspace: WorkspaceId) -> bool:
    return tx.accounts.remove(user, workspace)


def rename(tx: Transaction, user: str, workspace: WorkspaceId) -> Workspace:
    return tx.accounts.rename(user, workspace, "Mine")


async def test_a_new_user_finds_one_workspace_however_often_he_signs_in(store: Store) -> None:
    """A1, A2, A6."""
    for _ in range(3):
        await store.write(lambda tx: tx.accounts.sign_in(ANNA))

    (first,) = await store.register.workspaces(ANNA)
    assert (first.name, first.owner) == (FIRST_WORKSPACE, ANNA)
    assert await store.write(lambda tx: tx.shelves.workspace_of(first.tenant)) == first.id
    assert await store.catalogue.workspace_of(first.tenant) == first.id
    assert await store.catalogue.tenants(first.id) == [first.tenant]
    assert (await store.register.tenants())[first.tenant] == first.id
    assert [each.id for each in await store.register.workspaces(LOCAL_USER)] == [LOCAL_WORKSPACE]


async def test_an_unknown_tenant_joins_the_local_workspace(store: Store) -> None:
    """A look finds it there beforehand, and its tenants once it has joined."""
    strange = TenantId("acme")
    before = await store.catalogue.workspace_of(strange)
    await store.write(lambda tx: tx.shelves.workspace_of(strange))

    assert before == LOCAL_WORKSPACE
    assert sorted(await store.catalogue.tenants(LOCAL_WORKSPACE)) == [strange, LOCAL_TENANT]


async def test_a_tenant_that_joined_a_workspace_belongs_to_it_for_good(store: Store) -> None:
    """K20: joining again, also another one, changes nothing."""
    hers = await opened(store, ANNA, "Plans")
    project = TenantId("a-project")

    first = await store.write(lambda tx: tx.shelves.join(project, hers.id))
    again = await store.write(lambda tx: tx.shelves.join(project, LOCAL_WORKSPACE))

    assert (first, again) == (hers.id, hers.id)
    assert project in await store.catalogue.tenants(hers.id)


async def test_what_is_anothers_is_not_there(store: Store) -> None:
    """A3: unknown, foreign and removed look the same, to every verb."""
    hers = await opened(store, ANNA, "Plans")
    await store.write(lambda tx: tx.accounts.sign_in(BERT))

    for strange in (hers.id, WorkspaceId("nothing")):
        assert await store.register.workspace(BERT, strange) is None
        assert not await store.write(partial(remove, user=BERT, workspace=strange))
        with pytest.raises(Refused) as refused:
            await store.write(partial(rename, user=BERT, workspace=strange))
        assert (refused.value.code, refused.value.message) == (
            "ERR_WORKSPACE_UNKNOWN",
            "there is no such workspace",
        )
    assert await store.register.workspace(ANNA, hers.id) == hers


@pytest.mark.parametrize("name", ["", " \n ", "x" * (NAME_CHARACTERS_MAX + 1)])
async def test_a_name_says_something_and_is_not_endless(store: Store, name: str) -> None:
    """Nothing is made where the name is none."""
    with pytest.raises(Refused) as refused:
        await store.write(lambda tx: tx.accounts.open(LOCAL_USER, name))
    assert refused.value.code == "ERR_WORKSPACE_NAME_INVALID"
    assert len(await store.register.workspaces(LOCAL_USER)) == 1


async def test_a_user_has_so_many_workspaces_at_most(store: Store) -> None:
    """A4."""

    def fill(tx: Transaction) -> None:
        for number in range(WORKSPACES_MAX - 1):
            tx.accounts.open(LOCAL_USER, f"Shelf {number}")

    await store.write(fill)
    with pytest.raises(Exhausted) as refused:
        await store.write(lambda tx: tx.accounts.open(LOCAL_USER, "One more"))
    assert refused.value.code == "ERR_QUOTA_WORKSPACES"


async def test_a_removed_workspace_is_gone_with_all_it_holds(store: Store) -> None:
    """A5: at once for readers, and the job that purges it is there."""
    hers = await opened(store, ANNA, "Plans")
    recipe = Recipe(model="m").to_json()
    await store.write(lambda tx: tx.shelves.declare(hers.id, "papers", recipe_json=recipe))
    talk = await store.write(lambda tx: tx.conversations.open(hers.id, title="Keys"))

    assert await store.write(lambda tx: tx.accounts.remove(ANNA, hers.id))

    assert await store.register.workspace(ANNA, hers.id) is None
    assert hers.id not in [each.id for each in await store.register.workspaces(ANNA)]
    assert await store.catalogue.collections(hers.id) == []
    assert await store.transcript.conversation(hers.id, talk.id) is None
    assert await store.transcript.conversations(hers.id) == []
    (job,) = await store.desk.jobs(Wanted(tenants=[hers.tenant]))
    assert job.item_type is ItemType.DELETE_TENANT
    assert not await store.write(lambda tx: tx.accounts.remove(ANNA, hers.id))


async def test_nothing_is_made_in_a_removed_workspace(store: Store) -> None:
    """A5: whoever found it a moment before is told that it is not there."""
    hers = await opened(store, ANNA, "Plans")
    recipe = Recipe(model="m").to_json()
    await store.write(lambda tx: tx.accounts.remove(ANNA, hers.id))

    for made in (
        lambda tx: tx.shelves.declare(hers.id, "papers", recipe_json=recipe),
        lambda tx: tx.conversations.open(hers.id, title="Keys"),
    ):
        with pytest.raises(Refused) as refused:
            await store.write(made)
        assert refused.value.code == "ERR_WORKSPACE_UNKNOWN"


async def test_the_local_workspace_stays(store: Store) -> None:
    """A5."""
    with pytest.raises(Refused) as refused:
        await store.write(lambda tx: tx.accounts.remove(LOCAL_USER, LOCAL_WORKSPACE))
    assert refused.value.code == "ERR_WORKSPACE_LOCAL"


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("\u202eexe.\u2066Plans\u2069", "exe.Plans"),
        ("\ufeffSoft\u00adware\u200e", "Software"),
        ("\U0001f469\u200d\U0001f4bb and \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", None),
    ],
)
def test_a_name_holds_nothing_that_turns_others(told: str, kept: str | None) -> None:
    """Marks of direction and invisible ones go; what joins letters and emoji stays."""
    assert workspace_name_of(told) == (told if kept is None else kept)


@pytest.mark.parametrize("told", ["\u202e", "\u200d", " \u200b\u2060 \u200c ", "\U000e0041"])
def test_a_name_nobody_can_see_is_none(told: str) -> None:
    """Of a workspace it is refused; a title is left empty."""
    with pytest.raises(Refused) as caught:
        workspace_name_of(told)

    assert caught.value.code == "ERR_WORKSPACE_NAME_INVALID"
    assert title_of(told) == ""
