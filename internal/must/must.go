// Package must has what tests need to succeed before they can check anything.
package must

import (
	"os"
	"testing"
)

// NoError ends a test in which preparing or reading back something has failed.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ReadFile returns the bytes of a file.
func ReadFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	NoError(t, err)
	return data
}
