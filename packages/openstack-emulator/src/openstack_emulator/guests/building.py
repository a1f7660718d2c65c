"""Builds images of guests from the packages of a distribution, with mmdebstrap."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import orjson

from openstack_emulator.core.guests.driver import GuestsUnavailable
from openstack_emulator.guests import agents
from openstack_emulator.guests.ids import IdMaps, id_maps
from openstack_emulator.guests.images import (
    DISK,
    DISK_IMAGE,
    HOST,
    INITRD,
    KERNEL,
    LOCK,
    MANIFEST,
    ROOT,
    ROOT_FILES,
    cache_directory,
    image_directory,
)
from openstack_emulator.guests.launching import find_program, task_command

BOOT = Path(__file__).with_name("boot.sh")
"""The first process of a virtual machine."""
MIRROR = "http://deb.debian.org/debian"
PACKAGES = (
    "ca-certificates", "cloud-init", "curl", "iproute2", "libnss-myhostname", "mount", "netbase", "openssh-server",
    "procps", "python3", "sudo", "usr-is-merged",
)  # fmt: skip
EPOCH = "1704067200"
"""The latest time of a file in an image: two builds from the same packages have the same content."""
LEFT_OUT = (
    "/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*", "/usr/share/i18n/*",
    "/usr/share/ieee-data/*", "/usr/share/python-babel-localedata/locale-data/[!er]*", "/usr/lib/locale/[a-z]*",
)  # fmt: skip
"""Files of packages that an image does not contain: documentation, and languages besides English."""
MERGING = (
    "libfile-find-rule-perl", "libnumber-compare-perl", "libperl5.36", "libtext-glob-perl", "perl", "perl-modules-5.36",
)  # fmt: skip
"""Packages of Debian 12 that only usrmerge needs, which usr-is-merged replaces in an image. Packages that need them
nevertheless keep them.
"""
NEEDED_ONLY = "-oAPT::AutoRemove::RecommendsImportant=false -oAPT::AutoRemove::SuggestsImportant=false"
CLOUD_INIT = """\
# Guests of Stoker's emulated cloud: see "Run guests in the emulated cloud" in the manual.
datasource_list: [ConfigDrive, OpenStack, None]
network: {config: disabled}
locale: C.UTF-8
ssh_genkeytypes: [ed25519, ecdsa]
no_ssh_fingerprints: true
ssh: {emit_keys_to_console: false}
"""
FORMATS: dict[str, tuple[str, ...]] = {
    ROOT_FILES: (),
    DISK_IMAGE: (
        "e2fsprogs", "initramfs-tools", "isc-dhcp-client", "kmod", "linux-image-cloud-amd64", "nftables", "udev",
    ),
}  # fmt: skip
"""The formats of images, with the packages that an image needs in each besides those of its recipe."""
BOOTED = ("vmlinuz", "initrd.img")
"""The links to the kernel and its initial file system, in the root directory of Debian."""
INITRAMFS = "MODULES=list\nCOMPRESS=gzip\nRESUME=none\n"
MODULES = ("ext4", "virtio_blk", "virtio_pci")
"""Modules of the kernel that mount the root file system; the others are on it."""
DISK_SIZE = "2G"
"""The least size of a guest's disk. The files of disk images are sparse."""
FILE_SYSTEM = "8c2a7c1e-52f5-4b40-9d4f-0a5f7a5b4d11"
"""The UUID of the root file system: two builds have the same."""
CHUNK = 1 << 20
Report = Callable[[str], None]


class BuildFailed(Exception):
    """An image could not be built or deleted; the message says why."""


@dataclass(frozen=True)
class Recipe:
    """What an image is made of: a release of Debian, and packages besides the essential ones."""

    suite: str
    packages: tuple[str, ...] = PACKAGES


RECIPES = {"debian": Recipe("bookworm")}
AGENTS = "agents"
FEATURES: dict[str, tuple[str, ...]] = {
    AGENTS: (
        "heat-cfntools", "python-is-python3", "python3-heatclient", "python3-os-apply-config",
        "python3-os-collect-config", "python3-os-refresh-config", "python3-zaqarclient",
    ),
    "ansible": ("ansible-core",),
    "puppet": ("puppet-agent",),
}  # fmt: skip
"""The packages of the features that an image may have; the agents also have files of their own."""


def build(
    name: str,
    mirror: str = MIRROR,
    more: Sequence[str] = (),
    report: Report = lambda line: None,
    features: Collection[str] = (AGENTS,),
    kind: str = ROOT_FILES,
) -> Path:
    """Build an image, in place of the one of this name and format, and return its directory.

    mirror: an archive of Debian. more: additional packages. report: is called with lines that show the progress.
    features: keys of `FEATURES`. kind: the format, a key of `FORMATS`.

    Raises: GuestsUnavailable if a tool is missing, BuildFailed if the build fails or the image is in use.
    """
    recipe, ids = RECIPES[name], id_maps()
    _require_tools(ids, kind)
    directory = image_directory(name, kind)
    directory.mkdir(parents=True, exist_ok=True)
    with _unused(directory.name), tempfile.TemporaryDirectory(prefix=".build-", dir=directory.parent) as place:
        added = [package for feature in features for package in FEATURES[feature]]
        archive, packages = Path(place, "root.tar"), sorted({*recipe.packages, *FORMATS[kind], *added, *more})
        unpacked = [_agents(Path(place), report)] if AGENTS in features else []
        _bootstrap(recipe.suite, packages, mirror, archive, ids, report, unpacked, kind)
        report("Unpacking the files.")
        manifest = {
            "suite": recipe.suite,
            "format": kind,
            "features": sorted(features),
            "packages": packages,
            "sha256": _digest(archive),
            "size": archive.stat().st_size,
        }
        directory.joinpath(MANIFEST).unlink(missing_ok=True)
        _delete_root(directory, ids)
        _unpack(archive, directory, ids)
        if kind == DISK_IMAGE:
            report("Writing the disk.")
            _extract_kernel(archive, directory)
            _write_disk(directory, ids)
            _delete_root(directory, ids)
        directory.joinpath(MANIFEST).write_bytes(orjson.dumps(manifest))
    return directory


def delete(name: str) -> None:
    """Delete an image that has been built. Raises: BuildFailed if there is none, or if it is in use."""
    directory = cache_directory() / name
    if "/" in name or not directory.is_dir():
        known = (
            "It is not built but part of this machine." if name == HOST else "`stoker guests list` shows the images."
        )
        raise BuildFailed(f"There is no guest image {name!r} to delete. {known}")
    with _unused(name):
        directory.joinpath(MANIFEST).unlink(missing_ok=True)
        _delete_root(directory, id_maps())
        shutil.rmtree(directory)


@contextmanager
def _unused(name: str) -> Iterator[None]:
    """Lock an image against clouds, which must not lose the files of their guests. Raises: BuildFailed."""
    with (cache_directory() / name / LOCK).open("a") as file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise BuildFailed(f"The guest image {name!r} is used by a cloud; stop it with `stoker down`.") from None
        yield


def _require_tools(ids: IdMaps, kind: str) -> None:
    """Raise GuestsUnavailable if a program or the IDs that a build needs are missing."""
    needed = {"mmdebstrap": "mmdebstrap"}
    if kind == DISK_IMAGE:
        needed |= {"qemu-img": "qemu-utils", "mkfs.ext4": "e2fsprogs"}
        if platform.machine() != "x86_64":
            raise GuestsUnavailable(
                f"Disk images are supported on x86_64 machines only, and this is a machine of type "
                f"{platform.machine()}. `stoker guests build` without --format builds an image for --guests namespace."
            )
    for program, package in needed.items():
        if find_program(program) is None:
            raise GuestsUnavailable(
                f"{program} is not installed; on Debian and Ubuntu, `apt-get install {package}` installs it."
            )
    if ids.only_root and os.getuid() != 0:
        raise GuestsUnavailable(
            "Building an image needs subordinate IDs for this user. An administrator assigns them with `usermod "
            "--add-subuids 100000-165535 --add-subgids 100000-165535 USER` and `apt-get install uidmap`."
        )


def _agents(directory: Path, report: Report) -> Path:
    """Return a tar file of the agents' files. Raises: BuildFailed."""
    report("Downloading heat-agents.")
    archive = directory / "agents.tar"
    try:
        agents.pack(archive, int(EPOCH))
    except agents.DownloadFailed as error:
        raise BuildFailed(f"{error} `--with none` builds an image without agents.") from error
    return archive


def _bootstrap(
    suite: str,
    packages: Sequence[str],
    mirror: str,
    archive: Path,
    ids: IdMaps,
    report: Report,
    unpacked: Sequence[Path],
    kind: str,
) -> None:
    """Run mmdebstrap. unpacked: tar files that are unpacked into the image. kind: the format of the image."""
    command = ["mmdebstrap", f"--mode={'unshare' if ids.helpers else 'root'}", "--variant=apt", "--format=tar"]
    command += [f"--include={','.join(packages)}", '--aptopt=APT::Install-Recommends "false"']
    command += [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
    settings = archive.with_name("90_stoker.cfg")
    settings.write_text(CLOUD_INIT)
    booting = _kernel_hooks(archive.with_name("initramfs.conf")) if kind == DISK_IMAGE else {}
    hooks = (
        *booting.get("customize", ()),
        f'chroot "$1" apt-mark auto {" ".join(MERGING)} >/dev/null',
        f'chroot "$1" apt-get --yes {NEEDED_ONLY} autoremove --purge usrmerge',
        f"copy-in {settings} /etc/cloud/cloud.cfg.d",
        *(f"tar-in {file} /" for file in unpacked),
        'rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/machine-id "$1"/etc/hostname',
        'rm -rf "$1"/var/cache/ldconfig/aux-cache "$1"/var/lib/cloud',
        'find "$1"/var/log -type f -delete',  # servers do not start without the directories of their logs
        'ln -sf C.utf8 "$1"/usr/lib/locale/en_US.utf8',  # os-collect-config takes C.UTF-8 for it and needs it
        'find "$1"/usr/lib/python3/dist-packages -type d -name tests -prune -exec rm -rf {} +',
    )
    command += [f"--essential-hook={hook}" for hook in booting.get("essential", ())]
    command += [f"--customize-hook={hook}" for hook in hooks]
    lines: list[str] = []
    with subprocess.Popen(  # noqa: S603  a tool of the distribution
        [*command, suite, str(archive), mirror],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "LC_ALL": "C.UTF-8"},
    ) as process:
        for line in process.stderr or ():
            lines.append(line.rstrip())
            if line.startswith("I: "):
                report(line[3:].strip().capitalize() + ".")
    if process.returncode != 0:
        raise BuildFailed("\n".join(["mmdebstrap failed. The end of its output:", *lines[-30:]]))


def _kernel_hooks(settings: Path) -> dict[str, tuple[str, ...]]:
    """Return the hooks, before and after the installation of packages, that make the kernel mount the disk."""
    settings.write_text(INITRAMFS)
    starter = settings.with_name("boot")
    starter.write_bytes(BOOT.read_bytes())
    starter.chmod(0o755)
    return {
        "essential": ('mkdir -p "$1"/etc/initramfs-tools/conf.d', f"copy-in {settings} /etc/initramfs-tools/conf.d"),
        "customize": (
            f'printf "%s\\n" {" ".join(MODULES)} >"$1"/etc/initramfs-tools/modules',
            'chroot "$1" update-initramfs -u -k all',
            'mkdir -p "$1"/usr/share/stoker',
            f"copy-in {starter} /usr/share/stoker",
        ),
    }


def _extract_kernel(archive: Path, directory: Path) -> None:
    """Copy the kernel and its initial file system out of an archive. Raises: BuildFailed if it has none."""
    with tarfile.open(archive) as files:
        entries = {entry.name.removeprefix("./"): entry for entry in files}
        for link, name in zip(BOOTED, (KERNEL, INITRD), strict=True):
            if link not in entries or (entry := entries.get(entries[link].linkname.lstrip("/"))) is None:
                raise BuildFailed(f"The packages of the image contain no kernel: /{link} is missing.")
            content = files.extractfile(entry)
            if content is not None:
                copy = directory / name
                copy.write_bytes(content.read())
                copy.chmod(0o644)  # QEMU opens it by its name as another user, whatever the umask of this one is


def _write_disk(directory: Path, ids: IdMaps) -> None:
    """Write the files of an image into an ext4 file system, and this to a disk in the format qcow2."""
    draft, disk = directory / "disk.raw", directory / DISK
    try:
        with draft.open("wb") as file:
            if os.getuid() != ids.base:
                os.fchown(file.fileno(), ids.base, ids.base)
        options = ["-q", "-F", "-L", "root", "-U", FILE_SYSTEM, "-E", f"hash_seed={FILE_SYSTEM},root_owner=0:0"]
        command = [str(find_program("mkfs.ext4")), *options, "-d", ROOT, draft.name, DISK_SIZE]
        _run(task_command("run", ids, directory, command=command))
        convert = ["qemu-img", "convert", "-c", "-f", "raw", "-O", "qcow2", "-o", "compression_type=zstd"]
        _run([*convert, str(draft), str(disk)])
    finally:
        draft.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpack(archive: Path, directory: Path, ids: IdMaps) -> None:
    root = directory / ROOT
    root.mkdir()
    root.chmod(0o755)
    if os.getuid() != ids.base:
        os.chown(root, ids.base, ids.base)
    with archive.open("rb") as file:
        _run(task_command("unpack", ids, directory), file.fileno())


def _delete_root(directory: Path, ids: IdMaps) -> None:
    """Delete the files of an image: what is in the directory by the IDs of guests, the directory by this user."""
    root = directory / ROOT
    if not root.exists():
        return
    _run(task_command("delete", ids, directory, names=[ROOT]))
    try:
        shutil.rmtree(root)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BuildFailed(f"The files of the image in {root} cannot be deleted: {error.strerror}.") from error


def _run(command: Sequence[str], stdin: int = subprocess.DEVNULL) -> None:
    done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)  # noqa: S603  Stoker's own
    if done.returncode != 0:
        raise BuildFailed(f"The files of the image cannot be changed: {done.stderr.strip()[-500:]}")
