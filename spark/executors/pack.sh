#!/usr/bin/env bash
# Packs all that an executor needs into a folder: the package and what it depends on (Spark itself too), machine code for
# any processor, the jars of the table format, and the programs beside this one. Needs `make install`. What the package depends
# on is installed once, and again where it changed. Compiled too: workers often may not write there.
#     spark/executors/pack.sh FOLDER
# Copy the folder to every worker, to the same path on each, or build the image `executor` of the Dockerfile, which does.
set -euo pipefail

folder=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(cd "$here/../.." && pwd)
python=$checkout/.venv/bin/python
new=$folder.new
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT

rm -rf "$new"
mkdir -p "$new"
dependencies=$(cat "$checkout/pyproject.toml" "$checkout/requirements.txt" "$checkout/.venv/pyvenv.cfg" | cksum)
cp -r "$checkout/spark" "$checkout/pyproject.toml" "$checkout/README.md" "$checkout/LICENSE" "$wheels/"
"$python" -m build --wheel --no-isolation --outdir "$wheels/dist" "$wheels" >"$wheels/log" 2>&1 || { tail -n 20 "$wheels/log" >&2; exit 1; }
wheel=$(echo "$wheels"/dist/*.whl)
install=("$checkout/include/download.sh" "a package of the executors" "$folder.log" "$checkout/var/uv/bin/uv" pip install --quiet --compile-bytecode --python "$python" --target "$new/packages")
if [ "$(cat "$folder/dependencies" 2>/dev/null)" = "$dependencies" ]; then
    cp -al "$folder/packages" "$new/packages"
    rm -rf "$new"/packages/client_telemetry "$new"/packages/client_telemetry-*.dist-info
    "${install[@]}" --no-deps "$wheel"
else
    "${install[@]}" --constraints "$checkout/requirements.txt" "client-telemetry[spark] @ file://$wheel"
fi
echo "$dependencies" >"$new/dependencies"
base=$("$python" -c 'import sys; print(sys._base_executable)')
(cd / && NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR='' PYTHONPATH=$new/packages "$base" -m client_telemetry.formats.raw.machine_code)
cp -r "$checkout/var/jars" "$new/jars"
cp "$here/spark.sh" "$new/spark.sh"
# The packages are for this minor version of Python.
"$python" -c 'import sys; print("#!/bin/sh\nexec python%d.%d \"$@\"" % sys.version_info[:2])' >"$new/python"
chmod +x "$new/python"
rm -rf "$folder"
mv "$new" "$folder"
echo "packed: $folder, $(du -sh "$folder" | cut -f1)"
