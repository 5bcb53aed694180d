//go:build all

package wiretest

// All is set for the tests that the tag all adds.
const All = true
