package flags

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1000": "1000", "1024": "1K", "1536k": "1536K", "500M": "500M", "20g": "20G", "2048G": "2T", "8388607T": "8388607T",
	} {
		var s Size
		if err := s.Set(text); err != nil || s.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, s.String(), err, want)
		}
	}
	for _, text := range []string{"", "M", "-1", "1X", "1 G", "1GG", "1.5G", "0x10", "8388608T", "9223372036854775808"} {
		var s Size
		if s.Set(text) == nil {
			t.Errorf("%q is accepted as %d", text, s)
		}
	}
}
