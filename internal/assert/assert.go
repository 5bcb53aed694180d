// Package assert compares what a test got with what it wants.
package assert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// That reports what does not hold.
func That(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// NoError reports an error.
func NoError(t testing.TB, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Errorf("%s%v", name(what), err)
	}
}

// Equal reports a value that is not the one that is wanted; what names it, as in fmt.Println.
func Equal[T comparable](t testing.TB, got, want T, what ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%s%s, want %s", name(what), text(got), text(want))
	}
}

// Slice is Equal for slices.
func Slice[S ~[]E, E comparable](t testing.TB, got, want S, what ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s%s, want %s", name(what), text(got), text(want))
	}
}

// Contains reports a text without a part that is wanted.
func Contains(t testing.TB, got, want string, what ...any) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s%q is not in\n%s", name(what), want, got)
	}
}

func name(what []any) string {
	if len(what) == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintln(what...), "\n") + ": "
}

func text(v any) string {
	switch v.(type) {
	case string, []string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprintf("%+v", v)
}
