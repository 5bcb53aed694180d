//go:build !linux

package cli

import "testing"

// runOnTerminal is for Linux only.
func runOnTerminal(t *testing.T, _, _ string) { t.Skip("needs Linux") }
