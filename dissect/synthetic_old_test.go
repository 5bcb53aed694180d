package dissect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
)

// olderCases are messages as older or newer releases send them: what becomes
// of the buffers of a synthetic message, and the notes that may be made.
var olderCases = []struct {
	name, form string
	reply      bool
	change     func(parts []blob) []blob
	notes      []string
	gone       string // what begins with it is not there
}{
	{name: "body without job id", form: "OST_STATFS -", reply: true, change: cutAt(0, 152), gone: "ptlrpc_body.pb_jobid"},
	{name: "connect data of 72 bytes", form: "MDS_CONNECT -", change: cutAt(4, 72), gone: "buffers.connect_data."},
	{name: "value block of 40 bytes", form: "LDLM_ENQUEUE extent", reply: true, change: cutAt(2, 40), gone: "buffers.dlm_lvb.lvb_"},
	{name: "swap of 8 bytes", form: "MDS_SWAP_LAYOUTS -", change: cutAt(2, 8), gone: "buffers.swap_layouts.msl_dv"},
	{name: "quotactl without pool", form: "OST_QUOTACTL -", change: cutAt(1, 112), gone: "buffers.obd_quotactl.qc_poolname"},
	{name: "fewer buffers in a request", form: "MDS_REINT CREATE", change: firstBufs(6), gone: "buffers."},
	{name: "fewer buffers in a reply", form: "MDS_GETATTR -", reply: true, change: firstBufs(6), gone: "buffers."},
	{name: "a failed open", form: "LDLM_ENQUEUE intent:IT_OPEN", reply: true, change: firstBufs(2), gone: "buffers."},
	{name: "open of 2.12", form: "LDLM_ENQUEUE intent:IT_OPEN", reply: true, change: firstBufs(9), gone: "buffers."},
	{name: "body alone", form: "MDS_STATFS -", reply: true, change: firstBufs(1), gone: "buffers."},
	{name: "lock with one handle", form: "LDLM_CANCEL -", change: cutAt(1, 96), gone: "buffers.dlm_req.lock_handle[1]"},
	{name: "an unknown buffer more", form: "OST_STATFS -", reply: true, change: more(raw([]byte("of a newer release"))), notes: []string{"tail"}},
	{name: "an empty buffer more", form: "OST_STATFS -", reply: true, change: more(blob{})},
	{name: "a longer struct", form: "OST_STATFS -", reply: true, change: longer(1, "newer!!!"), notes: []string{"tail"}},
	{name: "a longer body", form: "OBD_PING -", change: longer(0, "newer!!!"), notes: []string{"tail"}},
	{name: "a longer struct with nothing in it", form: "OST_STATFS -", reply: true, change: longer(1, "\x00\x00\x00\x00\x00\x00\x00\x00")},
	{name: "longer connect data", form: "OST_CONNECT -", change: longer(4, "newer!!!"), notes: []string{"tail"}},
	{name: "a shorter struct", form: "OST_STATFS -", reply: true, change: cutAt(1, 100), notes: []string{"short"}, gone: "buffers.obd_statfs."},
}

// cutAt takes the end off a buffer.
func cutAt(buf, size int) func([]blob) []blob {
	return func(parts []blob) []blob {
		p := &parts[buf]
		p.data = p.data[:size]
		p.wants = slices.DeleteFunc(p.wants, func(w want) bool { return w.off+len(w.bytes) > size })
		return parts
	}
}

func firstBufs(n int) func([]blob) []blob { return func(parts []blob) []blob { return parts[:n] } }

func more(extra blob) func([]blob) []blob {
	return func(parts []blob) []blob { return append(parts, blob{data: extra.data}) }
}

func longer(buf int, tail string) func([]blob) []blob {
	return func(parts []blob) []blob {
		parts[buf].data = append(parts[buf].data, tail...)
		return parts
	}
}

// TestOlderAndNewerForms decodes messages whose buffers are shorter, longer,
// fewer or more than those of the release that the tables describe.
func TestOlderAndNewerForms(t *testing.T) {
	c := &synthetic{readFacts(t)}
	for _, one := range olderCases {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s big=%v", one.name, big), func(t *testing.T) {
				b := &builder{factTables: c.f, big: big}
				form := c.formNamed(b, one.form)
				messages := []blob{c.message(b, form, false, synthCase{}), c.message(b, form, true, synthCase{})}
				which, kind := 0, lnet.Request
				if one.reply {
					which, kind = 1, lnet.Reply
				}
				parts, names := c.buffers(b, form, one.reply, synthCase{})
				parts = one.change(parts)
				messages[which] = b.packMessage("lustre_msg", values{"lm_secflvr": 0, "lm_flags": 3},
					append(names, "buffers.buffer")[:len(parts)], parts)
				send(t, messages[0].data, messages[1].data, func(m *Message) {
					if m.Kind == kind {
						checkForm(t, m, messages[which].wants, one.notes, one.gone)
					}
				})
			})
		}
	}
}

// checkForm holds that what was sent is there, and nothing else of what is
// gone.
func checkForm(t *testing.T, m *Message, wants []want, notes []string, gone string) {
	t.Helper()
	var tree Tree
	tree.Build(m)
	var codes []string
	for _, n := range tree.Notes {
		codes = append(codes, n.Code)
	}
	if !slices.Equal(codes, notes) {
		t.Errorf("notes %v, not %v", tree.Notes, notes)
	}
	nodes := paths(&tree)
	sent := make(map[string]bool)
	for _, w := range wants {
		sent[w.path] = true
		if nodes[w.path] == nil && replaced(m, &tree, nodes, w) {
			continue
		}
		checkNode(t, m, &tree, nodes[w.path], w)
	}
	for path, n := range nodes {
		if gone != "" && strings.HasPrefix(path, gone) && &tree.Nodes[n.End-1] == n && !sent[path] && !n.Is(Missing) && n.Src == InMessage {
			t.Errorf("%s is there", path)
		}
	}
}
