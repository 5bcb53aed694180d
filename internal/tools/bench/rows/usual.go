//go:build !all

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "rows: build with -tags all")
	os.Exit(2)
}
