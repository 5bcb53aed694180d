// Command walk reads a pcapng file and steps over its blocks, looking at nothing
// but their headers: the floor that reading a capture is measured
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
	blocks, err := walk(f)
	if err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
	fmt.Println(blocks, "blocks")
}

func walk(r io.Reader) (blocks int, err error) {
	buf := make([]byte, 1<<20)
	have, at := 0, 0
	for {
		const header = 8 // type and length
		for at+header <= have {
			at += int(binary.LittleEndian.Uint32(buf[at+4:]))
			blocks++
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
			return blocks, nil
		}
		if err != nil {
			return blocks, err
		}
	}
}
