package wiretest

import "github.com/lshark/lshark/opcodes/schema"

// Shown returns the text that a func appends of a value.
func Shown[T any](add func(dst *schema.Marked, v T), v T) string {
	var text schema.Marked
	add(&text, v)
	return string(text.Text)
}
