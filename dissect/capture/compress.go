package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxZstdWindow is the largest window of a zstd stream, in bytes. The zstd program
// has the same limit.
const maxZstdWindow = 128 << 20

const (
	magicGzip      = 0x00088b1f // three bytes
	magicZstd      = 0xfd2fb528
	magicSkip      = 0x184d2a50 // and the next 15 numbers: a skippable frame of zstd
	magicLZ4       = 0x184d2204
	magicLZ4Legacy = 0x184c2102
)

// Decompress returns a reader of the uncompressed data of a file, which need not be
// compressed. The name is for messages.
func Decompress(name string, src io.Reader) (io.Reader, error) {
	in := newInput(name, src, headSize)
	plain, err := decompressor(in)
	if plain == nil {
		plain = in
	}
	return plain, err
}

// decompressor returns a reader of the uncompressed data, or nil if in is not
// compressed. It recognizes the compression by the content, not by the name.
func decompressor(in *input) (io.Reader, error) {
	head, err := in.Peek(4)
	if err != nil {
		return nil, nil // newRecords explains it
	}
	var u unpacker
	magic := binary.LittleEndian.Uint32(head)
	switch {
	case magic&0xffffff == magicGzip:
		u.kind = "gzip"
		u.src, err = gzip.NewReader(in)
	case magic == magicZstd || magic&^0xf == magicSkip:
		u.kind = "zstd"
		u.src, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
	case magic == magicLZ4 || magic == magicLZ4Legacy:
		u.kind = "lz4"
		u.src = lz4.NewReader(in)
	default:
		return nil, nil
	}
	return &u, u.explain(err)
}

// unpacker is a decompressor whose errors name the compression.
type unpacker struct {
	src  io.Reader
	kind string
}

// explain returns an error that names the compression.
func (u *unpacker) explain(err error) error {
	switch err {
	case nil, io.EOF:
		return err
	case io.ErrUnexpectedEOF:
		return fmt.Errorf("cut short: the %s data ends early", u.kind)
	}
	return fmt.Errorf("damaged %s data: %w", u.kind, err)
}

// Read returns a panic of the decompressor as an error: the input is untrusted,
// and no caller could recover a panic in the goroutine of readAhead.
func (u *unpacker) Read(p []byte) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, fmt.Errorf("damaged %s data: %v", u.kind, r)
		}
	}()
	n, err = u.src.Read(p)
	return n, u.explain(err)
}

const (
	aheadChunk = 256 << 10 // bytes
	aheadDepth = 2         // chunks that are decompressed ahead
)

// readAhead decompresses in its own goroutine, so that another core can do the
// work. Plain files are read without it: handing over their bytes costs more
// than it gains.
type readAhead struct {
	full  chan chunk
	spare chan []byte
	done  <-chan struct{}
	now   chunk // being read
	used  int   // bytes of now that were returned
}

type chunk struct {
	data []byte
	err  error // returned after the data
}

// newReadAhead reads src until its end or until done is closed.
func newReadAhead(src io.Reader, done <-chan struct{}) *readAhead {
	a := &readAhead{full: make(chan chunk), spare: make(chan []byte, aheadDepth), done: done}
	for range aheadDepth {
		a.spare <- make([]byte, aheadChunk)
	}
	go a.run(src)
	return a
}

func (a *readAhead) run(src io.Reader) {
	for {
		var buf []byte
		select {
		case buf = <-a.spare:
		case <-a.done:
			return
		}
		n, err := src.Read(buf[:cap(buf)])
		select {
		case a.full <- chunk{buf[:n], err}:
		case <-a.done:
			return
		}
		if err != nil {
			return
		}
	}
}

func (a *readAhead) Read(p []byte) (int, error) {
	for a.used == len(a.now.data) {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.data != nil {
			a.spare <- a.now.data
		}
		select {
		case a.now = <-a.full:
			a.used = 0
		case <-a.done:
			return 0, os.ErrClosed
		}
	}
	n := copy(p, a.now.data[a.used:])
	a.used += n
	return n, nil
}
