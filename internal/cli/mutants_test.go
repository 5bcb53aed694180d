//go:build all

package cli

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

var (
	mutants     = flag.Int("mutants", 60, "mutants of TestMutants")
	firstMutant = flag.Int("first-mutant", 0, "number of the first of them")
)

// TestMutants runs all commands over parts of captures in which bytes, frames and lengths were
// changed: no panic, no status above 3, and none takes long. The number of a mutant makes it.
func TestMutants(t *testing.T) {
	const slow = 10 * time.Second
	paths := wiretest.Samples(t)
	if *captures != "" {
		more := must.Value(filepath.Glob(filepath.Join(*captures, "*.pcap*")))(t)
		paths = append(paths, more...)
	}
	forms := append([]string{"-T parquet", "rpcs -T parquet", "diagnose --checksums", "stats -Y pb_status<0",
		"recovery --all", "locks --stuck"}, hostileForms...)
	read := make(map[string][]capture.Frame)
	file := filepath.Join(t.TempDir(), "mutant.pcapng")
	for n := *firstMutant; n < *firstMutant+*mutants; n++ {
		rnd := rand.New(rand.NewPCG(uint64(n), 3))
		path := paths[rnd.IntN(len(paths))]
		if read[path] == nil {
			read[path] = wiretest.ReadSample(t, path)
		}
		must.NoError(t, os.WriteFile(file, mutant(t, rnd, read[path]), 0o600))
		for _, form := range forms {
			begun := time.Now()
			var out, errs bytes.Buffer
			status := Run(testSystem(&out, &errs), append(words(form), file))
			if took := time.Since(begun); status > exit.Damage || status == exit.Usage || took > slow {
				t.Errorf("mutant %d of %s, %q: status %d after %v: %s", n, path, form, status, took, &errs)
			}
		}
		if n%1000 == 999 {
			t.Logf("%d mutants", n+1)
		}
	}
}

// mutant returns a capture file: some frames of a capture, changed, split and sent again.
func mutant(t *testing.T, rnd *rand.Rand, frames []capture.Frame) []byte {
	t.Helper()
	const headers, most = 34, 400 // bytes that stay in most frames, and up to where most changes are
	from := rnd.IntN(len(frames))
	part := append([]capture.Frame(nil), frames[from:min(len(frames), from+20+rnd.IntN(40))]...)
	for i := range part {
		f := &part[i]
		f.Data = bytes.Clone(f.Data)
		if rnd.IntN(3) > 0 || len(f.Data) <= headers {
			continue
		}
		least, end := headers, min(len(f.Data), most)
		switch rnd.IntN(8) {
		case 0:
			least = 0
		case 1:
			end = len(f.Data)
		case 2: // another frame's bytes
			other := frames[rnd.IntN(len(frames))].Data
			if at := rnd.IntN(len(f.Data)); at < len(other) {
				copy(f.Data[at:], other[at:])
			}
		case 3:
			f.Data = f.Data[:rnd.IntN(len(f.Data))]
		case 4:
			k := rnd.IntN(len(part))
			part[i], part[k] = part[k], part[i]
		}
		if end = min(end, len(f.Data)); end <= least {
			continue
		}
		for range 1 + rnd.IntN(6) {
			at := least + rnd.IntN(end-least)
			switch rnd.IntN(4) {
			case 0:
				f.Data[at] ^= 1 << rnd.IntN(8)
			case 1:
				f.Data[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[rnd.IntN(5)]
			default:
				f.Data[at] = byte(rnd.Uint32())
			}
		}
	}
	var file bytes.Buffer
	w := capture.NewWriter(&file)
	for i := range part {
		for _, f := range split(rnd, &part[i]) {
			must.NoError(t, w.Write(&f, ""))
		}
		if rnd.IntN(12) == 0 { // sent again
			again := part[rnd.IntN(i+1)]
			again.Time = part[i].Time
			must.NoError(t, w.Write(&again, ""))
		}
	}
	must.NoError(t, w.Flush())
	b := file.Bytes()
	for range rnd.IntN(4) - 1 { // and of the file itself
		b[rnd.IntN(len(b))] = byte(rnd.Uint32())
	}
	return b
}

// split returns a frame, or sometimes two with the parts of its TCP segment.
func split(rnd *rand.Rand, f *capture.Frame) []capture.Frame {
	const ip, least = 14, 14 + 20 + 20 + 2
	if rnd.IntN(6) > 0 || f.Link != capture.LinkEthernet || len(f.Data) < least || f.Data[ip]>>4 != 4 || f.Data[ip+9] != 6 {
		return []capture.Frame{*f}
	}
	tcp := ip + int(f.Data[ip]&15)*4
	payload := min(tcp+20, len(f.Data))
	if len(f.Data) > tcp+12 {
		payload = tcp + int(f.Data[tcp+12]>>4)*4
	}
	n := len(f.Data) - payload
	if n < 2 || payload < tcp+20 {
		return []capture.Frame{*f}
	}
	k := 1 + rnd.IntN(n-1)
	first, second := *f, *f
	first.Data = bytes.Clone(f.Data[:payload+k])
	second.Data = append(bytes.Clone(f.Data[:payload]), f.Data[payload+k:]...)
	first.Len, second.Len = len(first.Data), max(f.Len-k, len(second.Data))
	binary.BigEndian.PutUint16(first.Data[ip+2:], uint16(first.Len-ip))
	binary.BigEndian.PutUint16(second.Data[ip+2:], uint16(second.Len-ip))
	binary.BigEndian.PutUint32(second.Data[tcp+4:], binary.BigEndian.Uint32(f.Data[tcp+4:])+uint32(k))
	return []capture.Frame{first, second}
}
