package anonymize

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// sample returns the path of a sample.
func sample(name string) string { return wiretest.Repo("pcaps/" + name) }

// open returns a reader of a file.
func open(t *testing.T, path string) *capture.Reader {
	t.Helper()
	r, err := capture.Open([]string{path}, capture.Options{})
	must.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// rewriteFile rewrites a file with a key, and returns the path of the result.
func rewriteFile(t *testing.T, path, key string) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := Rewrite(t.Context(), &b, open(t, path), Options{Key: []byte(key)}); err != nil {
		t.Fatal(err)
	}
	result := filepath.Join(t.TempDir(), "result")
	must.NoError(t, os.WriteFile(result, b.Bytes(), 0o600))
	return result
}

// check searches a result for the originals of a file.
func check(t *testing.T, original, result string) *CheckResult {
	t.Helper()
	r, err := Check(t.Context(), func() (*capture.Reader, error) {
		return capture.Open([]string{original}, capture.Options{})
	}, open(t, result), Options{})
	must.NoError(t, err)
	return r
}

// TestNothingIsLeft checks that no original is found in the results of all samples.
func TestNothingIsLeft(t *testing.T) {
	for _, path := range wiretest.Samples(t) {
		r := check(t, path, rewriteFile(t, path, "key"))
		if !r.Clean() || r.Originals < 3 || r.Frames == 0 {
			t.Errorf("%s: %s", path, r.AppendText(nil))
		}
	}
}

// TestCheckFinds checks that an original which is left is found, wherever it is.
func TestCheckFinds(t *testing.T) {
	original := sample("mount.pcap")
	result := rewriteFile(t, original, "key")
	before := must.ReadFile(t, original)
	after := must.ReadFile(t, result)
	for _, left := range []string{"lustre-OST0000", "192.0.2.2@tcp", "\xc0\x00\x02\x02", "\x02\x02\x00\xc0", "f4cdc90b-79e1"} {
		at := bytes.Index(before, []byte(left))
		if at < 0 {
			t.Fatalf("%q is not in the sample", left)
		}
		leak := bytes.Clone(after)
		copy(leak[at:], before[at:at+max(len(left), 36)])
		path := filepath.Join(t.TempDir(), "leak")
		must.NoError(t, os.WriteFile(path, leak, 0o600))
		if r := check(t, original, path); r.Clean() || r.Found[0].Count != 1 || r.Found[0].Frame == 0 {
			t.Errorf("%q: %s", left, r.AppendText(nil))
		}
	}
	if r := check(t, original, original); len(r.Found) < 20 {
		t.Errorf("only %d originals are found in the original", len(r.Found))
	}
}

// TestCheckCoincidence checks that a short original in another place is no leak, a long one
// is.
func TestCheckCoincidence(t *testing.T) {
	original := sample("mount.pcap")
	after := must.ReadFile(t, rewriteFile(t, original, "key"))
	for text, clean := range map[string]bool{"\xc0\x00\x02\x02": true, "lustre-OST0000": false} {
		b := bytes.Clone(after)
		copy(b[len(b)-20:], text)
		path := filepath.Join(t.TempDir(), "other")
		must.NoError(t, os.WriteFile(path, b, 0o600))
		if r := check(t, original, path); r.Clean() != clean || clean != (r.Coincidences == 1) {
			t.Errorf("%q: %s", text, r.AppendText(nil))
		}
	}
}

// TestInvalidCount checks that nothing is left of records whose count of lengths is invalid, so
// that texts take the place of the lengths.
func TestInvalidCount(t *testing.T) {
	data := must.ReadFile(t, sample("mount.pcap"))
	const count = 24 // offset of lcfg_bufcount behind lcfg_command
	setup := []byte{0x03, 0xf0, 0x0c, 0x00}
	changed := 0
	for at := 0; ; changed++ {
		i := bytes.Index(data[at:], setup)
		if i < 0 {
			break
		}
		at += i + count
		data[at+3] = 0x38
	}
	path := filepath.Join(t.TempDir(), "changed.pcap")
	must.NoError(t, os.WriteFile(path, data, 0o600))
	if r := check(t, path, rewriteFile(t, path, "key")); !r.Clean() || changed < 5 {
		t.Errorf("%d records: %s", changed, r.AppendText(nil))
	}
}

// TestIsText checks which names are searched.
func TestIsText(t *testing.T) {
	for name, want := range map[string]bool{"name": true, "größe": true, "caf\xe9": true, "\xff\xff\xff\xff": false, "a\x01bc": false} {
		if isText(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// TestCheckCompares checks that captures of other frames are recognized.
func TestCheckCompares(t *testing.T) {
	original := sample("mount.pcap")
	for _, c := range []struct{ original, result, want string }{
		{original, sample("idle.pcap"), "differs in its time or length"},
		{cutAfter(t, original, 100), rewriteFile(t, original, "key"), "more than the 100 frames"},
		{original, rewriteFile(t, cutAfter(t, original, 100), "key"), "only 100 frames"},
	} {
		if r := check(t, c.original, c.result); r.Clean() || !strings.Contains(r.Different, c.want) {
			t.Errorf("%q, want %q", r.Different, c.want)
		}
	}
}

// cutAfter returns the path of a file with the first n frames of another one.
func cutAfter(t *testing.T, path string, n int) string {
	t.Helper()
	r := open(t, path)
	var b bytes.Buffer
	var w *capture.PcapWriter
	for f := (capture.Frame{}); n > 0; n-- {
		must.NoError(t, r.Next(&f))
		if w == nil {
			format, _ := r.Format()
			w = capture.NewPcapWriter(&b, format)
		}
		must.NoError(t, w.Write(&f))
	}
	must.NoError(t, w.Flush())
	short := filepath.Join(t.TempDir(), "short.pcap")
	must.NoError(t, os.WriteFile(short, b.Bytes(), 0o600))
	return short
}

// TestRewriteDamaged checks that a damaged file gives the frames before the damage, and its
// error.
func TestRewriteDamaged(t *testing.T) {
	data := must.ReadFile(t, sample("mount.pcap"))
	path := filepath.Join(t.TempDir(), "cut")
	must.NoError(t, os.WriteFile(path, data[:100000], 0o600))
	var b bytes.Buffer
	a, err := Rewrite(t.Context(), &b, open(t, path), Options{Key: []byte("key")})
	if !errors.As(err, new(*capture.DamageError)) || a.Stats().Frames < 100 || b.Len() < 90000 {
		t.Errorf("%d frames, %d bytes, %v", a.Stats().Frames, b.Len(), err)
	}
}

// TestRewriteStops checks that Rewrite ends with its context.
func TestRewriteStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Rewrite(ctx, new(bytes.Buffer), open(t, sample("mount.pcap")), Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestInterfaces checks that frames of pcapng keep their interfaces and link types, and that
// comments are gone.
func TestInterfaces(t *testing.T) {
	var b bytes.Buffer
	w := capture.NewWriter(&b)
	frames := wiretest.NewConn().Open().Send(false, stream(1)).Frames
	for _, link := range []capture.LinkType{capture.LinkLinuxSLL, capture.LinkEthernet, capture.LinkRaw} {
		must.NoError(t, w.AddInterface(link, 0, int(link)))
	}
	for i := range frames {
		f := frames[i]
		if f.Iface = int(capture.LinkEthernet); i%2 == 1 {
			f.Iface, f.Link, f.Data = int(capture.LinkRaw), capture.LinkRaw, f.Data[14:]
		}
		must.NoError(t, w.Write(&f, "secret comment"))
	}
	must.NoError(t, w.Flush())
	path := filepath.Join(t.TempDir(), "in.pcapng")
	must.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	result := rewriteFile(t, path, "key")
	if data, err := os.ReadFile(result); err != nil || bytes.Contains(data, []byte("secret")) || !bytes.Contains(b.Bytes(), []byte("secret")) {
		t.Errorf("a comment is left, %v", err)
	}
	before, after := open(t, path), open(t, result)
	var f, g capture.Frame
	for i := range frames {
		must.NoError(t, errors.Join(before.Next(&f), after.Next(&g)))
		if f.Iface != g.Iface || f.Iface != 1+i%2 || f.Link != g.Link || f.Time != g.Time {
			t.Errorf("frame %d of interface %d became one of %d", i, f.Iface, g.Iface)
		}
	}
	format, _ := after.Format()
	if !format.PCAPNG || len(format.Links) != 3 || format.Links[0] != capture.LinkLinuxSLL {
		t.Errorf("%+v", format)
	}
}
