// Command walk reads a pcap file and steps over its frames, looking at nothing
// but their record headers: the floor that reading a capture is measured
// against.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

func main() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
	frames, err := walk(f)
	if err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
	fmt.Println(frames, "frames")
}

func walk(r io.Reader) (frames int, err error) {
	buf := make([]byte, 1<<20)
	have, at := 0, 24 // the file header
	for {
		for at+16 <= have {
			at += 16 + int(binary.LittleEndian.Uint32(buf[at+8:]))
			frames++
		}
		rest := 0
		if at < have {
			rest = copy(buf, buf[at:have])
			at = 0
		} else {
			at -= have
		}
		n, err := r.Read(buf[rest:])
		have = rest + n
		if err == io.EOF {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
	}
}
