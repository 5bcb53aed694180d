package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrFormat is the error of a file that is not a complete Parquet file.
var ErrFormat = errors.New("not a complete Parquet file")

// trailer is the length of the footer and the magic.
const trailer = 8

// ReadMetadata returns the value of a key in the metadata of a Parquet file that a Writer
// made, empty without one. The error wraps ErrFormat if it is not a Parquet file.
func ReadMetadata(path, key string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	value := ""
	if err = ErrFormat; info.Mode().IsRegular() {
		value, err = readMetadata(f, info.Size(), key)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}

func readMetadata(f io.ReaderAt, size int64, key string) (string, error) {
	if size < int64(len(magic))+trailer {
		return "", ErrFormat
	}
	var end [trailer]byte
	if _, err := f.ReadAt(end[:], size-trailer); err != nil {
		return "", err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || length > size-trailer-int64(len(magic)) {
		return "", ErrFormat
	}
	footer := make([]byte, length)
	if _, err := f.ReadAt(footer, size-trailer-length); err != nil {
		return "", err
	}
	return valueOf(footer, key)
}

// valueOf finds a pair of a key and a value by its encoding: a struct of two strings. Pairs are
// behind the descriptions of the row groups, whose bounds may have any text, so the last one counts.
func valueOf(footer []byte, key string) (string, error) {
	var e encoder
	e.begin()
	e.string(1, key)
	e.field(2, typeBinary)
	at := bytes.LastIndex(footer, e.buf)
	if at < 0 {
		return "", nil
	}
	value := footer[at+len(e.buf):]
	length, n := binary.Uvarint(value)
	if n <= 0 || length > uint64(len(value)-n) {
		return "", ErrFormat
	}
	return string(value[n:][:length]), nil
}
