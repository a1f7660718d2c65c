"""Credentials to act for a stack's owner when the owner's token has expired.

`trusts` (the default of `deferred_auth_method`): the owner's first request creates a trust for the service user, which
stacks of the same owner and project share. An invalid trust is replaced by one of the next user who requests an
operation on the stack. A request that is itself authenticated by a trust, such as that of a stack for another stack,
lends its trust, which is removed by its creator. `clouds.yaml`: on a laptop, all requests use the cloud's own user.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import orjson
from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import Forbidden, MissingCredentialError, StokerError
from stoker.cloud.auth import CloudPool
from stoker.cloud.credentials import (
    CloudsYamlCredential,
    Credential,
    StackDomainAdmin,
    TokenCredential,
    TrustCredential,
)
from stoker.cloud.session import Cloud
from stoker.store import queries, trusts
from stoker.store.database import Database, outside_request
from stoker.store.journal import Batch, Journal
from stoker.store.records import Stack
from stoker_foundation.clock import Clock

LOG = logging.getLogger(__name__)

_OURS = "trust"
"""The kind of a trust that was created here, and is removed with the last stack that uses it."""

_Owner: TypeAlias = tuple[str, str, tuple[str, ...]]
"""The user ID, the project ID and the roles of whoever gives a trust."""

_MOST_OWNERS = 1000
"""Owners whose trusts are remembered."""

_FIRST_PAUSE, _LONGEST_PAUSE = 3.0, 3600.0
"""Seconds until another attempt to remove a trust, after the first and after many attempts."""


class Credentials:
    """Stores, finds and removes the credentials of stacks; `pool` has the clouds that are open with them."""

    def __init__(
        self, pool: CloudPool, database: Database, journal: Journal, clock: Clock, cloud_name: str | None = None
    ) -> None:
        self.pool = pool
        self._database = database
        self._journal = journal
        self._clock = clock
        self._cloud_name = cloud_name
        self._removing = False
        self._refused: dict[str, tuple[float, float]] = {}
        self._recent: dict[_Owner, str] = {}

    async def of_caller(self, context: RequestContext) -> Cloud:
        """Return a cloud that uses the caller's own token."""
        return await self.pool.cloud(
            TokenCredential(
                context.token, project_id=context.project_id, user_id=context.user_id, role_names=context.roles
            )
        )

    async def call_with_credential(
        self, context: RequestContext, stack: Stack, begin: Callable[[str], Awaitable[None]]
    ) -> None:
        """Call `begin` with a credential for the stack: its own, or the caller's if that is not valid any more.

        `begin` records it, and is called once more if the credential is being removed (trusts.CredentialRemoved).

        Raises MissingCredentialError.
        """
        credential = stack.credential
        mine = context.project_id == stack.project_id
        if credential is None or (mine and not await self.usable(stack)):
            credential = await self._keep(context)
        try:
            await begin(credential)
        except trusts.CredentialRemoved:
            LOG.info("the credential of stack %s is being removed, using another one", stack.name)
            self._recent = {owner: remembered for owner, remembered in self._recent.items() if remembered != credential}
            await begin(await self._keep(context))

    async def lacking_roles(self, context: RequestContext, stack: Stack) -> tuple[str, ...]:
        """Return the roles that a new trust for a stack must delegate, and its owner does not have.

        Nothing is lacking where no new trust is needed: for a stack with a credential, the token of a trust, or a user
        who has given a trust before.
        """
        if self._cloud_name is not None or context.trust_id or stack.credential is not None:
            return ()
        delegated = self.pool.settings.trusts_delegated_roles
        lacking = tuple(role for role in delegated if role not in context.roles)
        if not lacking:
            return ()
        known = await self._database.read(trusts.usable, context.user_id, context.project_id, context.roles)
        return lacking if known is None else ()

    async def _login_of(self, cloud_name: str, context: RequestContext) -> str:
        """Return the credential of the login in clouds.yaml. Raises Forbidden for a caller who is not that user there.

        An administrator's login checks the tokens of all users of the cloud, who must not act with its rights.
        """
        credential = _of_login(cloud_name)
        login = await self.of_record(credential)
        if (context.user_id, context.project_id) != (login.user_id, login.project_id):
            raise Forbidden(
                f"This Stoker acts as the user of the entry {cloud_name} in clouds.yaml, and for its project only: "
                "log in as that user."
            )
        return credential

    async def _keep(self, context: RequestContext) -> str:
        """Return a credential of the caller that outlives the request, as a string for the stack's row."""
        if self._cloud_name is not None:
            return await self._login_of(self._cloud_name, context)
        if context.trust_id:
            lent = orjson.dumps({"kind": "lent trust", "id": context.trust_id}).decode()
            if not await self.pool.works(_parsed(lent)):
                raise MissingCredentialError(
                    "The token is from a trust to another user than the service's own, with which the service "
                    "cannot act for the stack's owner later; use a token of the owner."
                )
            return lent
        owner = (context.user_id, context.project_id, context.roles)
        if (recent := self._recent.get(owner)) is not None and await self.pool.works(_parsed(recent)):
            return recent
        known = await self._database.read(trusts.usable, *owner)
        if known is not None and await self.pool.works(_parsed(known)):
            self._remember(owner, known)
            return known
        identifier = await self.pool.create_trust(await self.of_caller(context))
        credential = orjson.dumps({"kind": _OURS, "id": identifier}).decode()
        batch = Batch().then(partial(trusts.record, credential=credential, owner=owner))
        if known is not None:
            batch.then(partial(trusts.release, credential=known))
        with outside_request():  # otherwise the trust of a request that has expired would be lost
            await self._journal.commit(batch)
        self._remember(owner, credential)
        return credential

    def _remember(self, owner: _Owner, credential: str) -> None:
        """Spare the owner's next request the search; that the credential is still usable is checked when it begins."""
        self._recent[owner] = credential
        if len(self._recent) > _MOST_OWNERS:
            del self._recent[next(iter(self._recent))]

    async def cloud_of(self, stack: Stack) -> Cloud:
        """Return a cloud that acts for the stack's owner."""
        return await self.of_record(stack.credential)

    async def of_record(self, credential: str | None) -> Cloud:
        """Return a cloud that acts for the owner of a stack with this recorded credential."""
        if credential is None:
            raise MissingCredentialError("The stack has no stored credential; update it once to store one.")
        return await self.pool.cloud(_parsed(credential))

    async def of_project(self, project_id: str, credentials: Iterable[str | None]) -> Cloud | None:
        """Return a cloud for a project with the first of its stacks' credentials that can be used; None without any.

        On a laptop, the cloud's own user can be used for the project of the login. Raises the StokerError of the last
        credential.
        """
        known = dict.fromkeys(each for each in credentials if each is not None)
        if self._cloud_name is not None:
            known[_of_login(self._cloud_name)] = None
        failure: StokerError | None = None
        for credential in known:
            try:
                cloud = await self.of_record(credential)
            except StokerError as error:
                failure = error
                continue
            if cloud.project_id == project_id:
                return cloud
        if failure is not None:
            raise failure
        return None

    async def usable(self, stack: Stack) -> bool:
        """Return whether Keystone issues tokens for the stack's credential; an unreachable Keystone counts as yes."""
        return stack.credential is not None and await self.pool.works(_parsed(stack.credential))

    async def remove_user_project(self, stack: Stack) -> None:
        """Remove the project of the tree's stack users, unless another stack uses it; do nothing if it does not exist.

        `stack` is the root of the tree; nested stacks have no such project of their own.
        """
        recorded = await self._database.read(queries.stack_by_id, stack.id) if stack.parent_id is None else None
        if recorded is not None and recorded.user_project_id is not None:
            await self._remove_project(recorded.user_project_id, stack.id)

    async def keep_user_project(self, stack: Stack, project_id: str) -> None:
        """Record a project that was created for the users of a stack's tree without a claim on its operation.

        It is removed with the tree then; or now, if the tree is gone.
        """
        root = await self._database.read(queries.stack_by_id, stack.root_id)
        if root is None or root.deleted_at is not None:
            await self._remove_project(project_id, stack.root_id)
        elif root.user_project_id is None:
            step = partial(queries.set_user_project, root_id=root.id, project_id=project_id)
            await self._journal.commit(Batch().then(step))

    async def _remove_project(self, project_id: str, stack_id: str) -> None:
        if await self._database.read(queries.user_project_in_use, project_id, stack_id):
            return
        admin = await self.pool.cloud(StackDomainAdmin())
        await admin.request("DELETE", "keystone", f"/projects/{project_id}", ok=(404,))

    async def release(self, stack: Stack) -> None:
        """Give the credential of a deleted stack up, unless another stack uses it."""
        await self._journal.commit(Batch().then(partial(trusts.release_unused, credential=stack.credential)))
        await self.remove_given_up()

    async def remove_given_up(self) -> None:
        """Remove trusts that no stack uses any more; failed removals are retried with increasing delays."""
        if self._removing:
            return
        self._removing = True
        try:
            given_up = await self._database.read(trusts.given_up)
            self._refused = {text: self._refused[text] for text in given_up if text in self._refused}
            for text in given_up:
                now = self._clock.now()
                due, pause = self._refused.get(text, (now, _FIRST_PAUSE))
                if now >= due and not await self._remove(text):
                    self._refused[text] = now + pause, min(pause * 2, _LONGEST_PAUSE)
        finally:
            self._removing = False

    async def _remove(self, text: str) -> bool:
        """Remove a trust and its row; return False if that is not possible now."""
        credential = _parsed(text)
        assert isinstance(credential, TrustCredential)
        try:
            await self.pool.delete_trust(credential.trust_id, credential)
        except StokerError as error:
            LOG.warning("cannot remove the unused trust %s, will retry: %s", credential.trust_id, error)
            return False
        await self._journal.commit(Batch().then(partial(trusts.forget, credential=text)))
        return True


def lock_credentials(connection: Connection, texts: Sequence[str | None]) -> None:
    """Record that stacks in this transaction use credentials (a joint statement of the journal).

    Raises CredentialRemoved if one is being removed.
    """
    trusts.lock(connection, (text for text in texts if text is not None and orjson.loads(text)["kind"] == _OURS))


def move(connection: Connection, stack: Stack, text: str) -> None:
    """Change the credential of a recorded stack and its tree. Raises CredentialRemoved if that is being removed."""
    lock_credentials(connection, [text])
    trusts.move(connection, stack.root_id, stack.credential, text)


def _of_login(cloud_name: str) -> str:
    return orjson.dumps({"kind": "clouds.yaml", "name": cloud_name}).decode()


def _parsed(text: str) -> Credential:
    stored = orjson.loads(text)
    if stored["kind"] == "clouds.yaml":
        return CloudsYamlCredential(stored["name"])
    return TrustCredential(stored["id"])
