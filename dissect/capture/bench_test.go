package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"testing"
)

// endless repeats the records of a capture behind its header.
type endless struct {
	head, body []byte
	at         int
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.head) > 0 {
		n := copy(p, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	n := copy(p, e.body[e.at:])
	if e.at += n; e.at == len(e.body) {
		e.at = 0
	}
	return n, nil
}

func equalFrames(n, length int) []sample {
	list := make([]sample, n)
	for i := range list {
		list[i] = sample{int64(i+1) * 1e6, bytes.Repeat([]byte{1}, length), length}
	}
	return list
}

// benchmarkFrames reads frames of one length; one operation is one frame.
func benchmarkFrames(b *testing.B, length int, file func([]sample) []byte) {
	head := len(file(nil))
	data := file(equalFrames(8<<20/(length+16), length))
	src := &endless{head: data[:head], body: data[head:]}
	in := newInput("bench", src, inputSize)
	recs, err := newRecords(in)
	if err != nil {
		b.Fatal(err)
	}
	var f Frame
	b.SetBytes(int64(length + 16))
	b.ReportAllocs()
	for b.Loop() {
		if err := recs.next(in, &f); err != nil {
			b.Fatal(err)
		}
	}
}

func pcapMicro(list []sample) []byte { return pcapFile(binary.LittleEndian, false, 1, list) }

func ngFile(list []sample) []byte {
	n := (&blocks{order: binary.LittleEndian}).section()
	n.block(blockInterface, uint16(LinkEthernet), uint16(0), uint32(0))
	for _, f := range list {
		n.enhanced(0, uint64(f.time/1000), f)
	}
	return n.b
}

func BenchmarkReadPcap(b *testing.B)        { benchmarkFrames(b, 1514, pcapMicro) }
func BenchmarkReadPcapSuper(b *testing.B)   { benchmarkFrames(b, 64<<10, pcapMicro) }
func BenchmarkReadPcapng(b *testing.B)      { benchmarkFrames(b, 1514, ngFile) }
func BenchmarkReadPcapngSuper(b *testing.B) { benchmarkFrames(b, 64<<10, ngFile) }

// BenchmarkFile reads a file of 64 MiB through Reader; BenchmarkFileFloor does
// no more than read(2).
func BenchmarkFile(b *testing.B) {
	path := writeFile(b, "capture", pcapMicro(equalFrames(64<<20/1530, 1514)))
	b.SetBytes(64 << 20)
	for b.Loop() {
		r, err := Open([]string{path}, Options{})
		var f Frame
		for err == nil {
			err = r.Next(&f)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		r.Close()
	}
}

func BenchmarkFileFloor(b *testing.B) {
	path := writeFile(b, "capture", make([]byte, 64<<20))
	buf := make([]byte, inputSize)
	b.SetBytes(64 << 20)
	for b.Loop() {
		f, err := os.Open(path)
		for err == nil {
			_, err = f.Read(buf)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		f.Close()
	}
}

// BenchmarkMerge takes frames in turn from eight files in memory.
func BenchmarkMerge(b *testing.B) {
	data := pcapMicro(equalFrames(2000, 1514))
	r := &Reader{begun: true}
	for i := range 8 {
		in := newInput("bench", &endless{head: data[:24], body: data[24:]}, inputSize)
		recs, err := newRecords(in)
		if err != nil {
			b.Fatal(err)
		}
		f := &file{index: i, input: in, recs: recs}
		if err := f.next(&f.frame); err != nil {
			b.Fatal(err)
		}
		r.files = append(r.files, f)
		r.push(f)
	}
	var f Frame
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Next(&f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	w := NewWriter(io.Discard)
	f := Frame{Data: make([]byte, 1514), Len: 1514, Link: LinkEthernet}
	b.SetBytes(1514)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(&f, "MDS_CONNECT"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNoAllocation: a frame costs none, read, merged or written.
func TestNoAllocation(t *testing.T) {
	for name, file := range map[string]func([]sample) []byte{"pcap": pcapMicro, "pcapng": ngFile} {
		path := writeFile(t, name, file(equalFrames(3000, 200)))
		r, err := Open([]string{path, path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		w := NewWriter(io.Discard)
		var f Frame
		n := testing.AllocsPerRun(4000, func() {
			err = r.Next(&f)
			if err == nil {
				err = w.Write(&f, "comment")
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations a frame", name, n)
		}
	}
}
