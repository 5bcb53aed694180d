package values

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestMutated replaces the values of sample captures in which bytes were changed and
// frames cut.
func TestMutated(t *testing.T) {
	for i, path := range wiretest.Samples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(i), 7))
			frames := wiretest.ReadSample(t, path)
			frames = frames[:min(len(frames), 400)]
			for k := range frames {
				b := frames[k].Data
				const headers = 66 // of Ethernet, IPv4 and TCP
				for range random.IntN(4) {
					if len(b) > headers {
						b[headers+random.IntN(len(b)-headers)] ^= byte(1 << random.IntN(8))
					}
				}
				if random.IntN(10) == 0 {
					frames[k].Data = b[:random.IntN(len(b)+1)]
				}
			}
			p := New([]byte("key"))
			messages(frames, func(m *dissect.Message) {
				p.Message(make([]byte, len(m.Data)), m)
				p.Message(make([]byte, len(m.Data)/2), m)
			})
		})
	}
}

// FuzzTexts replaces texts of all kinds.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"", "data.h5", "lustre-OST0000_UUID", "MGC192.0.2.1@tcp_0", "fd00::1@tcp:fd00::2@tcp", "a.b=c d.e=192.0.2.[1-5]@tcp", "[0x1:0x2:0x3]:4", "%e.%u", "...", "a@", "@", ":", "=", "\xff/\x80", "MDT", "1.2.3.4.5", "_UUID"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := New([]byte("key"))
		c := p
		for name, replace := range map[string]func([]byte) string{
			"fileName": p.fileName, "path": p.path, "device": p.device, "nidText": p.nidText, "job": p.job,
			"plainWord": p.plainWord, "xattrName": p.xattrName, "params": c.params, "comment": c.comment,
			"argument": func(b []byte) string { return c.argument(b, true) },
		} {
			text := []byte(s)
			r := replace(text)
			if len(r) != len(s) {
				t.Errorf("%s: %q became %q, of another length", name, s, r)
			}
			if !bytes.Equal(text, []byte(s)) {
				t.Errorf("%s changed the original %q", name, s)
			}
		}
	})
}
