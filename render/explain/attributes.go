package explain

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Attribute is an extended attribute of a file.
type Attribute struct {
	File  string // empty if not given
	Name  string // trusted.lov
	Value []byte
}

// namespaces are the beginnings of the names of extended attributes.
var namespaces = [...]string{"trusted.", "lustre.", "system.", "security.", "encryption.", "user."}

func isAttribute(name string) bool {
	for _, n := range namespaces {
		if strings.HasPrefix(name, n) {
			return true
		}
	}
	return false
}

// AreAttributes reports whether a text begins like extended attributes that getfattr
// prints: with the name of a file or with name=value.
func AreAttributes(text string) bool {
	text = strings.TrimSpace(text)
	name, _, found := strings.Cut(text, "=")
	return strings.HasPrefix(text, filePrefix) || found && isAttribute(name)
}

// filePrefix begins the line with the name of the file in the output of getfattr.
const filePrefix = "# file: "

// ParseAttributes reads what getfattr prints: lines of name=value, under the names
// of files. It returns the attributes that it can read, and an error for each line that it
// cannot.
func ParseAttributes(text string) (list []Attribute, errs []error) {
	file := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if name, found := strings.CutPrefix(line, filePrefix); found {
			file = unescape(name)
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		var bad error
		var b []byte
		if !isAttribute(name) {
			bad = fmt.Errorf("%q is not an extended attribute and its value", line)
		} else if b, bad = attributeValue(value); bad != nil {
			bad = fmt.Errorf("%s: %w", name, bad)
		}
		if bad != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", i+1, bad))
			continue
		}
		list = append(list, Attribute{File: file, Name: name, Value: b})
	}
	return list, errs
}

// attributeValue reads a value as getfattr prints it: as text in quotes, in hex with
// 0x, or in base64 with 0s.
func attributeValue(text string) ([]byte, error) {
	if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' {
		return []byte(unescape(text[1 : n-1])), nil
	}
	if text == "" {
		return []byte{}, nil
	}
	return wireBytes(text)
}

// unescape replaces the escapes of getfattr: \012 in octal, \" and \\.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		const digits = 3
		if i+digits < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+1+digits], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += digits
				continue
			}
		}
		i++
		b.WriteByte(text[i])
	}
	return b.String()
}

// wireBytes reads bytes: hex digits in pairs, or base64 with 0s before it.
func wireBytes(text string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(text, "0s"); ok {
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(rest), ""))
		if err != nil {
			return nil, errors.New("what follows 0s is not base64")
		}
		if len(b) == 0 {
			return nil, errors.New("the value is empty")
		}
		return b, nil
	}
	return hexBytes(text)
}

func hexBytes(text string) ([]byte, error) {
	text = strings.NewReplacer(" ", "", ":", "", "\n", "", "\t", "").Replace(text)
	if rest, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		text = rest
	}
	if len(text)%2 != 0 {
		return nil, fmt.Errorf("%d hex digits, but a byte has two", len(text))
	}
	b, err := hex.DecodeString(text)
	var bad hex.InvalidByteError
	if errors.As(err, &bad) {
		return nil, fmt.Errorf("%q is not a hex digit", rune(bad))
	}
	if err == nil && len(b) == 0 {
		return nil, errors.New("the value is empty")
	}
	return b, err
}

// AppendFile appends the name of a file as the heading of its attributes.
func (d *Decoder) AppendFile(dst *schema.Marked, name string) {
	dst.Add(schema.Dim, "file ")
	dst.AddBytes(schema.Heading, schema.AppendText(nil, []byte(name))).Plain("\n")
}

// Attribute returns an extended attribute as a value, in the form that its name and
// its bytes tell.
func (d *Decoder) Attribute(a Attribute, big bool) Decoded {
	f := *opcodes.XattrForm(a.Name, a.Value)
	f.Name = string(schema.AppendText(nil, []byte(a.Name)))
	return Decoded{Type: a.Name, File: a.File, Field: &f, Bytes: a.Value, Big: big}
}
