package wiretest

import "os"

// Update reports whether tests write their golden files instead of comparing
// with them: UPDATE=1 go test ./...
func Update() bool { return os.Getenv("UPDATE") != "" }
