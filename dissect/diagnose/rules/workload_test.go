package rules

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// findRequest returns the first request in a sample for which is returns true.
func findRequest(t *testing.T, sample string, is func(*dissect.Message) bool) *dissect.Message {
	t.Helper()
	var found *dissect.Message
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		if found == nil && m.Kind == lnet.Request && m.Msg != nil && is(m) {
			found = m.Clone()
		}
	}})
	wiretest.Play(d, wiretest.ReadSample(t, samplePath(sample)))
	if found == nil {
		t.Fatalf("%s: no such request", sample)
	}
	return found
}

// repeat returns the findings of a rule in n requests that are like one of a sample,
// each after a pause in nanoseconds and changed by a func.
func repeat(t *testing.T, code string, request *dissect.Message, n int, pause int64, change func(i int, m *dissect.Message)) []*diagnose.Finding {
	t.Helper()
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, code)}})
	var tree dissect.Tree
	for i := range n {
		m := request.Clone()
		m.Frame, m.Number = int64(i+1), int64(i+1)
		m.Time += int64(i) * pause
		m.RPC.XID += uint64(i) * 64
		m.LNet.MatchBits = m.RPC.XID
		m.Msg, _ = tree.ParseRPC(m)
		change(i, m)
		e.Message(m)
	}
	e.Close()
	return e.Findings()
}

// write changes a write of one range.
func write(m *dissect.Message, offset, size, flags uint64) {
	setField(m, 3, "niobuf_remote", "rnb_offset", offset)
	setField(m, 3, "niobuf_remote", "rnb_len", size)
	setField(m, 3, "niobuf_remote", "rnb_flags", flags)
}

// TestAccess checks the rules about how objects are read and written.
func TestAccess(t *testing.T) {
	request := findRequest(t, "jobs.pcap.zst", func(m *dissect.Message) bool { return m.RPC.Opcode == opcodes.OST_WRITE })
	const kib = 1 << 10
	sync := opcodes.BrwSync
	grant := opcodes.BrwFromGrant
	random := func(i int) uint64 { return uint64(i*i*7919+i*104729) % 100000 }
	for _, tt := range []struct {
		name   string
		n      int
		change func(i int, m *dissect.Message)
		code   string // of the only rule that has a finding, empty: none
		severe diagnose.Severity
		text   string
	}{
		{"full size", 100, func(i int, m *dissect.Message) { write(m, uint64(i)<<20, 1<<20, grant) }, "", 0, ""},
		{"out of order", 100, func(i int, m *dissect.Message) { write(m, uint64(i^3)<<20, 1<<20, grant) }, "", 0, ""},
		{"a few", 20, func(i int, m *dissect.Message) { write(m, uint64(i)*64*kib, 64*kib, sync|grant) }, "", 0, ""},
		{"direct", 40, func(i int, m *dissect.Message) { write(m, uint64(i)*64*kib, 64*kib, sync|grant) }, "io.small_rpcs", diagnose.Note,
			"with 32 RPCs of 64 KiB on average, though an RPC may have at least 1 MiB. All were synchronous, as with O_DIRECT or O_SYNC."},
		{"small, unordered", 2100, func(i int, m *dissect.Message) { write(m, uint64(i^5)*4*kib, 4*kib, grant) }, "io.small_rpcs", diagnose.Warning, "with 2048 RPCs of 4 KiB on average"},
		{"random", 200, func(i int, m *dissect.Message) { write(m, random(i)*4*kib, 4*kib, grant) }, "io.random", diagnose.Note, "at random places: 192 RPCs of 4 KiB on average, 100 % of which"},
		{"strided", 200, func(i int, m *dissect.Message) { write(m, uint64(i)*128*kib, 4*kib, grant) }, "", 0, ""},
		{"unaligned", 50, func(i int, m *dissect.Message) { write(m, uint64(i)*47008+100, 1000*kib, grant) }, "io.unaligned", diagnose.Note, "in pieces that begin inside a page: 32 of "},
		{"log", 200, func(i int, m *dissect.Message) { write(m, uint64(i)*1000, 1000, grant) }, "", 0, ""},
		{"no grant", 20, func(i int, m *dissect.Message) {
			write(m, uint64(i)<<20, 1<<20, sync)
			setField(m, 1, "obdo", "o_grant", 100*kib)
			setField(m, 1, "obdo", "o_undirty", 64<<20)
		}, "io.no_grant", diagnose.Warning, "for 20 of 20 writes, which went to the disk one by one instead of through its cache: it had 100 KiB left and asked for 64 MiB."},
		{"over quota", 20, func(i int, m *dissect.Message) {
			write(m, uint64(i)<<20, 1<<20, sync)
			setField(m, 1, "obdo", "o_grant", 8<<20)
		}, "", 0, ""},
		{"direct without grant", 20, func(i int, m *dissect.Message) {
			write(m, uint64(i)<<20, 1<<20, sync|opcodes.BrwLocked)
			setField(m, 1, "obdo", "o_grant", 0)
		}, "", 0, ""},
	} {
		for _, code := range []string{"io.small_rpcs", "io.random", "io.unaligned", "io.no_grant"} {
			got := repeat(t, code, request, tt.n, 1e6, tt.change)
			if code == tt.code {
				checkFinding(t, tt.name, got, tt.severe, tt.text)
			} else if len(got) > 0 {
				t.Errorf("%s: %s: %s", tt.name, code, got[0].Text)
			}
		}
	}
}

// TestStorms checks the rules about metadata requests.
func TestStorms(t *testing.T) {
	request := func(sample string, opc uint32, prefix string) *dissect.Message {
		return findRequest(t, sample, func(m *dissect.Message) bool {
			return m.RPC.Opcode == opc && (prefix == "" || m.RPC.Variant != nil && m.RPC.Variant.Name == prefix)
		})
	}
	stat := request("jobs.pcap.zst", opcodes.LDLM_ENQUEUE, "GETATTR")
	open := request("jobs.pcap.zst", opcodes.LDLM_ENQUEUE, "OPEN")
	readdir := request("directories.pcap.zst", opcodes.MDS_READPAGE, "")
	same := func(int, *dissect.Message) {}
	other := func(i int, m *dissect.Message) {
		for k := range 4 { // f_oid of mbo_fid1
			m.Msg.Buf(3)[8+k] = byte(i >> (8 * k))
		}
	}
	for _, tt := range []struct {
		name    string
		request *dissect.Message
		n       int
		pause   int64
		change  func(int, *dissect.Message)
		code    string
		severe  diagnose.Severity
		text    string
	}{
		{"stat", stat, 150, 1e7, same, "metadata.stat_storm", diagnose.Note, "asked 100 times in 990 ms for the attributes of "},
		{"stat, for long", stat, 1100, 1e7, same, "metadata.stat_storm", diagnose.Warning, "asked 1100 times"},
		{"stat, now and then", stat, 300, 1e9, same, "", 0, ""},
		{"find", stat, 400, 2e6, other, "", 0, ""},
		{"find, many", stat, 30000, 2e5, other, "metadata.stat_storm", diagnose.Note, " stat requests in "},
		{"open", open, 150, 1e7, same, "metadata.open_storm", diagnose.Note, "asked 100 times in 990 ms for an open of "},
		{"listing", readdir, 150, 1e7, same, "metadata.readdir_storm", diagnose.Note, "asked 100 times in 990 ms for the entries of "},
		{"large directory", readdir, 5000, 1e7, func(i int, m *dissect.Message) { setField(m, 1, "mdt_body", "mbo_size", uint64(i)) }, "", 0, ""},
	} {
		for _, code := range []string{"metadata.stat_storm", "metadata.open_storm", "metadata.readdir_storm"} {
			got := repeat(t, code, tt.request, tt.n, tt.pause, tt.change)
			if code == tt.code && len(got) > 0 {
				checkFinding(t, tt.name, got[:1], tt.severe, tt.text)
			} else if code == tt.code {
				t.Errorf("%s: no finding", tt.name)
			} else if len(got) > 0 {
				t.Errorf("%s: %s: %s", tt.name, code, got[0].Text)
			}
		}
	}
}
