// Command walk reads a pcapng file and steps over its blocks, looking at nothing
// but their headers: the floor that reading a capture is measured
// against.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

func main() {
	f, err := os.Open(os.Args[1])
	blocks := 0
	for r := bufio.NewReaderSize(f, 1<<20); err == nil; {
		var header []byte // type and length
		header, err = r.Peek(8)
		if err != nil {
			break
		}
		_, err = r.Discard(int(binary.LittleEndian.Uint32(header[4:])))
		blocks++
	}
	if err != io.EOF {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
	fmt.Println(blocks, "blocks")
}
