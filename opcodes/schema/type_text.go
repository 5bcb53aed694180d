package schema

import "strconv"

// formatWords are the words for numbers of a format.
var formatWords = [...]string{Hex: "hex", ID: "id", Cookie: "cookie", Octal: "mode", Size: "size",
	Seconds: "time", Duration: "seconds", Version: "version", NID4: "nid", IPv4: "address", Errno: "errno", UUID: ""}

// TypeText is the type of the field in a word or two: u64 flags, char[40],
// lov_ost_data[].
func (f *Field) TypeText() string {
	switch f.Kind {
	case Uint:
		return "u" + strconv.Itoa(8*f.Size) + f.formatText()
	case Int:
		return "s" + strconv.Itoa(8*f.Size) + f.formatText()
	case Bytes:
		return sized("bytes", f.Size)
	case Text:
		return sized("char", f.Size)
	case Strings:
		return "strings"
	case Record:
		return f.Type.Name
	case Array:
		if f.Count > 0 {
			return f.Elem.TypeText() + "[" + strconv.Itoa(f.Count) + "]"
		}
		return f.Elem.TypeText() + "[]"
	case List:
		return "records"
	case Union:
		return "union"
	case Message:
		return "lustre_msg"
	}
	return "text"
}

func (f *Field) formatText() string {
	switch {
	case f.Names != nil && f.Names.Flags:
		return " flags"
	case f.Names != nil:
		return " enum"
	case int(f.Format) < len(formatWords) && formatWords[f.Format] != "" && !f.Pad:
		return " " + formatWords[f.Format]
	}
	return ""
}

func sized(name string, n int) string {
	if n == 0 {
		return name + "[]"
	}
	return name + "[" + strconv.Itoa(n) + "]"
}
