#!/usr/bin/env bash
# Build the image without a container daemon, on a base made of Debian's packages, and run its processes:
#     deploy/container/try-image.sh [DIRECTORY]
# Needs root (or user namespaces), buildah, mmdebstrap, and the archives of Debian and PyPI. DIRECTORY keeps the base.
set -euo pipefail
cd "$(dirname "$0")/../.."
place=${1:-$(mktemp -d)}
mkdir -p "$place"
for program in buildah mmdebstrap; do
    command -v "$program" > /dev/null || { echo "try-image: $program is not installed" >&2; exit 77; }
done
# A vfs storage needs no support of the kernel; chroot isolation needs no namespaces.
tool=(buildah --root "$place/storage" --runroot "$place/run" --storage-driver vfs)
certificates=(--volume /etc/ssl/certs:/etc/ssl/certs:ro)  # of the authorities that this machine trusts

if [ ! -e "$place/base.tar" ]; then
    mmdebstrap --variant=minbase --include=python3-venv,ca-certificates bookworm "$place/base.tar"
fi
if ! "${tool[@]}" images localhost/base > /dev/null 2>&1; then
    container=$("${tool[@]}" from scratch)
    "${tool[@]}" add "$container" "$place/base.tar" / > /dev/null
    "${tool[@]}" commit --quiet --rm "$container" localhost/base > /dev/null
fi
"${tool[@]}" build --isolation chroot --network host --format docker "${certificates[@]}" \
    --build-arg BASE=localhost/base --ignorefile deploy/container/Dockerfile.dockerignore \
    --file deploy/container/Dockerfile --tag stoker .

container=$("${tool[@]}" from stoker)
trap '"${tool[@]}" rm "$container" > /dev/null' EXIT
inside() { "${tool[@]}" run --isolation chroot --network host "$container" -- "$@"; }
[ "$(inside id -u)" = 42418 ] || { echo "try-image: the image runs as another user" >&2; exit 1; }
inside stoker --version
inside heat-manage --version
inside stoker demo
echo "try-image: the image works"
