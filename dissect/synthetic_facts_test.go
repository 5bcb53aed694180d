package dissect

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// The facts about the wire, as the tables of ../opcodes/testdata state them.
// Synthetic messages are built from them alone, so that a mistake in our own
// declarations cannot hide itself.

// factField is a member of a struct.
type factField struct {
	name      string
	off, size int
	kind      string // its C type
	count     int    // elements of an array; 0: none, -1: as many as there are
}

// factStruct is a struct or union of the wire.
type factStruct struct {
	name   string
	size   int
	order  string // little, big, or empty: the sender's
	fields []factField
}

// factBuffer is a buffer of a message.
type factBuffer struct {
	index      int
	name, kind string
	size       string
}

// factForm is a variant of an operation.
type factForm struct {
	name           string // OST_READ
	opcode         uint32
	variant        string // as in messages.tsv
	request, reply []factBuffer
}

type facts struct {
	structs map[string]*factStruct
	numbers map[string]uint64
	forms   []*factForm
}

func readFactTable(t testing.TB, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile("../opcodes/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n")[1:] {
		row := strings.Split(line, "\t")
		for len(row) < 10 {
			row = append(row, "")
		}
		rows = append(rows, row)
	}
	return rows
}

func readFacts(t testing.TB) *facts {
	f := &facts{structs: make(map[string]*factStruct), numbers: make(map[string]uint64)}
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, row := range readFactTable(t, "structs.tsv") {
		if row[1] == "*" {
			f.structs[row[0]] = &factStruct{name: row[0], size: number(row[3]), order: orderOf(row[7])}
			continue
		}
		m := factField{name: row[1], off: number(row[2]), size: number(row[3]), kind: row[4]}
		if row[5] != "" {
			if n, err := strconv.Atoi(row[5]); err == nil {
				m.count = n
			} else {
				m.count = -1
			}
		}
		f.structs[row[0]].fields = append(f.structs[row[0]].fields, m)
	}
	for _, row := range readFactTable(t, "constants.tsv") {
		v, err := strconv.ParseUint(row[2], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		f.numbers[row[1]] = v
	}
	f.readForms(t, number)
	return f
}

func (f *facts) readForms(t testing.TB, number func(string) int) {
	forms := make(map[string]*factForm)
	for _, row := range readFactTable(t, "messages.tsv") {
		if row[2] == "not-on-wire" {
			continue
		}
		key := row[0] + " " + row[2]
		m := forms[key]
		if m == nil {
			m = &factForm{name: row[0], opcode: uint32(number(row[1])), variant: row[2]}
			forms[key] = m
			f.forms = append(f.forms, m)
		}
		b := factBuffer{index: number(row[4]), name: row[5], kind: row[6], size: row[7]}
		if row[3] == "request" {
			m.request = append(m.request, b)
		} else {
			m.reply = append(m.reply, b)
		}
	}
}

// orderOf reads the rule of the byte order at the head of a struct.
func orderOf(rule string) string {
	switch {
	case strings.HasPrefix(rule, "little-endian"):
		return "little"
	case strings.HasPrefix(rule, "network"):
		return "big"
	}
	return ""
}

// number is a constant; a name that the facts lack is a mistake of the test.
func (f *facts) number(name string) uint64 {
	v, ok := f.numbers[name]
	if !ok {
		panic("no constant " + name)
	}
	return v
}
