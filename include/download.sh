#!/usr/bin/env bash
# Runs a command that downloads, up to four times. What has arrived is kept by the command's own cache (uv, Ivy, Maven, Go), so
# each attempt goes on with what is missing. The output goes into LOG; a failure is one line.
#     include/download.sh WHAT LOG COMMAND [ARGUMENT...]
# DOWNLOAD_PAUSES: seconds before the second attempt and each further one ("2 5 15").
set -uo pipefail

what=$1 log=$2
shift 2
read -ra pauses <<<"${DOWNLOAD_PAUSES:-2 5 15}"
# Lines that name a reason, of pip, uv, Ivy, Maven, Go; the last one is the cause of those before it.
reasons='error|cause:|certificate|refused|timed? ?out|reset|mismatch|not found|unresolved|unreachable|no space|denied|not resolve'
# Trying again does not help.
final='hash(es)? (mismatch|do not match)|do not match the hashes|no solution found|no space left|permission denied|no matching distribution'

mkdir -p "$(dirname "$log")"
trap 'exit 130' INT
for pause in "${pauses[@]}" ""; do
    "$@" >"$log" 2>&1 </dev/null && exit 0
    if [ -z "$pause" ] || grep -qiE "$final" "$log"; then
        break
    fi
    sleep "$pause"
done
reason=$(grep -iE "$final" "$log" | tail -n 1)
reason=${reason:-$(grep -iE "$reasons" "$log" | tail -n 1)}
reason=${reason:-$(grep -v '^[[:space:]]*$' "$log" | tail -n 1)}
reason=$(sed -E 's/\x1b\[[0-9;]*m//g; s/^[^[:alnum:]]+//' <<<"$reason" | cut -c 1-300)
echo "$what could not be downloaded: $reason (all of it: $log)" >&2
exit 1
