#!/usr/bin/env bash
# Both images without Docker, its hub or root: their base is a Debian made here, the builder is buildah. Needs Debian's packages
# buildah, mmdebstrap and uidmap, a user with ranges in /etc/subuid and /etc/subgid, and 15 GB of disk in the user's home folder.
#     include/build_images.sh [STAGE...]          airflow and executor, or one of them
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for command in buildah mmdebstrap newuidmap; do
    command -v "$command" >/dev/null || { echo "$command is missing: install buildah, mmdebstrap and uidmap." >&2; exit 1; }
done
[ $# -gt 0 ] || set -- airflow executor
umask 022
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=overlay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! buildah inspect --type image localhost/base >/dev/null 2>&1; then
    echo "making a base of Debian's packages ..."
    # The authorities that this machine trusts beside Debian's own (a proxy with a certificate of its own) are trusted in there.
    # shellcheck disable=SC2016  # mmdebstrap gives the hook its folder as $1
    mmdebstrap --quiet --variant=minbase --include=ca-certificates,python3,python3-venv \
        --customize-hook='copy-in /usr/local/share/ca-certificates /usr/local/share' \
        --customize-hook='chroot "$1" update-ca-certificates >/dev/null' bookworm "$work/base.tar"
    container=$(buildah from scratch)
    buildah add --quiet "$container" "$work/base.tar" / >/dev/null
    buildah config --env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt "$container"
    buildah commit --quiet --rm "$container" localhost/base >/dev/null
fi
for stage in "$@"; do
    name=client-telemetry
    [ "$stage" = airflow ] || name=client-telemetry-$stage
    # --uts host: a host name that resolves, which Spark asks for.
    buildah bud --format docker --layers --uts host --network host --from localhost/base --target "$stage" -t "$name" "$checkout"
done
