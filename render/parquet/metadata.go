package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// ErrFormat is the error of a file that is not a complete Parquet file.
var ErrFormat = errors.New("not a complete Parquet file")

const (
	// maxMetadata bounds the keys and values of a file in bytes, together.
	maxMetadata = 16 << 20

	// maxNested bounds how deep the structs of a footer are nested: those of the format
	// are not nested so deep.
	maxNested = 32
)

// trailer is the length of the footer and the magic.
const trailer = 8

// ReadMetadata returns the keys and values in the metadata of a Parquet file. The error
// wraps ErrFormat if it is not one.
func ReadMetadata(path string) ([][2]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var list [][2]string
	if err = ErrFormat; info.Mode().IsRegular() {
		list, err = readMetadata(f, info.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

func readMetadata(f io.ReaderAt, size int64) ([][2]string, error) {
	if size < int64(len(magic))+trailer {
		return nil, ErrFormat
	}
	var end [trailer]byte
	if _, err := f.ReadAt(end[:], size-trailer); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || length > size-trailer-int64(len(magic)) {
		return nil, ErrFormat
	}
	footer := io.NewSectionReader(f, size-trailer-length, length)
	d := decoder{r: bufio.NewReader(footer), left: maxMetadata}
	list := d.fileMetadata()
	if d.err == io.EOF || d.err == io.ErrUnexpectedEOF {
		d.err = ErrFormat
	}
	if d.err != nil {
		return nil, d.err
	}
	return list, nil
}

// decoder reads structs in Thrift's compact protocol. After an error all values are
// zero, and all structs and lists at their end.
type decoder struct {
	r    *bufio.Reader
	left int // bytes of strings that may be kept
	err  error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *decoder) byte() byte {
	if d.err != nil {
		return 0
	}
	b, err := d.r.ReadByte()
	if err != nil {
		d.fail(err)
		return 0
	}
	return b
}

func (d *decoder) uvarint() uint64 {
	if d.err != nil {
		return 0
	}
	v, err := binary.ReadUvarint(d.r)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		d.fail(err)
	case err != nil: // longer than 64 bits
		d.fail(ErrFormat)
	default:
		return v
	}
	return 0
}

// field reads the header of a field of a struct, given the id of the field before. It
// reports false at the end of the struct.
func (d *decoder) field(last int) (id int, fieldType byte, ok bool) {
	b := d.byte()
	if b&0xf == 0 {
		return 0, 0, false
	}
	if b>>4 != 0 {
		return last + int(b>>4), b & 0xf, true
	}
	v := d.uvarint()
	return int(int16(v>>1) ^ -int16(v&1)), b & 0xf, d.err == nil
}

func (d *decoder) list() (n uint64, elementType byte) {
	b := d.byte()
	if n = uint64(b >> 4); n == 15 {
		n = d.uvarint()
	}
	if d.err != nil {
		return 0, 0
	}
	return n, b & 0xf
}

func (d *decoder) string() string {
	n := d.uvarint()
	if n > uint64(d.left) {
		d.fail(fmt.Errorf("metadata of more than %d bytes", maxMetadata))
		return ""
	}
	d.left -= int(n)
	var text []byte
	for len(text) < int(n) && d.err == nil { // as much as there is: n is only a claim
		part := make([]byte, min(int(n)-len(text), 1<<12))
		if _, err := io.ReadFull(d.r, part); err != nil {
			d.fail(err)
		}
		text = append(text, part...)
	}
	if d.err != nil {
		return ""
	}
	return string(text)
}

func (d *decoder) discard(n uint64) {
	for n > 0 && d.err == nil {
		k, err := d.r.Discard(int(min(n, math.MaxInt32)))
		n -= uint64(k)
		if err != nil {
			d.fail(err)
		}
	}
}

// skip skips a value that is not the field of a struct.
func (d *decoder) skip(valueType byte, depth int) {
	if depth > maxNested {
		d.fail(ErrFormat)
		return
	}
	switch valueType {
	case typeTrue, typeFalse, typeByte:
		d.byte()
	case typeInt16, typeInt32, typeInt64:
		d.uvarint()
	case typeDouble:
		d.discard(8)
	case typeBinary:
		d.discard(d.uvarint())
	case typeList, typeSet:
		n, elementType := d.list()
		for ; n > 0 && d.err == nil; n-- {
			d.skip(elementType, depth+1)
		}
	case typeMap:
		n := d.uvarint()
		if n == 0 {
			return
		}
		types := d.byte()
		for ; n > 0 && d.err == nil; n-- {
			d.skip(types>>4, depth+1)
			d.skip(types&0xf, depth+1)
		}
	case typeStruct:
		id := 0
		for d.err == nil {
			next, fieldType, ok := d.field(id)
			if !ok {
				return
			}
			id = next
			d.skipField(fieldType, depth)
		}
	default:
		d.fail(ErrFormat)
	}
}

// skipField skips the value of a field of a struct. Booleans are in the header.
func (d *decoder) skipField(fieldType byte, depth int) {
	if fieldType != typeTrue && fieldType != typeFalse {
		d.skip(fieldType, depth+1)
	}
}

// fileMetadata reads the footer up to the keys and values.
func (d *decoder) fileMetadata() (list [][2]string) {
	id := 0
	for d.err == nil {
		next, fieldType, ok := d.field(id)
		if !ok {
			return list
		}
		id = next
		if id != 5 || fieldType != typeList {
			d.skipField(fieldType, 0)
			continue
		}
		n, elementType := d.list()
		if n > 0 && elementType != typeStruct {
			d.fail(ErrFormat)
		}
		for ; n > 0 && d.err == nil; n-- {
			list = append(list, d.keyValue())
		}
	}
	return list
}

func (d *decoder) keyValue() (m [2]string) {
	id := 0
	for d.err == nil {
		next, fieldType, ok := d.field(id)
		if !ok {
			break
		}
		id = next
		if fieldType == typeBinary && (id == 1 || id == 2) {
			m[id-1] = d.string()
		} else {
			d.skipField(fieldType, 0)
		}
	}
	d.left -= 2 // strings that are empty take space as well
	return m
}
