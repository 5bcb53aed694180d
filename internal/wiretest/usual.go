//go:build !all

package wiretest

// All is set by the tag all. Without it a test that says the same of every sample may
// take some of them, so that go test ./... stays quick. .ci/run sets it.
const All = false
