package capture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

const (
	inputSize = 512 << 10 // bytes read ahead of a capture file: many frames, as the part of one at the end is moved
	headSize  = 64 << 10  // bytes read ahead for the time of the first frame
	maxRecord = 16 << 20  // bytes of a record, at most; frames have up to 64 KiB, with BIG TCP 512 KiB
)

// input is a capture file. gopacket's readers read from its bufio.Reader, which
// they use as it is because it is larger than their own would be. So a record can
// be checked where it lies in the buffer before they read it.
type input struct {
	*bufio.Reader
	name   string // for messages
	src    io.Reader
	at     int64  // offset of the next byte
	ahead  []byte // the bytes from there on that peek saw in the buffer
	byHand string // from where and why gopacket does not read the file; empty if it does
}

func newInput(name string, src io.Reader, size int) *input {
	in := &input{name: name, src: src}
	if size != inputSize {
		in.Reader = bufio.NewReaderSize(src, size)
	} else {
		in.Reader = buffers.Get().(*bufio.Reader)
		in.Reset(src)
	}
	return in
}

// buffers are those of inputs that have ended. Of hundreds of files each takes one.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, inputSize) }}

// release gives the buffer away at the end of the input.
func (in *input) release() {
	if in.Size() == inputSize {
		in.Reset(nil)
		buffers.Put(in.Reader)
	}
	in.Reader, in.ahead = nil, nil
}

// peek returns the n bytes that follow the next skip bytes, without reading them.
// They are the beginning of a record of n bytes, or the whole record.
func (in *input) peek(skip, n int, what string) ([]byte, error) {
	if end := skip + n; end <= len(in.ahead) {
		return in.ahead[skip:end:end], nil
	}
	return in.fill(skip, n, what)
}

// fill is peek when the buffer may have too few bytes.
func (in *input) fill(skip, n int, what string) ([]byte, error) {
	for {
		b, err := in.Peek(min(skip+n, in.Size()))
		if err != nil {
			return nil, in.truncated(in.at+int64(skip), int64(len(b)-skip), what, int64(n), err)
		}
		if len(b) == skip+n {
			in.ahead, _ = in.Peek(in.Buffered()) // it cannot fail
			return in.ahead[skip : skip+n : skip+n], nil
		}
		in.grow(b)
	}
}

// grow doubles the buffer, which is full of b. It does so only then: an invalid
// length costs no more memory than twice the bytes of the input. The larger buffer
// replaces the other one in its place, to which gopacket has a pointer.
func (in *input) grow(b []byte) {
	src := io.MultiReader(bytes.NewReader(bytes.Clone(b)), in.src)
	*in.Reader = *bufio.NewReaderSize(src, 2*in.Size())
}

// discard skips n bytes that were returned by peek, which remain valid until the
// next call.
func (in *input) discard(n int) {
	skipped, _ := in.Discard(n) // it cannot fail: they are in the buffer
	in.advance(skipped)
}

// advance notes that n bytes were read from the buffer.
func (in *input) advance(n int) {
	in.at += int64(n)
	in.ahead = in.ahead[min(n, len(in.ahead)):]
}

// readByHand notes the first record at which gopacket does not go on, and what it cannot read.
func (in *input) readByHand(at int64, format string, args ...any) {
	if in.byHand == "" {
		in.byHand = fmt.Sprintf("byte %d: read without gopacket: ", at) + fmt.Sprintf(format, args...)
	}
}

// damage returns the error for a record that begins at the given offset.
func (in *input) damage(at int64, format string, args ...any) error {
	return &DamageError{File: in.name, Offset: at, Cause: fmt.Sprintf(format, args...)}
}

// truncated returns the error for an incomplete record of the given size at offset
// at, of which the input has the first bytes before err. If it has none of them,
// the input ends after a whole record, and the error is io.EOF.
func (in *input) truncated(at, have int64, what string, size int64, err error) error {
	switch {
	case errors.Is(err, os.ErrClosed):
		return err
	case err != io.EOF:
		return in.damage(at+have, "%v", err)
	case have == 0:
		return io.EOF
	}
	return in.damage(at, "cut short: the file ends %d bytes into a %s of %d", have, what, size)
}
