package dissect

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/facts"
	"github.com/lshark/lshark/internal/must"
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

type factTables struct {
	structs map[string]*factStruct
	numbers map[string]uint64
	forms   []*factForm
}

func readFacts(t testing.TB) *factTables {
	f := &factTables{structs: make(map[string]*factStruct), numbers: make(map[string]uint64)}
	tables, err := facts.Read("../opcodes/testdata")
	must.NoError(t, err)
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		must.NoError(t, err)
		return n
	}
	for _, row := range tables.Structs {
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
	for _, row := range tables.Constants {
		v, err := strconv.ParseUint(row[2], 0, 64)
		must.NoError(t, err)
		f.numbers[row[1]] = v
	}
	f.readForms(tables.Messages, number)
	return f
}

func (f *factTables) readForms(rows [][]string, number func(string) int) {
	forms := make(map[string]*factForm)
	for _, row := range rows {
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
func (f *factTables) number(name string) uint64 {
	v, ok := f.numbers[name]
	if !ok {
		panic("no constant " + name)
	}
	return v
}
