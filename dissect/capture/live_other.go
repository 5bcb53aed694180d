//go:build !linux

package capture

import (
	"errors"
	"runtime"
)

var errNoLive = errors.New("live capture needs Linux; this is " + runtime.GOOS)

// Live is a capture of an interface; it works on Linux only.
type Live struct{}

// OpenLive fails on this system.
func OpenLive([]string, LiveOptions) (*Live, error) { return nil, errNoLive }

// Next fails on this system.
func (*Live) Next(*Frame) error { return errNoLive }

// Rebind fails on this system.
func (*Live) Rebind() error { return errNoLive }

// Up is false on this system.
func (*Live) Up() bool { return false }

// Notes returns nothing on this system.
func (*Live) Notes() []string { return nil }

// LinkType is 0 on this system.
func (*Live) LinkType() LinkType { return 0 }

// Stop does nothing on this system.
func (*Live) Stop() {}

// Dropped is 0 on this system.
func (*Live) Dropped() (uint64, error) { return 0, nil }

// DroppedByInterfaces is 0 on this system.
func (*Live) DroppedByInterfaces() (uint64, error) { return 0, nil }

// Timestamps is empty on this system.
func (*Live) Timestamps() string { return "" }

// Close does nothing on this system.
func (*Live) Close() error { return nil }

// DropPrivileges does nothing on this system, where no privilege was needed.
func DropPrivileges(keepFiles bool) error { return nil }

// ConfineFiles does nothing on this system.
func ConfineFiles(read, write, run []string) error { return errors.ErrUnsupported }
