package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

const operationsHead = `# Operations

The operations of ptlrpc that lshark decodes, by opcode. This page is made from the tables in ` + "`opcodes/`" + ` by
` + "`go test . -update`" + `. ` + "`lshark explain NAME`" + ` shows the buffers of an operation, and the structs in them field by field.

| opcode | operation | meaning | variants |
|---|---|---|---|
`

// TestOperationsPage compares docs/operations.md with the tables.
func TestOperationsPage(t *testing.T) {
	const page = "docs/operations.md"
	want := []byte(operationsHead)
	for _, r := range opcodes.Protocol.RPCs {
		want = fmt.Appendf(want, "| %d | `%s` | %s | %s |\n", r.Opcode, r.Name, operationMeaning(r), operationVariants(r))
	}
	if *update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs from the tables in opcodes, %v: go test . -run OperationsPage -update writes it", page, err)
	}
}

func operationMeaning(r *schema.RPC) string {
	text := strings.ToUpper(r.Doc[:1]) + strings.TrimSuffix(r.Doc[1:], ".") + "."
	if r.OneWay {
		text += " Has no reply."
	}
	if r.Retired && !strings.Contains(strings.ToLower(text), "no release") {
		text += " No release since 2.12 sends it."
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

func operationVariants(r *schema.RPC) string {
	var names []string
	for _, v := range r.Variants {
		if v.Name != "" {
			names = append(names, strings.ReplaceAll(v.Name, "|", `\|`))
		}
	}
	return strings.Join(names, ", ")
}
