"""Notices about changes that wait for people, to a real SMTP server and to real webhooks."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import UnthreadedController
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import ApprovalRequired, BadValue, ChangeWindowClosed
from stoker.base.mail import MailFailed, MailSettings, Security, send_mail
from stoker.base.webhooks import WebhookFailed, WebhookSettings, post, signature
from stoker.engine.settings import EngineSettings
from testing.harness import World
from testing.servers import make_certificate
from tests.engine.test_approvals import ONE_PERSON, REF, ask, person, require, value
from tests.engine.test_change_windows import GROUP, freeze
from tests.engine.webhooks import LOCAL, SECRET, Hook, served_hook, until

MAIL = MailSettings("127.0.0.1", 0, Security.STARTTLS, "stoker", "hidden", "stoker@cloud", 5.0)


@dataclass
class Mailbox:
    """What an SMTP server has accepted; `refuses` is the reply to recipients instead."""

    messages: list[tuple[str, Message]] = field(default_factory=list)
    refuses: str | None = None
    logins: int = 0

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refuses is not None:
            return self.refuses
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        assert session.ssl is not None, "mail is sent over TLS only"
        self.messages += [(to, message_from_bytes(envelope.content)) for to in envelope.rcpt_tos]
        return "250 OK"

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        self.logins += 1
        good = isinstance(data, LoginPassword) and (data.login, data.password) == (b"stoker", b"hidden")
        return AuthResult(success=good, handled=False)


@pytest.fixture
async def mailbox(tmp_path: Path) -> AsyncIterator[tuple[Mailbox, MailSettings]]:
    made = make_certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made.certificate, made.key)
    box = Mailbox()
    server = UnthreadedController(
        box,
        loop=asyncio.get_running_loop(),
        hostname="127.0.0.1",
        port=0,
        tls_context=context,
        require_starttls=True,
        auth_required=True,
        authenticator=box.authenticate,
        auth_exclude_mechanism=["LOGIN"],
    )
    listening = await server._create_server()
    assert isinstance(listening, asyncio.Server)
    port = listening.sockets[0].getsockname()[1]
    yield box, replace(MAIL, port=port, ca_file=str(made.authority))
    listening.close()


@pytest.fixture
async def hook() -> AsyncIterator[Hook]:
    async with served_hook() as hook:
        yield hook


@pytest.fixture
async def world(tmp_path: Path, served: ServedCloud, mailbox: tuple[Mailbox, MailSettings]) -> AsyncIterator[World]:
    settings = EngineSettings(webhooks=WebhookSettings(SECRET, 5.0, LOCAL), mail=mailbox[1])
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    yield world
    await world.stop()


async def test_people_are_notified_of_each_step_of_an_approval(
    world: World, mailbox: tuple[Mailbox, MailSettings], hook: Hook
) -> None:
    box, _ = mailbox
    await world.create("web", value("1"))
    notify = [{"email": "ops@example.com"}, {"webhook": hook.url}]
    key = (await require(world, {**ONE_PERSON, "notify": notify}))["webhook_key"]
    assert "webhook_key" not in await world.call("change_control_show", ref=REF)
    with pytest.raises(ApprovalRequired):
        await world.update("web", value("2"))
    await until(lambda: box.messages and hook.requests)
    [(to, mail)] = box.messages
    assert to == "ops@example.com" and mail["From"] == "stoker@cloud"
    assert mail["Subject"] == "[stoker] Approval asked for: stack web"
    [sent] = hook.sent()
    assert (sent["type"], sent["stack_name"], sent["action"]) == ("approval.requested", "web", "UPDATE")
    assert sent["request_id"] in str(mail.get_payload())
    headers, body = hook.requests[0]
    assert headers["Stoker-Event"] == "approval.requested"
    time, digest = (part.partition("=")[2] for part in headers["Stoker-Signature"].split(","))
    assert digest == hmac.new(key.encode(), f"{time}.".encode() + body, hashlib.sha256).hexdigest()
    assert key != SECRET and SECRET not in str(sent)

    somebody = person(world, "bob")
    message = {"request_id": sent["request_id"], "comment": "not today"}
    await ask(world, somebody, "change_request_judge", verdict="REJECTED", **message)
    await until(lambda: len(hook.requests) == 2)
    await ask(world, somebody, "change_request_judge", verdict="APPROVED", **{**message, "comment": "now"})
    await until(lambda: len(hook.requests) == 3 and len(box.messages) == 3)
    assert [each["type"] for each in hook.sent()][1:] == ["approval.rejected", "approval.approved"]
    assert hook.sent()[1]["text"].endswith("rejected by bob: not today")
    assert (await world.update("web", value("2")))["status"] == "COMPLETE"


async def test_unanswered_approval_request_expires_with_notice(world: World, hook: Hook) -> None:
    await world.create("web", value("1"))
    await require(world, {**ONE_PERSON, "valid_hours": 1, "notify": [{"webhook": hook.url}]})
    for text in ("2", "3"):
        with pytest.raises(ApprovalRequired):
            await world.update("web", value(text))
        world.clock.advance(1)  # type: ignore[attr-defined]
    requests = [each["id"] for each in await world.call("change_request_list")]
    used, left = requests
    await ask(world, person(world, "bob"), "change_request_judge", verdict="APPROVED", request_id=used)
    assert (await world.update("web", value("3")))["status"] == "COMPLETE"
    world.clock.advance(3500)  # type: ignore[attr-defined]
    await world.turn()
    for _ in range(10):
        world.clock.advance(61)  # type: ignore[attr-defined]
        await world.turn()
        await asyncio.sleep(0.05)
    await until(lambda: any(each["type"] == "approval.expired" for each in hook.sent()))
    expired = [each["request_id"] for each in hook.sent() if each["type"] == "approval.expired"]
    assert expired == [left], "one that was used does not expire"


async def test_delayed_automatic_action_is_reported_once(world: World, hook: Hook) -> None:
    await world.create("web", GROUP)
    control = {"freezes": [freeze(world, 2)], "automatic": "wait", "notify": [{"webhook": hook.url}]}
    await require(world, control)
    for _ in range(2):
        with pytest.raises(ChangeWindowClosed):
            await world.call("resource_signal", ref=REF, name="up", details={"current": "alarm"})
    await until(lambda: hook.requests)
    await asyncio.sleep(0.1)
    [sent] = hook.sent()
    assert sent["type"] == "automatic.blocked" and "must not be changed now" in sent["text"]


async def test_failing_webhook_is_retried(world: World, hook: Hook) -> None:
    await world.create("web", value("1"))
    await require(world, {**ONE_PERSON, "notify": [{"webhook": hook.url}]})
    hook.status = 503
    with pytest.raises(ApprovalRequired):
        await world.update("web", value("2"))
    await until(lambda: hook.requests)
    await world.turn()
    hook.status = 200
    for _ in range(5):
        world.clock.advance(61)  # type: ignore[attr-defined]
        await world.turn()
        await asyncio.sleep(0.05)
    await until(lambda: len(hook.requests) >= 2)
    first, second, *_ = hook.sent()
    assert first["id"] == second["id"], "the receiver can tell a repeated notice"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"email": "nobody"}, r"notify\[0\].email must be an address"),
        ({"email": "a@b.c\nBcc: x@y.z"}, "must be an address"),
        ({"email": "a@b.c,d@e.f"}, "must be an address"),
        ({"webhook": "file:///etc/passwd"}, r"notify\[0\].webhook must be an http or https URL"),
        ({"webhook": "https://user:pass@example.com/"}, "without a user"),
        ({"webhook": "https://example.com/ x"}, "must be an http"),
        ({"pager": "1"}, "one of the keys email, webhook"),
        ({"email": "a@b.c", "webhook": "https://example.com"}, "one of the keys"),
    ],
)
async def test_wrong_receivers_are_refused(world: World, entry: dict[str, str], message: str) -> None:
    with pytest.raises(BadValue, match=message):
        await require(world, {"notify": [entry]}, None)


async def test_receivers_need_what_the_operator_configures(tmp_path: Path, served: ServedCloud) -> None:
    world = await World(tmp_path / "other.db", served).start()
    for entry, message in (
        ({"email": "a@b.c"}, r"\[smtp\] host"),
        ({"webhook": "https://e.org"}, r"\[webhooks\] secret"),
    ):
        with pytest.raises(BadValue, match=message):
            await require(world, {"notify": [entry]}, None)
    await world.stop()


# -- the senders themselves ----------------------------------------------------------------------------------------


async def call(settings: WebhookSettings, url: str) -> bytes:
    return await post(settings, url, "key", b"{}", "test", 1.0)


async def test_private_receiver_addresses_are_refused(hook: Hook) -> None:
    settings = WebhookSettings(SECRET, 5.0)
    local = hook.url.replace("127.0.0.1", "localhost")
    for url in (
        hook.url,
        local,
        hook.url.replace("http:", "https:"),
        "http://169.254.169.254/latest",
        "https://[::1]/",
    ):
        with pytest.raises(WebhookFailed, match=r"is not in \[webhooks\] networks") as failed:
            await call(settings, url)
        assert not failed.value.temporary
    assert hook.requests == []


async def test_plain_http_needs_a_listed_network(hook: Hook) -> None:
    assert await call(WebhookSettings(SECRET, 5.0, LOCAL), hook.url) == b"{}"
    with pytest.raises(WebhookFailed, match=r"is not in \[webhooks\] networks"):
        await call(WebhookSettings(SECRET, 5.0, LOCAL), "http://93.184.215.14/")


async def test_webhook_redirects_time_and_size_are_limited(hook: Hook) -> None:
    settings = WebhookSettings(SECRET, 0.3, LOCAL)
    hook.status = 307
    with pytest.raises(WebhookFailed, match="status 307"):
        await call(settings, hook.url)
    assert len(hook.requests) == 1
    hook.status, hook.answer = 200, b"x" * 70_000
    with pytest.raises(WebhookFailed, match="longer than 65536 bytes"):
        await call(settings, hook.url)
    hook.answer, hook.delay = b"{}", 2.0
    with pytest.raises(WebhookFailed, match=r"within 0.3 seconds") as failed:
        await call(settings, hook.url)
    assert failed.value.temporary


def test_a_signature_is_over_the_time_and_the_body() -> None:
    whole = {signature("k", 1, b"a"), signature("k", 2, b"a"), signature("k", 1, b"b"), signature("l", 1, b"a")}
    assert len(whole) == 4


async def test_mail_needs_the_right_password_and_certificate(mailbox: tuple[Mailbox, MailSettings]) -> None:
    box, settings = mailbox

    async def send(changed: MailSettings) -> None:
        await send_mail(changed, "id", "ops@example.com", "subject\r\nBcc: other@example.com", "text")

    await send(settings)
    assert box.logins == 1
    [(_, mail)] = box.messages
    assert mail["Subject"] == "subject Bcc: other@example.com" and mail["Bcc"] is None
    with pytest.raises(MailFailed, match="535") as wrong:
        await send(replace(settings, password="other"))
    assert not wrong.value.temporary and "other" not in str(wrong.value)
    with pytest.raises(MailFailed, match="SSLCertVerificationError"):
        await send(replace(settings, ca_file=None))
    box.refuses = "550 no such user"
    with pytest.raises(MailFailed, match="recipient was refused"):
        await send(settings)
    assert len(box.messages) == 1
