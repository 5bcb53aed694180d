package explain

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	return slices.ContainsFunc(namespaces[:], func(n string) bool { return strings.HasPrefix(name, n) })
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
		b, err := attributeValue(value)
		switch {
		case !isAttribute(name):
			errs = append(errs, fmt.Errorf("line %d: %q is not an extended attribute and its value", i+1, line))
		case err != nil:
			errs = append(errs, fmt.Errorf("line %d: %s: %w", i+1, name, err))
		default:
			list = append(list, Attribute{File: file, Name: name, Value: b})
		}
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
	return regexp.MustCompile(`\\([0-7]{3}|.)`).ReplaceAllStringFunc(text, func(escape string) string {
		if c, err := strconv.ParseUint(escape[1:], 8, 8); err == nil && len(escape) > 2 {
			return string([]byte{byte(c)})
		}
		return escape[1:]
	})
}

// wireBytes reads bytes: hex digits in pairs, or base64 with 0s before it.
func wireBytes(text string) ([]byte, error) {
	text = strings.NewReplacer(" ", "", ":", "", "\n", "", "\t", "").Replace(text)
	var b []byte
	var err error
	if rest, ok := strings.CutPrefix(text, "0s"); ok {
		if b, err = base64.StdEncoding.DecodeString(rest); err != nil {
			return nil, errors.New("what follows 0s is not base64")
		}
	} else {
		if rest, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
			text = rest
		}
		if len(text)%2 != 0 {
			return nil, fmt.Errorf("%d hex digits, but a byte has two", len(text))
		}
		b, err = hex.DecodeString(text)
		var bad hex.InvalidByteError
		if errors.As(err, &bad) {
			return nil, fmt.Errorf("%q is not a hex digit", rune(bad))
		}
	}
	if len(b) == 0 {
		return nil, errors.New("the value is empty")
	}
	return b, nil
}

// Attribute returns an extended attribute as a value, in the form that its name and
// its bytes tell.
func (d *Decoder) Attribute(a Attribute, big bool) Decoded {
	f := *opcodes.XattrForm(a.Name, a.Value)
	f.Name = string(schema.AppendText(nil, []byte(a.Name)))
	return Decoded{Type: a.Name, File: a.File, Field: &f, Bytes: a.Value, Big: big}
}
