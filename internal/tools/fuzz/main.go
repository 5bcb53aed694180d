// Command fuzz prints the dictionary of contrib/oss-fuzz. The script run beside it runs all fuzz targets.
package main

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/lshark/lshark/opcodes"
)

func main() { os.Stdout.Write(dictionary()) }

// dictionary returns what libFuzzer puts into inputs: the opcodes, and the numbers by which
// messages and structs are recognized.
func dictionary() []byte {
	text := []byte("# Made from the tables in opcodes by go run ./internal/tools/fuzz.\n")
	add := func(name string, v uint64, size int) {
		text = fmt.Appendf(text, "%s=\"", name)
		for _, b := range binary.LittleEndian.AppendUint64(nil, v)[:size] {
			text = fmt.Appendf(text, "\\x%02x", b)
		}
		text = append(text, "\"\n"...)
	}
	for _, r := range opcodes.Protocol.RPCs() {
		add(r.Name, uint64(r.Opcode), 4)
	}
	seen := make(map[uint64]bool)
	for _, group := range opcodes.Protocol.Groups() {
		for _, v := range group.Values {
			const least = 1 << 16 // smaller numbers are found without help
			if v.Value < least || v.Value&(v.Value-1) == 0 || seen[v.Value] {
				continue
			}
			seen[v.Value] = true
			add(v.Name, v.Value, 4+4*int(min(v.Value>>32, 1)))
		}
	}
	return text
}
