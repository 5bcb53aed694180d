package capture

import (
	"slices"
	"testing"
)

// TestFileNames checks that names are as short as possible, and that different
// paths have different names.
func TestFileNames(t *testing.T) {
	for _, c := range []struct{ paths, want []string }{
		{nil, []string{}},
		{[]string{"/data/client.pcap"}, []string{"client.pcap"}},
		{[]string{"/data/client.pcap", "oss.pcap.zst", "-"}, []string{"client.pcap", "oss.pcap.zst", "-"}},
		{[]string{"a/x.pcap", "b/x.pcap", "b/y.pcap"}, []string{"a/x.pcap", "b/x.pcap", "y.pcap"}},
		{[]string{"x.pcap", "b/x.pcap"}, []string{"x.pcap", "b/x.pcap"}},
		{[]string{"/x.pcap", "x.pcap"}, []string{"/x.pcap", "x.pcap"}},
		{[]string{"1/a/x.pcap", "2/a/x.pcap", "b/x.pcap"}, []string{"1/a/x.pcap", "2/a/x.pcap", "b/x.pcap"}},
		{[]string{"a/x.pcap", "a/x.pcap", "y.pcap"}, []string{"x.pcap", "x.pcap", "y.pcap"}},
		{[]string{"-", "./-"}, []string{"-", "./-"}},
	} {
		if got := FileNames(c.paths); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.paths, got, c.want)
		}
	}
}
