"""Mail by the operator's SMTP server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum


class Security(StrEnum):
    """How the connection to the server is protected."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class MailSettings:
    """The operator's SMTP server. `sender` is the address that mail is from; `ca_file` has the certificates of
    authorities instead of the system's.
    """

    host: str
    port: int = 587
    security: Security = Security.STARTTLS
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    sender: str = "stoker@localhost"
    seconds: float = 20.0
    ca_file: str | None = None


class MailFailed(Exception):
    """The server has not accepted a message; `temporary` says that it may later."""

    def __init__(self, reason: str, *, temporary: bool) -> None:
        super().__init__(reason)
        self.temporary = temporary


async def send_mail(settings: MailSettings, identifier: str, to: str, subject: str, text: str) -> None:
    """Send a message, whose ID is the same each time it is tried. Raises MailFailed."""
    await asyncio.to_thread(_send, settings, identifier, to, subject, text)


def _send(settings: MailSettings, identifier: str, to: str, subject: str, text: str) -> None:
    import smtplib  # only with mail
    import ssl
    from email.message import EmailMessage
    from email.utils import formatdate

    message = EmailMessage()
    message["From"], message["To"] = settings.sender, to
    message["Subject"] = " ".join(subject.split())
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{identifier}@stoker>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    try:
        context = None if settings.security is Security.NONE else ssl.create_default_context(cafile=settings.ca_file)
        if settings.security is Security.TLS:
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                settings.host, settings.port, timeout=settings.seconds, context=context
            )
        else:
            server = smtplib.SMTP(settings.host, settings.port, timeout=settings.seconds)
        with server:
            if settings.security is Security.STARTTLS:
                server.starttls(context=context)
            if settings.user is not None:
                server.login(settings.user, settings.password or "")
            server.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        raise MailFailed(f"the recipient was refused ({codes[0]})", temporary=codes[0] < 500) from None
    except smtplib.SMTPResponseException as error:
        raise MailFailed(f"the server answered {error.smtp_code}", temporary=error.smtp_code < 500) from None
    except (smtplib.SMTPException, OSError) as error:
        raise MailFailed(f"the server cannot be used ({type(error).__name__})", temporary=True) from None
