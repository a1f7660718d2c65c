"""Who may do what: projects, lists of containers, signed URLs, signed forms."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from openstack_emulator.testing import Answer, ServedCloud

KEY = "secret-key"


class Store:
    """A container `c` with an object `o` in demo's account."""

    def __init__(self, served: ServedCloud) -> None:
        self.served = served
        token = served.token("demo", "demo")
        answer = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
        self.project = answer.json["token"]["project"]["id"]
        self.path = f"/v1/AUTH_{self.project}"
        self.owner("PUT", "/c")
        self.owner("PUT", "/c/o", b"data", {"X-Object-Meta-Inner": "1"})

    def owner(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        token = self.served.token("demo", "demo")
        return self.served.call(method, f"/object-store{self.path}{path}", body, token, headers)

    def stranger(self, method: str, path: str, body: bytes = b"", token: str | None = None) -> Answer:
        return self.served.call(method, f"/object-store{self.path}{path}", body, token)

    def signed(self, method: str, expires: int, digest: str = "sha256", path: str = "", key: str = KEY) -> str:
        text = f"{method}\n{expires}\n{path or self.path + '/c/o'}"
        signature = hmac.new(key.encode(), text.encode(), digest).hexdigest()
        return f"/c/o?temp_url_sig={signature}&temp_url_expires={expires}"

    @property
    def now(self) -> int:
        return int(self.served.cloud.clock.now())


@pytest.fixture
def store(served: ServedCloud) -> Store:
    return Store(served)


def test_unauthenticated_requests_are_refused(store: Store) -> None:
    for path in ("", "/c", "/c/o"):
        answer = store.stranger("GET", path)
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Swift realm=")
        assert b"<h1>Unauthorized</h1>" in answer.content
    assert store.stranger("PUT", "/c/p", b"x").status == 401
    heat = store.served.token("heat", "service")
    assert store.stranger("GET", "/c/o", token=heat).status == 200, "a cloud administrator may"


def test_public_containers(store: Store) -> None:
    store.owner("POST", "/c", b"", {"X-Container-Read": ".r:*"})
    assert store.stranger("GET", "/c/o").content == b"data"
    assert store.stranger("HEAD", "/c/o").status == 200
    assert store.stranger("GET", "/c").status == 401
    assert store.stranger("DELETE", "/c/o").status == 401
    store.owner("POST", "/c", b"", {"X-Container-Read": ".r:*,.rlistings", "X-Container-Meta-Temp-Url-Key": "k"})
    listing = store.stranger("GET", "/c")
    assert listing.content == b"o\n"
    assert not {"x-container-read", "x-container-meta-temp-url-key"} & set(listing.headers)


def test_lists_name_projects_and_users(store: Store) -> None:
    served = store.served
    other = served.token("demo", None)
    assert store.stranger("GET", "/c/o", token=other).status == 403
    info = served.call("GET", "/identity/v3/auth/tokens", token=other, headers={"X-Subject-Token": other}).json
    user = info["token"]["user"]["id"]
    store.owner("POST", "/c", b"", {"X-Container-Read": f"*:{user}", "X-Container-Write": "*:nobody"})
    assert store.stranger("GET", "/c/o", token=other).status == 200
    assert store.stranger("GET", "/c", token=other).status == 200
    assert store.stranger("PUT", "/c/p", b"x", token=other).status == 403
    store.owner("POST", "/c", b"", {"X-Container-Write": "*:demo"})
    assert store.stranger("PUT", "/c/p", b"x", token=other).status == 201
    assert store.stranger("DELETE", "/c", token=other).status == 403
    assert store.owner("POST", "/c", b"", {"X-Container-Write": ".r:*"}).status == 400


@pytest.mark.parametrize("digest", ["sha1", "sha256", "sha512"])
@pytest.mark.parametrize("kind", ["Account", "Container"])
@pytest.mark.parametrize("number", ["", "-2"])
def test_signed_urls(store: Store, digest: str, kind: str, number: str) -> None:
    place = "" if kind == "Account" else "/c"
    store.owner("POST", place, b"", {f"X-{kind}-Meta-Temp-Url-Key{number}": KEY})
    url = store.signed("GET", store.now + 60, digest)
    got = store.stranger("GET", url)
    assert (got.status, got.content) == (200, b"data")
    assert got.headers["content-disposition"].startswith('attachment; filename="o"')
    assert "x-object-meta-inner" not in got.headers
    assert store.stranger("HEAD", url).status == 200
    assert store.stranger("PUT", url, b"x").status == 401
    assert store.stranger("GET", url.replace("/c/o", "/c/other")).status == 401


def test_signed_uploads_and_their_errors(store: Store) -> None:
    store.owner("POST", "", b"", {"X-Account-Meta-Temp-Url-Key": KEY})
    url = store.signed("PUT", store.now + 60)
    assert store.stranger("PUT", url, b"signal").status == 201
    assert store.stranger("HEAD", url).status == 200
    assert store.stranger("GET", url).status == 401
    assert store.owner("GET", "/c/o").content == b"signal"
    mounted = store.signed("GET", store.now + 60, path=f"/object-store{store.path}/c/o")
    assert store.stranger("GET", mounted).status == 200
    assert store.stranger("GET", store.signed("GET", store.now + 60, key="wrong")).status == 401
    assert store.stranger("GET", store.signed("GET", store.now + 60, "md5")).status == 401
    assert store.stranger("GET", store.signed("GET", store.now - 1)).status == 401
    assert b"Temp URL invalid" in store.stranger("GET", url.replace("expires=", "expires=x")).content
    late = store.signed("GET", store.now + 60)
    store.served.advance(61)
    assert store.stranger("GET", late).status == 401


def test_a_prefix_can_be_signed(store: Store) -> None:
    store.owner("POST", "", b"", {"X-Account-Meta-Temp-Url-Key": KEY})
    store.owner("PUT", "/c/folder/x", b"in it")
    expires = store.now + 60
    text = f"GET\n{expires}\nprefix:{store.path}/c/folder/"
    signature = hmac.new(KEY.encode(), text.encode(), hashlib.sha256).hexdigest()
    query = f"?temp_url_sig={signature}&temp_url_expires={expires}&temp_url_prefix=folder/"
    assert store.stranger("GET", f"/c/folder/x{query}").content == b"in it"
    assert store.stranger("GET", f"/c/o{query}").status == 401


def form(store: Store, size: int = 100, key: str = KEY, redirect: str = "") -> Answer:
    expires, path = store.now + 60, f"{store.path}/c/up-"
    text = f"{path}\n{redirect}\n{size}\n2\n{expires}"
    fields = {
        "redirect": redirect,
        "max_file_size": str(size),
        "max_file_count": "2",
        "expires": str(expires),
        "signature": hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest(),
    }
    lines = [f'--XX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{v}\r\n' for name, v in fields.items()]
    head = '--XX\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n'
    body = "".join(lines).encode() + head.encode() + b"raw \x00\xff bytes\r\n--XX--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=XX"}
    return store.served.call("POST", f"/object-store{path}", body, None, headers)


def test_signed_forms(store: Store) -> None:
    assert form(store).status == 401
    store.owner("POST", "/c", b"", {"X-Container-Meta-Temp-Url-Key": KEY})
    assert form(store).status == 201
    got = store.owner("GET", "/c/up-a.txt")
    assert (got.content, got.headers["content-type"]) == (b"raw \x00\xff bytes", "text/plain")
    assert form(store, size=3).status == 413
    answer = form(store, redirect="http://example.com/done")
    assert (answer.status, answer.headers["location"]) == (303, "http://example.com/done?status=201&message=")
