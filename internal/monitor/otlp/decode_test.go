package otlp

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// fields has what testdata/fields.tsv says about protobuf messages.
type fields map[string]map[uint64]fieldType

type fieldType struct {
	name, kind string
	repeated   bool
}

func readFields(t testing.TB) fields {
	t.Helper()
	text := must.ReadFile(t, "testdata/fields.tsv")
	f := fields{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		number, err := strconv.ParseUint(col[1], 10, 32)
		must.NoError(t, err)
		if f[col[0]] == nil {
			f[col[0]] = map[uint64]fieldType{}
		}
		kind, repeated := strings.CutPrefix(col[3], "repeated ")
		f[col[0]][number] = fieldType{col[2], kind, repeated}
	}
	return f
}

// decode returns a message as `protoc --decode` prints it. It panics where a
// message is not what the published definitions allow.
func (f fields) decode(message string, b []byte, indent string) string {
	type line struct {
		number uint64
		text   string
	}
	var lines []line
	seen := map[uint64]bool{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			panic("invalid tag in " + message)
		}
		b = b[n:]
		number := tag >> 3
		typ, ok := f[message][number]
		if !ok {
			panic(fmt.Sprintf("%s has no field %d", message, number))
		}
		if seen[number] && !typ.repeated {
			panic(fmt.Sprintf("%s.%s appears twice", message, typ.name))
		}
		seen[number] = true
		add := func(format string, value any) {
			lines = append(lines, line{number, fmt.Sprintf("%s%s: "+format+"\n", indent, typ.name, value)})
		}
		switch want, got := f.wireType(typ), tag&7; {
		case got != want:
			panic(fmt.Sprintf("%s.%s has wire type %d, want %d", message, typ.name, got, want))
		case got == 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				panic("invalid varint in " + message)
			}
			b = b[n:]
			switch typ.kind {
			case "bool":
				add("%t", v == 1)
			case "sint32":
				add("%d", int64(v>>1)^-int64(v&1))
			case "int64":
				add("%d", int64(v))
			case "uint32", "uint64":
				add("%d", v)
			default:
				add("%s", f[typ.kind][v].name)
			}
		case got == 1:
			add("%s", fixed64Text(typ.kind, b))
			b = b[8:]
		case got == 5:
			add("%d", binary.LittleEndian.Uint32(b))
			b = b[4:]
		default:
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				panic("invalid length in " + message)
			}
			value := b[n : n+int(length)]
			b = b[n+int(length):]
			switch typ.kind {
			case "string", "bytes":
				add("\"%s\"", escape(value))
			case "fixed64", "double":
				for ; len(value) > 0; value = value[8:] {
					add("%s", fixed64Text(typ.kind, value))
				}
			case "uint64":
				for len(value) > 0 {
					v, n := binary.Uvarint(value)
					value = value[n:]
					add("%d", v)
				}
			default:
				text := indent + typ.name + " {\n" + f.decode(typ.kind, value, indent+"  ") + indent + "}\n"
				lines = append(lines, line{number, text})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.number) - int(b.number) })
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.text)
	}
	return text.String()
}

func (f fields) wireType(t fieldType) uint64 {
	switch t.kind {
	case "bool", "sint32", "int64", "uint32":
		return 0
	case "uint64", "fixed64", "sfixed64", "double":
		if t.repeated {
			return 2
		}
		return 1
	case "fixed32":
		return 5
	case "string", "bytes":
		return 2
	}
	if f[t.kind][0].kind == "value" {
		return 0
	}
	return 2
}

func fixed64Text(kind string, b []byte) string {
	v := binary.LittleEndian.Uint64(b)
	switch kind {
	case "double":
		return fmt.Sprintf("%.15g", math.Float64frombits(v))
	case "sfixed64":
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatUint(v, 10)
}

func escape(b []byte) string {
	var text strings.Builder
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			text.WriteByte('\\')
			text.WriteByte(c)
		case c == '\n':
			text.WriteString(`\n`)
		case c == '\t':
			text.WriteString(`\t`)
		case c == '\r':
			text.WriteString(`\r`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&text, `\%03o`, c)
		default:
			text.WriteByte(c)
		}
	}
	return text.String()
}
