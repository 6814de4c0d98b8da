#!/usr/bin/env bash
# Runs the GPU's tests a second time, on a poorer device: SwiftShader has no f16, no i64 and no atomics of floats, and its
# subgroups are of 4. What needs such things must be refused there with the name of what is missing, never go wrong.
#
#   bash kernels-gpu/tests/swiftshader.sh [arguments of cargo test]
#
# SwiftShader is in Debian's chromium-common; if that is not installed, its library is unpacked into a cache, and nothing
# else of it. SWIFTSHADER names a library elsewhere.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache="${XDG_CACHE_HOME:-$HOME/.cache}/kernlink"
mkdir -p "$cache"
library=""
for candidate in "${SWIFTSHADER:-}" /usr/lib/chromium/libvk_swiftshader.so "$cache/libvk_swiftshader.so"; do
    [ -n "$candidate" ] && [ -e "$candidate" ] && { library="$(realpath "$candidate")"; break; }
done
if [ -z "$library" ]; then
    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && apt-get download -qq chromium-common && dpkg-deb --extract chromium-common_*.deb .) || {
        echo "swiftshader.sh: no SwiftShader: set SWIFTSHADER to a libvk_swiftshader.so" >&2
        exit 1
    }
    library="$cache/libvk_swiftshader.so"
    mv "$work/usr/lib/chromium/libvk_swiftshader.so" "$library"
fi
manifest="$cache/swiftshader.json"
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.1.0"}}\n' "$library" >"$manifest"
# The older and the newer name of the variable by which Vulkan's loader takes this driver and no other.
export VK_ICD_FILENAMES="$manifest" VK_DRIVER_FILES="$manifest" KERNLINK_GPU=swiftshader
cargo test -p kernlink-kernels-gpu "$@"
