#!/usr/bin/env bash
# Runs a bundle that `cargo xtask bundle` made, on a machine with an NVIDIA driver and no Rust.
#
#   ./run.sh [--filter TEXT] [--record FILE | --ahead FILE] [STAGE..]      stages run in the order given; default: tests bench
#
#   tests      every test executable
#   examples   the facade's examples
#   bench      the device benchmark
#   peers      the scripts and programs that time other libraries (scripts want python3 with their packages)
#   sanitizer  compute-sanitizer's memcheck, racecheck and initcheck over the GPU's test executables
#   ncu        Nsight Compute over the device benchmark
#
# --filter TEXT  tests and sanitizer run only the tests whose name contains TEXT
# --record FILE  what programs need on the GPU is appended to this manifest, for `cargo xtask build-ptx --manifest FILE --kind cubin`
# --ahead FILE   all kernels come from this bundle of kernels, and the caches are empty; a program that looks for NVRTC fails, and what it compiled
#                stays in $OUT/compiled
#                Both leave out tests and cases whose subject is the compiler, and the driver's, whose kernels are texts of their own
# OUT            where logs and results go (default: ./out); the programs get it as TILEWRIGHT_OUT
# LIMIT_S        the most seconds for one program (default: 900)
# BENCH_ARGS     arguments for the device benchmark
# NCU_ARGS       arguments for Nsight Compute (default: --set full --launch-count 40)
set -u

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${OUT:=$PWD/out}"
OUT=$(cd "$OUT" && pwd)
export OUT TILEWRIGHT_OUT=$OUT TILEWRIGHT_SKIPS=$OUT/skips RUST_BACKTRACE=1
TILEWRIGHT_COMMIT=$(cat "$here/COMMIT")
export TILEWRIGHT_COMMIT
[ -d "$here/nvrtc" ] && export TILEWRIGHT_CUDA=$here/nvrtc
PATH=$PATH:/usr/local/cuda/bin
: >"$TILEWRIGHT_SKIPS"
: >"$OUT/table"

filter=()
stages=()
while [ $# -gt 0 ]; do
    case $1 in
        --filter) filter=("${2:?--filter wants a text}"); shift ;;
        --record) TILEWRIGHT_RECORD=$(realpath "${2:?--record wants a file}"); export TILEWRIGHT_RECORD; shift ;;
        --ahead) ahead=$(realpath "${2:?--ahead wants a bundle of kernels}"); shift ;;
        tests | examples | bench | peers | sanitizer | ncu) stages+=("$1") ;;
        *) echo "unknown stage: $1; one of: tests examples bench peers sanitizer ncu" >&2; exit 2 ;;
    esac
    shift
done
[ ${#stages[@]} -gt 0 ] || stages=(tests bench)

spared=()
if [ -n "${ahead:-}${TILEWRIGHT_RECORD:-}" ]; then
    # The refined choice of a convolution compiles those that it times.
    for name in compile nvrtc toolkit stubbed recorded refined no_operation_is_one_of_f64 mistakes_of_a_text; do
        spared+=(--skip "$name")
    done
fi
if [ -n "${ahead:-}" ]; then
    [ -f "$ahead" ] || { echo "no bundle of kernels: $ahead" >&2; exit 2; }
    TILEWRIGHT_CACHE=$OUT/compiled
    rm -rf "$TILEWRIGHT_CACHE"
    export TILEWRIGHT_CACHE TILEWRIGHT_BUNDLES=$ahead CUDA_CACHE_DISABLE=1
    unset TILEWRIGHT_CUDA
    # Where the system's loader tells what was asked of it, in files of their own for each process.
    mkdir -p "$OUT/loader"
fi

failed=0
row() { printf '%-10s %-44s %-8s %s\n' "$1" "$2" "$3" "$4" >>"$OUT/table"; }

# step STAGE NAME COMMAND..: runs a program, keeps its log and its exit code.
step() {
    local stage=$1 name=$2 begin=$SECONDS code
    shift 2
    echo "== $stage $name"
    (
        cd "$OUT" || exit 1
        # Peers compile what they like.
        [ -n "${ahead:-}" ] && [ "$stage" != peers ] && export LD_DEBUG=files LD_DEBUG_OUTPUT=$OUT/loader/$stage-$name
        exec timeout --kill-after=10 "${LIMIT_S:-900}" "$@"
    ) >"$OUT/$stage-$name.log" 2>&1 </dev/null
    code=$?
    if grep -hsE 'file=.*libnvrtc.*dynamically loaded' "$OUT/loader/$stage-$name".* >>"$OUT/$stage-$name.log"; then
        row "$stage" "$name" "NVRTC" "it was looked for"
        failed=$((failed + 1))
    fi
    rm -rf "$OUT/loader/$stage-$name".*
    row "$stage" "$name" "exit $code" "$((SECONDS - begin)) s"
    [ $code -eq 0 ] && return
    failed=$((failed + 1))
    tail -n 40 "$OUT/$stage-$name.log"
}

# lacks STAGE NAME REASON: a step that cannot run here.
lacks() {
    row "$1" "$2" lacking "$3"
    failed=$((failed + 1))
}

run_tests() {
    local file name
    for file in "$here"/tests/*; do
        name=$(basename "$file")
        # What these test needs a compiler.
        case "${spared:+$name}" in *-build-ptx-* | *-driver-* | *-tests-* | *-benches-*) continue ;; esac
        [ -f "$file" ] && step tests "$name" "$file" ${spared[@]+"${spared[@]}"} ${filter[@]+"${filter[@]}"}
    done
}

run_examples() {
    local file
    for file in "$here"/examples/*; do
        [ -f "$file" ] && step examples "$(basename "$file")" "$file"
    done
}

run_bench() {
    [ -f "$here/bin/device-bench" ] || { lacks bench device-bench "not in this bundle"; return; }
    # shellcheck disable=SC2086  # several arguments in one variable
    step bench device-bench "$here/bin/device-bench" ${BENCH_ARGS:-}
}

run_peers() {
    local file name
    for file in "$here"/peers/*.py; do
        [ -f "$file" ] && step peers "$(basename "$file" .py)" python3 "$file"
    done
    # A program that `cargo xtask peers` built where the bundle was made.
    if [ -f "$here/peers/fkl" ]; then
        step peers fkl "$here/peers/fkl"
    else
        echo "SKIP peers::fkl: not in this bundle" >>"$TILEWRIGHT_SKIPS"
    fi
    [ -f "$here/peers/npp.cu" ] && run_npp
}

# NPP's libraries are larger than a bundle may be: its program is built against those of this machine's toolkit.
run_npp() {
    local program
    program=$(mktemp -d)/npp
    if ! echo '#include <npp.h>' | nvcc -x cu -E - >/dev/null 2>&1; then
        echo "SKIP peers::npp: no nvcc with NPP on this machine" >>"$TILEWRIGHT_SKIPS"
        return
    fi
    step peers npp-build nvcc -std=c++17 -O3 -o "$program" "$here/peers/npp.cu" -lnppig -lnppidei -lnppial -lnppc
    [ -f "$program" ] && step peers npp "$program"
}

run_sanitizer() {
    local file tool lost
    command -v compute-sanitizer >/dev/null || { lacks sanitizer compute-sanitizer "not on this machine"; return; }
    for tool in memcheck racecheck initcheck; do
        # racecheck of CUDA 13.0 loses track of launches from several threads (an internal error of its own), and does not see three ways
        # of ordering: a lane that arrives at an mbarrier behind __syncwarp() for its warp, a fence with an atomic, and __syncthreads()
        # behind a named barrier at which a warp arrived and did not wait.
        lost=()
        [ "$tool" = racecheck ] && for name in many_threads a_lane_speaks_for_its_warp a_fence_and_an_atomic by_warps_one_behind_the_other; do
            lost+=(--skip "$name")
        done
        for file in "$here"/tests/*; do
            [ -f "$file" ] && step sanitizer "$tool-$(basename "$file")" compute-sanitizer --tool "$tool" \
                --report-api-errors no --error-exitcode 86 "$file" --test-threads=1 \
                ${lost[@]+"${lost[@]}"} ${filter[@]+"${filter[@]}"}
        done
    done
}

run_ncu() {
    command -v ncu >/dev/null || { lacks ncu ncu "not on this machine"; return; }
    # shellcheck disable=SC2086  # several arguments in one variable
    step ncu device-bench ncu ${NCU_ARGS:---set full --launch-count 40} --export "$OUT/ncu" --force-overwrite \
        "$here/bin/device-bench" ${BENCH_ARGS:-}
}

if [ -f "$here/programs.tar.xz" ]; then
    tar -C "$here" -xf "$here/programs.tar.xz" || { echo "programs.tar.xz cannot be unpacked in $here: it needs tar with xz" >&2; exit 1; }
    rm -f "$here/programs.tar.xz"
fi
chmod +x "$here"/tests/* "$here"/bin/* "$here"/examples/* "$here"/peers/* 2>/dev/null
for stage in "${stages[@]}"; do
    "run_$stage"
done

echo
echo "commit $TILEWRIGHT_COMMIT"
cat "$OUT/table"
sort -u "$TILEWRIGHT_SKIPS" | sed -n 's/^SKIP \([^ ]*\): \(.*\)$/\2\t\1/p' | sort | awk -F '\t' '
    { count[$1]++; names[$1] = names[$1] (names[$1] == "" ? "" : ", ") $2 }
    END { for (reason in count) print "skipped " count[reason] ": " reason ": " names[reason] }'
[ $failed -eq 0 ] || { echo "failed: $failed"; exit 1; }
echo "all passed"
