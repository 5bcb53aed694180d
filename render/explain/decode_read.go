package explain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// TypeOf returns the type of a value that has a form of its own, empty for others.
func TypeOf(text string) string {
	text = strings.TrimSpace(text)
	if _, _, _, ok := schema.ParseFID(text); ok {
		return "fid"
	}
	if _, ok := parseNID(text); ok {
		return "nid"
	}
	for _, f := range forms {
		if regexp.MustCompile(f.pattern).MatchString(text) {
			return f.name
		}
	}
	return ""
}

// forms are types by how their values are written. They are compiled when a value is looked at.
var forms = [...]struct{ name, pattern string }{
	{"xid", `^x[0-9]+$`},
	{"obd_uuid", `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`},
	{"lustre_handle", `^0x[0-9a-fA-F]{15,16}$`},
	{"log", `^(fl [A-Z][a-z]+:|[0-9a-f]{8}:[0-9a-f]{8}:)`}, // flags of a request, or a whole line
}

func (v *Decoded) read(text string) error {
	if text == "" {
		return errors.New("the value is empty")
	}
	one := v.Field
	if one.Kind == schema.Array {
		one = one.Elem
	}
	format := v.Field.Format
	if format == schema.Plain && one.Kind == schema.Record {
		format = one.Type.Atom
	}
	switch {
	case format == schema.Handle && strings.HasPrefix(text, "0x"): // as it is shown, not the bytes of the wire
		u, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return fmt.Errorf("%s is not a handle: they have 8 bytes", text)
		}
		v.Bytes = word(u, v.Big)
		return nil
	case (format == schema.OSTID || format == schema.OSTIDPlain) && strings.Contains(text, ":"):
		return v.readObjectID(text)
	case v.Type == "fid" && strings.Contains(text, ":"), format == schema.FID && strings.Count(text, ":") == 2:
		return v.readFID(text)
	case v.Type == "nid":
		return v.readNID(text)
	case v.Type == "xid":
		return v.readInteger(strings.TrimPrefix(text, "x"))
	case format == schema.NID && strings.Contains(text, "@"):
		n, ok := parseNID(text)
		if !ok {
			return fmt.Errorf("%q is not a NID such as 192.0.2.1@tcp", text)
		}
		v.Bytes = longNID(n)
		return nil
	case format == schema.Version && strings.Contains(text, "."):
		n, ok := schema.ParseVersion(text)
		if !ok {
			return fmt.Errorf("%q is not a version such as 2.17.0.0", text)
		}
		v.put(uint64(n))
		return nil
	case format == schema.UUID:
		if b, err := wireBytes(text); err == nil && len(b) == v.Field.Size {
			v.Bytes = b
			return nil
		}
		return v.readText(text)
	}
	switch v.Field.Kind {
	case schema.Uint, schema.Int:
		return v.readInteger(text)
	case schema.Text, schema.Strings:
		return v.readText(text)
	case schema.Virtual:
		return errors.New("this field is computed from others")
	}
	b, err := wireBytes(text)
	v.Bytes = b
	return err
}

// readText takes text, padded with NULs to the size of the field.
func (v *Decoded) readText(text string) error {
	n := v.Field.Size
	if n > 0 && len(text) > n {
		return fmt.Errorf("%d bytes, but the value has %d", len(text), n)
	}
	v.Bytes = append([]byte(text), make([]byte, max(0, n-len(text)))...)
	return nil
}

// readInteger reads a number, a name or names of flags, or bytes.
func (v *Decoded) readInteger(text string) error {
	f := v.Field
	u, err := strconv.ParseUint(text, 0, 64)
	tooLarge := f.Size < 8 && u>>(8*f.Size) != 0
	if err != nil { // a number with a sign, perhaps
		var i int64
		i, err = strconv.ParseInt(text, 0, 64)
		u, tooLarge = uint64(i), f.Size < 8 && (i < -1<<(8*f.Size-1) || i >= 1<<(8*f.Size))
	}
	switch {
	case err != nil:
		var ok bool
		if u, ok = named(f, text); !ok {
			return v.integerBytes(text)
		}
	case tooLarge:
		return fmt.Errorf("%s does not fit into %d bytes", text, f.Size)
	case f.Format == schema.Errno && int32(u) > 0 && f.Name != opcodes.PbStatus.Name:
		u = -u // on the wire they are negative
	}
	v.put(u)
	return nil
}

func (v *Decoded) integerBytes(text string) error {
	b, err := wireBytes(text)
	switch {
	case err != nil && v.Field.Names != nil:
		return fmt.Errorf("%q is not a number, not a name of %s and not hex", text, v.Field.Names.Group)
	case err != nil:
		return fmt.Errorf("%q is neither a number nor hex", text)
	case len(b) != v.Field.Size:
		return fmt.Errorf("%d bytes, but the value has %d", len(b), v.Field.Size)
	}
	v.Bytes = b
	return nil
}

// named returns the number of a name, or of names of flags separated by | or
// commas. Errors are negative on the wire, but for those of locks, which only the status of a reply has.
func named(f *schema.Field, text string) (u uint64, ok bool) {
	if f.Format != schema.Errno {
		if f.Names == nil {
			return 0, false
		}
		return records.NamedValue(f.Names, text)
	}
	u, ok = records.NamedValue(schema.Errnos, text)
	if !ok && f.Name == opcodes.PbStatus.Name {
		return records.NamedValue(opcodes.LdlmError, text)
	}
	return -u, ok
}

func (v *Decoded) put(u uint64) {
	big := v.Field.Order.Is(v.Big)
	if v.Bytes = word(u, big); big {
		v.Bytes = v.Bytes[8-v.Field.Size:]
	} else {
		v.Bytes = v.Bytes[:v.Field.Size]
	}
	switch {
	case v.Type == "xid":
		v.Note = xidNote(u)
	case v.Field.Name == opcodes.PbStatus.Name && int32(u) > 0:
		if e, ok := opcodes.LdlmError.Find(opcodes.LdlmError.Name(u)); ok {
			v.Note = opcodes.LdlmError.Full(e) + " in operations on locks: " + e.Doc
		}
	case v.Field.Format == schema.Errno:
		if e, ok := schema.Errnos.Find(schema.Errnos.Name(uint64(-int64(int32(u))))); ok {
			v.Note = e.Doc
		}
	}
}

// xidNote returns the time in an xid: a client starts with the seconds since
// the epoch, shifted by 20 bits, and adds 64 or more for each RPC.
func xidNote(u uint64) string {
	const year2000, year2100 = 946684800, 4102444800
	secs := u >> 20
	if secs < year2000 || secs > year2100 {
		return ""
	}
	return "A client starts to count with its start time; this number stands for " +
		time.Unix(int64(secs), 0).UTC().Format("2006-01-02 15:04:05") + " UTC."
}

func (v *Decoded) readFID(text string) error {
	seq, oid, ver, ok := schema.ParseFID(text)
	if !ok {
		return fmt.Errorf("%q is not a FID such as [0x200000401:0x1:0x0]", text)
	}
	var order binary.AppendByteOrder = binary.LittleEndian
	if v.Big {
		order = binary.BigEndian
	}
	v.Bytes = track.FID{Seq: seq, OID: oid, Ver: ver}.Append(nil, order)
	v.Note = fidNote(seq, oid)
	return nil
}

// fidNote names the kind of FID by its sequence, and the file that it is when
// each target has one of that number.
func fidNote(seq uint64, oid uint32) string {
	v, ok := opcodes.FidSeq.Find(opcodes.FidSeq.Name(seq))
	if !ok {
		return ""
	}
	note := "Sequence " + opcodes.FidSeq.Full(v) + ": " + sentence(v.Doc)
	if o, ok := opcodes.LocalOid.Find(opcodes.LocalOid.Name(uint64(oid))); ok && v.Name == "LOCAL_FILE" {
		note += " Object " + o.Name + ", " + o.Doc
	}
	return note
}

func longNID(n lnet.NID) []byte {
	b := make([]byte, 20)
	b[0], b[1] = n.Len-4, n.Type
	binary.BigEndian.PutUint16(b[2:], n.Num)
	copy(b[4:], n.Addr[:n.Len])
	return b
}

// parseNID reads a NID, also behind the process id of LNet, as logs name a peer:
// 12345-192.0.2.1@tcp.
func parseNID(text string) (lnet.NID, bool) {
	if pid, nid, ok := strings.Cut(text, "-"); ok && strings.Trim(pid, "0123456789") == "" {
		text = nid
	}
	return lnet.ParseNID(text)
}

// readNID reads a NID in text, as the number of the short form, or as bytes:
// 8 of the short form, 8 or more of struct lnet_nid.
func (v *Decoded) readNID(text string) error {
	if n, ok := parseNID(text); ok {
		v.Field, v.Bytes = schema.Sub("nid", &opcodes.LnetNid).Resolve(), longNID(n)
		return nil
	}
	if err := v.readInteger(text); err == nil {
		return nil
	}
	b, err := wireBytes(text)
	if err != nil {
		return fmt.Errorf("%q is not a NID such as 192.0.2.1@tcp, not a number and not hex", text)
	}
	s := opcodes.StructNamed("lnet_nid")
	if len(b) != s.Size {
		return fmt.Errorf("%d bytes, but a NID has 8 or %d", len(b), s.Size)
	}
	v.Field, v.Bytes = schema.Sub("nid", &s).Resolve(), b
	return nil
}

// readObjectID reads the id of an object: a FID, or sequence and id as 0x0:123.
func (v *Decoded) readObjectID(text string) error {
	sequence, id, _ := strings.Cut(text, ":")
	if strings.Contains(id, ":") {
		return v.readFID(text)
	}
	seq, err := strconv.ParseUint(sequence, 0, 64)
	n, err2 := strconv.ParseUint(id, 0, 64)
	if err != nil || err2 != nil {
		return fmt.Errorf("%q is not an object id such as 0x0:123", text)
	}
	v.Bytes = append(word(n, v.Big), word(seq, v.Big)...)
	return nil
}

// word returns the bytes of a number in the sender's order.
func word(u uint64, big bool) []byte {
	if big {
		return binary.BigEndian.AppendUint64(nil, u)
	}
	return binary.LittleEndian.AppendUint64(nil, u)
}
