"""Acting for a stack's owner after the owner's token is gone.

`trusts` (the default of `deferred_auth_method`): the owner's first request makes a trust to the service user; stacks
of one owner in one project share it. A request that itself comes by a trust, such as that of a stack for another one,
lends it: whoever made it removes it. `clouds.yaml`: on a laptop, everything is done as the cloud's own user.
"""

from __future__ import annotations

import orjson

from stoker.base.context import RequestContext
from stoker.base.errors import MissingCredentialError
from stoker.cloud.auth import CloudPool
from stoker.cloud.credentials import CloudsYamlCredential, Credential, TokenCredential, TrustCredential
from stoker.cloud.session import Cloud
from stoker.store import queries
from stoker.store.database import Database
from stoker.store.records import Stack


class Credentials:
    """Keeps, finds and gives up the credentials of stacks."""

    def __init__(self, pool: CloudPool, database: Database, cloud_name: str | None = None) -> None:
        self._pool = pool
        self._database = database
        self._cloud_name = cloud_name

    async def of_caller(self, context: RequestContext) -> Cloud:
        """Calls made with the caller's own token."""
        return await self._pool.cloud(
            TokenCredential(
                context.token, project_id=context.project_id, user_id=context.user_id, role_names=context.roles
            )
        )

    async def keep(self, context: RequestContext) -> str:
        """A credential, as text for the stack's row, that outlives the request. Raises MissingCredentialError."""
        if self._cloud_name is not None:
            return orjson.dumps({"kind": "clouds.yaml", "name": self._cloud_name}).decode()
        if context.trust_id:
            return orjson.dumps({"kind": "trust", "id": context.trust_id, "lent": True}).decode()
        roles = sorted(context.roles)
        for text in await self._database.read(queries.credentials_of, context.user_id, context.project_id):
            if orjson.loads(text).get("roles") == roles:
                return text
        trust_id = await self._pool.create_trust(await self.of_caller(context))
        return orjson.dumps({"kind": "trust", "id": trust_id, "roles": roles}).decode()

    async def cloud_of(self, stack: Stack) -> Cloud:
        """Calls on behalf of the stack's owner."""
        return await self._pool.cloud(_credential(stack))

    async def remove_user_project(self, stack: Stack, project_id: str) -> None:
        """Remove the project of a stack's own users, unless another stack's live there; one that is gone is done."""
        if await self._database.read(queries.user_project_in_use, project_id, stack.id):
            return
        admin = await (await self.cloud_of(stack)).as_stack_domain_admin()
        await admin.request("DELETE", "keystone", f"/projects/{project_id}", ok=(404,))

    async def release(self, stack: Stack) -> None:
        """Give the stack's credential up, unless another stack lives on it."""
        credential = _credential(stack)
        if not isinstance(credential, TrustCredential) or stack.credential is None:
            return
        if orjson.loads(stack.credential).get("lent"):
            return
        if not await self._database.read(queries.credential_in_use, stack.credential, stack.id):
            await self._pool.delete_trust(credential.trust_id, credential)


def _credential(stack: Stack) -> Credential:
    if stack.credential is None:
        raise MissingCredentialError("The stack has no stored credential; update it once to give it one.")
    stored = orjson.loads(stack.credential)
    if stored["kind"] == "clouds.yaml":
        return CloudsYamlCredential(stored["name"])
    return TrustCredential(stored["id"])
