package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrFormat is the error of a file that is not a complete Parquet file.
var ErrFormat = errors.New("not a complete Parquet file")

const (
	// maxFooter bounds the length of a footer in bytes: that of a file with 10⁹ rows is shorter.
	maxFooter = 256 << 20

	// maxNested bounds how deep the structs of a footer are nested: those of the format
	// are not nested so deep.
	maxNested = 32
)

// trailer is the length of the footer and the magic.
const trailer = 8

// ReadMetadata returns the value of a key in the metadata of a Parquet file, empty without one. The error
// wraps ErrFormat if it is not one.
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
	switch {
	case string(end[4:]) != magic || length > size-trailer-int64(len(magic)):
		return "", ErrFormat
	case length > maxFooter:
		return "", fmt.Errorf("a footer of more than %d bytes", maxFooter)
	}
	d := decoder{left: make([]byte, length)}
	if _, err := f.ReadAt(d.left, size-trailer-length); err != nil {
		return "", err
	}
	value := d.metadata(key)
	if d.failed {
		return "", ErrFormat
	}
	return value, nil
}

// decoder reads structs in Thrift's compact protocol. After an error all values are
// zero, and all structs at their end.
type decoder struct {
	left   []byte
	failed bool
}

func (d *decoder) fail() { d.left, d.failed = nil, true }

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.left)) {
		d.fail()
		return nil
	}
	b := d.left[:n]
	d.left = d.left[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.left)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.left = d.left[n:]
	return v
}

// fields calls read with each field of a struct, for its value.
func (d *decoder) fields(read func(id int, fieldType byte)) {
	id := 0
	for {
		b := d.byte()
		switch {
		case b&0xf == 0:
			return
		case b>>4 != 0:
			id += int(b >> 4)
		default:
			v := d.uvarint()
			id = int(int16(v>>1) ^ -int16(v&1))
		}
		read(id, b&0xf)
	}
}

// elements calls read for each element of a list.
func (d *decoder) elements(read func(elementType byte)) {
	b := d.byte()
	n := uint64(b >> 4)
	if n == 15 {
		n = d.uvarint()
	}
	for ; n > 0 && !d.failed; n-- {
		read(b & 0xf)
	}
}

// skip skips a value that is not the field of a struct.
func (d *decoder) skip(valueType byte, depth int) {
	if depth > maxNested {
		d.fail()
		return
	}
	switch valueType {
	case typeTrue, typeFalse, typeByte:
		d.byte()
	case typeInt16, typeInt32, typeInt64:
		d.uvarint()
	case typeDouble:
		d.bytes(8)
	case typeBinary:
		d.bytes(d.uvarint())
	case typeList, typeSet:
		d.elements(func(elementType byte) { d.skip(elementType, depth+1) })
	case typeMap:
		n := d.uvarint()
		if n == 0 {
			return
		}
		types := d.byte()
		for ; n > 0 && !d.failed; n-- {
			d.skip(types>>4, depth+1)
			d.skip(types&0xf, depth+1)
		}
	case typeStruct:
		d.fields(func(_ int, fieldType byte) { d.skipField(fieldType, depth) })
	default:
		d.fail()
	}
}

// skipField skips the value of a field of a struct. Booleans are in the header.
func (d *decoder) skipField(fieldType byte, depth int) {
	if fieldType != typeTrue && fieldType != typeFalse {
		d.skip(fieldType, depth+1)
	}
}

// metadata reads the footer and returns the value of a key.
func (d *decoder) metadata(key string) (value string) {
	const metadata = 5 // id of the list of keys and values
	d.fields(func(id int, fieldType byte) {
		if id != metadata || fieldType != typeList {
			d.skipField(fieldType, 0)
			return
		}
		d.elements(func(elementType byte) {
			if elementType != typeStruct {
				d.fail()
			}
			var pair [2][]byte
			d.fields(func(id int, fieldType byte) {
				if fieldType == typeBinary && (id == 1 || id == 2) {
					pair[id-1] = d.bytes(d.uvarint())
				} else {
					d.skipField(fieldType, 0)
				}
			})
			if string(pair[0]) == key {
				value = string(pair[1])
			}
		})
	})
	return value
}
