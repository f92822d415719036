#!/bin/sh
# Runs the compiler that cargo names, with a hash of the crate that does not depend on where the crate lies.
for argument do
    shift
    case $argument in metadata=*) argument="metadata=$CARGO_PKG_NAME-$CARGO_PKG_VERSION" ;; esac
    set -- "$@" "$argument"
done
exec "$@"
