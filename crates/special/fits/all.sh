#!/bin/sh
# Prints all coefficients anew: `sh fits/all.sh [python]`, in the folder of the crate.
python=${1:-python3}
set -e
print() {
    file=$1
    shift
    "$python" "fits/$1.py" $2 > "$file.new"
    mv "$file.new" "$file"
    rustfmt --edition 2024 --config-path ../../rustfmt.toml "$file"
}
print src/circle/fits.rs circle
print src/gamma_family/fits.rs gamma
print src/gamma_family/psi_fits.rs digamma
print src/error/fits.rs error
print src/modified/fits.rs modified
print src/bessel/first_fits.rs bessel first
print src/bessel/second_fits.rs bessel second
print src/bessel/hankel_fits.rs bessel hankel
print src/airy/fits.rs airy
print src/zeta_family/fits.rs zeta
print src/power/fits.rs power
