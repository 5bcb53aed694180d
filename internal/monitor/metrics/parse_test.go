package metrics

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// sample is a line of a page.
type sample struct {
	name   string
	labels [][2]string
	value  string
}

// pageFamily is a family of a page.
type pageFamily struct {
	name, kind, unit, help string
	samples                []sample
}

var (
	metaLine   = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)
	labelStart = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="`)
)

// parseText parses a page in one of the text formats, and checks what
// OpenMetrics requires of it.
func parseText(page string, open bool) ([]pageFamily, error) {
	if !strings.HasSuffix(page, "\n") && page != "" {
		return nil, errors.New("no newline at the end")
	}
	lines := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
	if open {
		if lines[len(lines)-1] != "# EOF" {
			return nil, errors.New("no EOF")
		}
		lines = lines[:len(lines)-1]
	}
	var families []pageFamily
	seen := make(map[string]bool)
	for _, line := range lines {
		if m := metaLine.FindStringSubmatch(line); m != nil {
			if m[1] == "TYPE" {
				if seen[m[2]] {
					return nil, fmt.Errorf("family %s stands twice", m[2])
				}
				seen[m[2]] = true
				families = append(families, pageFamily{name: m[2], kind: m[3]})
				continue
			}
			f := &families[len(families)-1]
			if f.name != m[2] || len(f.samples) > 0 {
				return nil, fmt.Errorf("line out of place: %s", line)
			}
			if m[1] == "UNIT" {
				f.unit = m[3]
				if !open || !strings.HasSuffix(f.name, "_"+f.unit) {
					return nil, fmt.Errorf("unit of %s", f.name)
				}
			} else {
				f.help = unescape(m[3])
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || len(families) == 0 {
			return nil, fmt.Errorf("invalid line: %q", line)
		}
		s := sample{name: m[1], value: m[3]}
		if _, err := strconv.ParseFloat(s.value, 64); err != nil {
			return nil, fmt.Errorf("invalid value: %q", line)
		}
		for rest := m[2]; rest != ""; {
			start := labelStart.FindStringSubmatch(rest)
			if start == nil {
				return nil, fmt.Errorf("invalid labels: %q", line)
			}
			rest = rest[len(start[0]):]
			end := 0
			for end < len(rest) && rest[end] != '"' {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(rest) {
				return nil, fmt.Errorf("label without end: %q", line)
			}
			s.labels = append(s.labels, [2]string{start[1], unescape(rest[:end])})
			if rest = rest[end+1:]; rest != "" {
				if rest[0] != ',' || len(rest) == 1 {
					return nil, fmt.Errorf("invalid labels: %q", line)
				}
				rest = rest[1:]
			}
		}
		f := &families[len(families)-1]
		if !f.allows(s.name, open) {
			return nil, fmt.Errorf("sample %s in family %s of type %s", s.name, f.name, f.kind)
		}
		if key := fmt.Sprint(s.name, s.labels); seen[key] {
			return nil, fmt.Errorf("sample stands twice: %q", line)
		} else {
			seen[key] = true
		}
		f.samples = append(f.samples, s)
	}
	return families, nil
}

func (f *pageFamily) allows(name string, open bool) bool {
	suffix, ok := strings.CutPrefix(name, f.name)
	if !ok {
		return false
	}
	switch f.kind {
	case "gauge":
		return suffix == ""
	case "counter":
		return !open && suffix == "" || open && (suffix == "_total" || suffix == "_created")
	case "histogram":
		return suffix == "_bucket" || suffix == "_count" || suffix == "_sum" || open && suffix == "_created"
	}
	return false
}

func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\"`, `"`).Replace(s)
}

// message is a decoded protobuf message: the values of each field in order, as
// uint64, float64 or []byte.
type message map[int][]any

func parseMessage(b []byte) (message, error) {
	m := make(message)
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errors.New("invalid tag")
		}
		b = b[n:]
		field := int(tag >> 3)
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return nil, errors.New("invalid varint")
			}
			m[field], b = append(m[field], v), b[n:]
		case 1:
			if len(b) < 8 {
				return nil, errors.New("truncated double")
			}
			m[field], b = append(m[field], math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
		case 2:
			body, rest, err := cutLengthPrefixed(b)
			if err != nil {
				return nil, err
			}
			m[field], b = append(m[field], body), rest
		default:
			return nil, fmt.Errorf("wire type %d", tag&7)
		}
	}
	return m, nil
}

func cutLengthPrefixed(b []byte) (body, rest []byte, err error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, errors.New("truncated message")
	}
	return b[n : n+int(size)], b[n+int(size):], nil
}

// sub returns the messages of a field.
func (m message) sub(field int) ([]message, error) {
	var list []message
	for _, v := range m[field] {
		body, ok := v.([]byte)
		if !ok {
			return nil, fmt.Errorf("field %d is no message", field)
		}
		sub, err := parseMessage(body)
		if err != nil {
			return nil, err
		}
		list = append(list, sub)
	}
	return list, nil
}

func unzigzag(x uint64) int { return int(x>>1) ^ -int(x&1) }
