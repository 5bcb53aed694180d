// Package must has what tests need to succeed before they can check anything.
package must

import (
	"os"
	"testing"

	"github.com/lshark/lshark/internal/assert"
)

// NoError ends a test in which preparing or reading back something has failed.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Value returns the first result of a call that must succeed: must.Value(os.Open(name))(t).
func Value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// That ends a test in which something does not hold.
func That(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Fatalf(format, args...)
	}
}

// Equal ends a test that has got another value than the one that is wanted; what names it.
func Equal[T comparable](t testing.TB, got, want T, what ...any) {
	t.Helper()
	if assert.Equal(t, got, want, what...); got != want {
		t.FailNow()
	}
}

// ReadFile returns the bytes of a file.
func ReadFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	NoError(t, err)
	return data
}
