#!/bin/bash -eu
# Builds all fuzz targets of lshark, each with the dictionary.
module=$(awk '$1 == "module" { print $2 }' go.mod)
grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9]+' . | while IFS=: read -r file func; do
	dir=$(dirname "${file#./}") target=${func#func }
	name=${dir//\//_}_$target
	compile_native_go_fuzzer_v2 "$module/$dir" "$target" "$name"
	cp contrib/oss-fuzz/lshark.dict "$OUT/$name.dict"
done
