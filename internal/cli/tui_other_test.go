//go:build !linux

package cli

import "testing"

func runOnTerminal(t *testing.T, _, _ string) { t.Skip("needs Linux") }
