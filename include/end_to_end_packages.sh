#!/usr/bin/env bash
# What the end-to-end tests need of the system, installed where that is allowed (Debian or Ubuntu, as root or with sudo
# that asks for no password); otherwise one line for each thing that is missing, and its tests are skipped.
set -euo pipefail

postgresql=(/usr/lib/postgresql/*/bin/initdb)
missing=()
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
[ -x "${postgresql[0]}" ] || missing+=(postgresql)
command -v promtool >/dev/null || missing+=(prometheus)
# The headers with which the package gssapi is compiled.
command -v krb5-config >/dev/null || missing+=(libkrb5-dev)
[ ${#missing[@]} -gt 0 ] || exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
    root=(sudo -n)
fi
if command -v apt-get >/dev/null && "${root[@]}" true 2>/dev/null; then
    echo "installing ${missing[*]} ..."
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    "${root[@]}" apt-get -o Acquire::Retries=3 update -q >"$log" 2>&1 || true
    for package in "${missing[@]}"; do
        "${root[@]}" apt-get -o Acquire::Retries=3 install -y -q --no-install-recommends "$package" >>"$log" 2>&1 ||
            { tail -n 3 "$log" >&2; echo "left out: the tests that need $package, which cannot be installed here"; }
    done
else
    for package in "${missing[@]}"; do
        echo "left out: the tests that need $package (on Debian: apt-get install $package)"
    done
fi
