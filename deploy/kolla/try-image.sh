#!/usr/bin/env bash
# Run the steps of Kolla's image on a stand-in for Kolla's base image, without a container daemon:
#     deploy/kolla/try-image.sh DIRECTORY
# DIRECTORY is that of deploy/container/try-image.sh, which has run before. PYTHON is a Python with Jinja2.
set -euo pipefail
cd "$(dirname "$0")/../.."
place=$1
tool=(buildah --root "$place/storage" --runroot "$place/run" --storage-driver vfs)
build=("${tool[@]}" build --isolation chroot --network host --format docker --volume /etc/ssl/certs:/etc/ssl/certs:ro)
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

# What Kolla's base has of what the image uses: the user heat with the group kolla, and the directories.
cat > "$context/base" << 'EOF'
FROM localhost/base
RUN groupadd kolla && useradd --create-home --home-dir /var/lib/heat heat && mkdir -p /var/log/kolla /var/lib/kolla \
    && chgrp kolla /var/log/kolla && chmod 2775 /var/log/kolla
EOF
"${build[@]}" --file "$context/base" --tag localhost/openstack-base:try "$context"

cp deploy/kolla/docker/stoker/extend_start.sh "$context"
mkdir "$context/sources"
git ls-files -z LICENSE packages \
    | xargs -0 cp --parents --target-directory "$context/sources"
# Kolla adds an archive, which contains one directory.
mkdir "$context/stoker-archive" && mv "$context/sources" "$context/stoker-archive/stoker-0"
"${PYTHON:-python3}" -I - "$context" << 'EOF'
import pathlib, sys, jinja2
folder = pathlib.Path("deploy/kolla/docker/stoker")
macros = """{%- macro configure_user(name, homedir='', shell='') -%}
RUN usermod --append --groups kolla {{ name }}
{%- endmacro -%}"""
loader = jinja2.ChoiceLoader([jinja2.FileSystemLoader(folder), jinja2.DictLoader({"macros.j2": macros})])
template = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined).get_template("Dockerfile.j2")
names = {"namespace": "localhost", "image_prefix": "", "tag": "try", "maintainer": "try", "image_name": "stoker"}
pathlib.Path(sys.argv[1], "Dockerfile").write_text(template.render(**names, build_date="0"))
EOF
"${build[@]}" --tag localhost/kolla-stoker "$context"

container=$("${tool[@]}" from localhost/kolla-stoker)
inside() { "${tool[@]}" run --isolation chroot --network host "$container" -- "$@"; }
trap 'rm -rf "$context"; "${tool[@]}" rm "$container" > /dev/null' EXIT
[ "$(inside id -un)" = heat ] || { echo "try-image: the image runs as another user" >&2; exit 1; }
# What kolla_start does: the start script of the image, then the command of config.json.
inside bash -ec 'printf "[database]\nconnection = sqlite:////tmp/stoker.db\n" > /etc/heat/heat.conf
    (KOLLA_BOOTSTRAP= && export KOLLA_BOOTSTRAP && source /usr/local/bin/kolla_extend_start)
    source /usr/local/bin/kolla_extend_start
    stoker db version --config-file /etc/heat/heat.conf'
echo "try-image: Kolla's image works"
