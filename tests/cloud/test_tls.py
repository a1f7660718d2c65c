"""Servers with certificates of authorities that only the user's credential, or the operator's file, names."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from stoker.base.errors import CloudError
from stoker.cloud.settings import CloudSettings, Tls
from stoker.cloud.transport import Request, Transport
from stoker_foundation.clock import SystemClock
from testing.servers import HOST, Certificate, make_certificate


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path)


@pytest.fixture
async def url(certificate: Certificate) -> AsyncIterator[str]:
    """A server that proves its identity with the certificate."""

    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"path": request.path})

    application = web.Application()
    application.router.add_get("/{path}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.certificate, certificate.key)
    site = web.TCPSite(runner, HOST, 0, ssl_context=context)
    await site.start()
    yield f"https://{HOST}:{runner.addresses[0][1]}/x"
    await runner.cleanup()


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport(CloudSettings(remote_cloud_networks=("127.0.0.0/8",), client_retry_limit=0), SystemClock())
    yield transport
    await transport.close()


async def test_authorities_that_a_credential_or_a_file_names(
    transport: Transport, url: str, certificate: Certificate
) -> None:
    pem = certificate.authority.read_text()
    for tls in (
        Tls(named_by="p", ca_certificates=pem),
        Tls(ca_file=str(certificate.authority)),
        Tls(named_by="p", insecure=True),
    ):
        answer = await transport.send(Request("nova", "GET", url, {}, tls=tls))
        assert (answer.status, answer.body) == (200, {"path": "/x"})
    with pytest.raises(CloudError, match=r"unable to get local issuer certificate$"):
        await transport.send(Request("nova", "GET", url, {}, tls=Tls(named_by="p")))


async def test_contexts_of_many_credentials_do_not_accumulate(transport: Transport, tmp_path: Path) -> None:
    """A user can make any number of credentials, each with certificates of its own."""
    closed = "https://127.0.0.1:1/"
    pem = make_certificate(tmp_path).authority.read_text()
    for number in range(80):
        with pytest.raises(CloudError, match=r"cannot connect to 127\.0\.0\.1:1: Connection refused$"):
            tls = Tls(named_by="p", ca_certificates=f"{pem}# {number}\n")
            await transport.send(Request("nova", "GET", closed, {}, tls=tls))
    assert 0 < transport._contexts.weight <= 64 * (len(pem) + 5)
