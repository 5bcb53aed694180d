//go:build !linux

package trouble

func newBytes(size int) []byte { return make([]byte, 0, size) }
