package main

import (
	"fmt"
	"strings"
)

// cpio returns files as a cpio archive of the "newc" form, under ./ as rpm
// expects them.
func cpio(files []packedFile, seconds int64) []byte {
	var b []byte
	add := func(inode int, mode, links, seconds int64, name string, data []byte) {
		b = fmt.Appendf(b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
			inode, mode, 0, 0, links, seconds, len(data), 0, 0, 0, 0, len(name)+1, 0, name)
		b = pad(b, 4)
		b = pad(append(b, data...), 4)
	}
	for i, f := range files {
		links := int64(1)
		if f.isDir() {
			links = 2
		}
		add(i+1, unixMode(&f), links, seconds, "./"+strings.TrimSuffix(f.name, "/"), f.data)
	}
	add(0, 0, 1, 0, "TRAILER!!!", nil)
	return b
}

// pad appends zeros up to a multiple of n bytes.
func pad(b []byte, n int) []byte {
	for len(b)%n != 0 {
		b = append(b, 0)
	}
	return b
}
