package explain_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/explain"
)

// FuzzDecode: whatever the arguments, there is an answer or an error.
func FuzzDecode(f *testing.F) {
	for _, s := range [][2]string{{"obd_connect_flags", "0xae7a5e7be344d2b8"}, {"obd_connect_data", "2800"}, {"fid", "[1:2:3]"},
		{"nid", "192.0.2.1@tcp"}, {"nid", "00000000000000000000000000000000ffffffff"}, {"errno", "-9223372036854775808"},
		{"xid", "18446744073709551615"}, {"version", "2.17"}, {"lm_buflens", "0000"}, {"layout", "d00bd60b"}, {"pb_jobid", "x"},
		{"mgs_nidtbl_entry", "00"}, {"llog_log_hdr", "ffffffff"}, {"lov_comp_md_v1", "d00bd60bffffffff"}} {
		f.Add(s[0], s[1], true)
		f.Add(s[0], s[1], false)
	}
	index := opcodes.FieldIndex()
	d := explain.NewDecoder(80, index)
	f.Fuzz(func(t *testing.T, kind, value string, big bool) {
		list, err := d.Parse(kind, value, big)
		assert.That(t, err != nil || len(list) != 0, "%q %q: neither value nor error", kind, value)
		for _, v := range list {
			assert.That(t, wiretest.Shown(d.AppendText, v) != "" && len(d.AppendJSON(nil, v)) != 0, "%q %q: nothing to show", kind, value)
		}
	})
}

// FuzzAttributes: whatever the text, each attribute that is read can be shown.
func FuzzAttributes(f *testing.F) {
	for _, s := range []string{"# file: a\\040b\ntrusted.lma=0x00", "user.a=\"x\\012\\\"\"", "lustre.lov=0s0AvRCw==", "trusted.link=0xdff1ea11ffffffff",
		"system.posix_acl_access=0x0200000001", "trusted.lmv=0xd00cd20cffffffff", "trusted.fid=", "x", "# file: \\"} {
		f.Add(s)
	}
	d := explain.NewDecoder(80, opcodes.FieldIndex())
	f.Fuzz(func(t *testing.T, text string) {
		list, errs := explain.ParseAttributes(text)
		if explain.AreAttributes(text) && !strings.Contains(text, "#") && len(list)+len(errs) == 0 {
			t.Errorf("%q: neither an attribute nor an error", text)
		}
		for _, a := range list {
			v := d.Attribute(a, false)
			assert.That(t, wiretest.Shown(d.AppendText, v) != "" && len(d.AppendJSON(nil, v)) != 0, "%q: nothing to show", text)
		}
	})
}

// TestDecodeNumbers decodes statuses with the sign that they have on the wire, and
// values of a group whose name is also that of a struct.
func TestDecodeNumbers(t *testing.T) {
	d := explain.NewDecoder(80, opcodes.FieldIndex())
	for _, tt := range []struct{ kind, value, want string }{
		{"pb_status", "301", "pb_status  301\n  ELDLM_LOCK_ABORTED in operations on locks"},
		{"pb_status", "ELDLM_LOCK_ABORTED", "pb_status  301\n  ELDLM_LOCK_ABORTED"},
		{"pb_status", "LOCK_ABORTED", "pb_status  301\n"},
		{"pb_status", "-2", "pb_status  -2 (ENOENT)\n"},
		{"pb_status", "ENOENT", "pb_status  -2 (ENOENT)\n"},
		{"pb_status", "feffffff", "pb_status  -2 (ENOENT)\n"},
		{"errno", "2", "errno  -2 (ENOENT)\n"},
		{"lustre_handle", "0x915b5684cc3cfe2b", "lustre_handle  0x915b5684cc3cfe2b\n"},
		{"lustre_handle", "2bfe3ccc84565b91", "lustre_handle  0x915b5684cc3cfe2b\n"},
		{"mbo_open_handle", "0x915b5684cc3cfe2b", "0x915b5684cc3cfe2b\n"},
		{"pb_handle", "0x915b5684cc3cfe2b", "0x915b5684cc3cfe2b\n"},
		{"ost_id", "0x0:123", "0x0:123\n"},
		{"ost_id", "[0x1c0000400:0x1:0x0]", "[0x1c0000400:0x1:0x0]\n"},
		{"lgl_oi", "0x5:123", "0x5:123\n"},
		{"ldlm_inodebits", "0x1b", "LOOKUP"},
		{"ldlm_inodebits", "0x1b", "PERM"},
		{"ldlm_inodebits", "LOOKUP|UPDATE", "0x3"},
		{"ldlm_inodebits", "1b00000000000000", "ldlm_inodebits  0x1b\n"},
		{"fail_loc", "0x80000119", " 0-15  OBD_FAIL_MDS_REINT_NET_REP\n   31  CFS_FAIL_ONCE"},
	} {
		list, err := d.Parse(tt.kind, tt.value, false)
		if err != nil || len(list) != 1 {
			t.Errorf("%s %s: %d values, %v", tt.kind, tt.value, len(list), err)
			continue
		}
		assert.Contains(t, wiretest.Shown(d.AppendText, list[0]), tt.want, tt.kind, tt.value)
	}
}

// TestDecodeSizes checks numbers that fit into their fields, and the errors for those that do not.
func TestDecodeSizes(t *testing.T) {
	d := explain.NewDecoder(80, opcodes.FieldIndex())
	for _, tt := range []struct{ kind, value, want string }{
		{"mbo_uid_h", "4294967295", ""},
		{"mbo_uid_h", "+4294967295", ""},
		{"mbo_uid_h", "-2147483648", ""},
		{"mbo_uid_h", "4294967296", "does not fit into 4 bytes"},
		{"mbo_uid_h", "+4294967296", "does not fit into 4 bytes"},
		{"mbo_uid_h", "-2147483649", "does not fit into 4 bytes"},
		{"mbo_uid_h", "0102030405060708", "8 bytes, but the value has 4"},
		{"mbo_uid_h", "0x200000401:0x1:0x0", "neither a number nor hex"},
		{"ldlm_mode", "NONSENSE", "not a name of ldlm_mode"},
	} {
		_, err := d.Parse(tt.kind, tt.value, false)
		if tt.want == "" {
			assert.NoError(t, err)
		} else {
			assert.That(t, err != nil && strings.Contains(err.Error(), tt.want), "%s %s: %v", tt.kind, tt.value, err)
		}
	}
}

// TestDecodeAll decodes bytes of several lengths and patterns as each type.
func TestDecodeAll(t *testing.T) {
	index := opcodes.FieldIndex()
	d := explain.NewDecoder(80, index)
	orders := []bool{false, true}
	if !wiretest.All {
		orders = orders[:1]
	}
	for i, n := range []int{8, 200} {
		for k, fill := range []byte{1, 0xff} {
			if !wiretest.All && i != k {
				continue
			}
			b := make([]byte, n)
			for i := range b {
				b[i] = fill
			}
			text := hex.EncodeToString(b)
			for _, name := range explain.TypeNames(index) {
				for _, big := range orders {
					list, err := d.Parse(name, text, big)
					if err != nil {
						continue
					}
					for _, v := range list {
						wiretest.Shown(d.AppendText, v)
						d.AppendJSON(nil, v)
					}
				}
			}
		}
	}
}

// tooLong returns the first line of several words that is longer than a width.
func tooLong(text string, width int) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if render.Width([]byte(line)) > width && len(strings.Fields(line)) > 1 {
			return line
		}
	}
	return ""
}

// TestExplainAll explains everything, at the width of a page and others; without the tag all
// the fields and a third of the other names, at the width of a page.
func TestExplainAll(t *testing.T) {
	index := opcodes.FieldIndex()
	const page = 80 // columns without a terminal
	widths := []int{page}
	if wiretest.All {
		widths = append(widths, 40, 200)
	}
	for _, width := range widths {
		for i, name := range index.TopicNames(true) {
			if !wiretest.All && len(index.Find(name)) == 0 && i%3 > 0 {
				continue
			}
			topics := index.Topics(name)
			assert.That(t, len(topics) != 0, "%s is listed and cannot be explained", name)
			for i := range topics {
				x := explain.Topic(index, &topics[i])
				var shown schema.Marked
				x.AppendText(&shown, width)
				text := string(shown.Text)
				assert.That(t, len(text) != 0, "%s: nothing to show", name)
				line := tooLong(text, width)
				assert.That(t, width < page || line == "", "%s: more than %d columns: %s", name, width, line)
				if width == page { // it has no width
					assert.That(t, len(x.AppendJSON(nil)) != 0, "%s: no JSON", name)
				}
			}
		}
	}
}
