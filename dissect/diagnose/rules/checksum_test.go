package rules

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// TestChecksumsOfSamples computes the checksums of all reads and writes of a real
// capture: they are what client and server say.
func TestChecksumsOfSamples(t *testing.T) {
	for sample, want := range map[string]int{"jobs.pcap.zst": 16, "rdma_data.pcap.zst": 3} {
		transfers := make(map[uint64]*checkedTransfer)
		n := 0
		d := dissect.New(dissect.Options{Data: true, Join: true, Handle: func(m *dissect.Message) {
			if m.RPC.Opcode != opcodes.OST_READ && m.RPC.Opcode != opcodes.OST_WRITE {
				return
			}
			x := transfers[m.RPC.XID]
			switch {
			case m.Kind == lnet.Request:
				c, _ := opcodes.DataChecksumOf(m.Msg)
				x = &checkedTransfer{kind: c.Kind, ranges: opcodes.DataRanges(m.Msg, nil)}
				transfers[m.RPC.XID] = x
				x.compute(opcodes.ShortData(m.Msg))
			case x == nil:
			case len(m.Content) > 0:
				x.compute(m.Content)
			case m.Kind == lnet.Reply && m.RPC.Status >= 0:
				if short := opcodes.ShortData(m.Msg); len(short) > 0 {
					x.compute(short)
				}
				if c, ok := opcodes.DataChecksumOf(m.Msg); ok && x.length > 0 {
					if n++; c != x.captured {
						t.Errorf("%s: frame %d: %s in the reply, %s of %d bytes", sample, m.Frame, sumText(c), sumText(x.captured), x.length)
					}
				}
			}
		}})
		wiretest.Play(d, wiretest.ReadSample(t, samplePath(sample)))
		if n < want {
			t.Errorf("%s: %d checksums", sample, n)
		}
	}
}

// TestChecksumMismatch changes checksums and data of writes and reads.
func TestChecksumMismatch(t *testing.T) {
	for name, tt := range map[string]struct {
		data   bool // bulk data are in the messages
		change func(m *dissect.Message)
		want   string // empty: no finding
	}{
		"nothing":            {change: func(*dissect.Message) {}},
		"nothing, with data": {data: true, change: func(*dissect.Message) {}},
		"server": {change: func(m *dissect.Message) {
			if isReply(m, opcodes.OST_WRITE) {
				setField(m, 1, "obdo", "o_cksum", 0x12345678)
			}
		}, want: "the server 0x12345678 (T10IP4K)."},
		"server, with data": {data: true, change: func(m *dissect.Message) {
			if isReply(m, opcodes.OST_WRITE) {
				setField(m, 1, "obdo", "o_cksum", 0x12345678)
			}
		}, want: "the data in the capture have that of the client"},
		"client, with data": {data: true, change: func(m *dissect.Message) {
			if m.Kind == lnet.Request && m.RPC.Opcode == opcodes.OST_WRITE {
				setField(m, 1, "obdo", "o_cksum", 0x12345678)
			}
		}, want: "the data in the capture have that of the server"},
		"network, with data": {data: true, change: func(m *dissect.Message) {
			if isReply(m, opcodes.OST_WRITE) {
				setField(m, 1, "obdo", "o_cksum", 0x12345678)
			}
			if m.RPC.Opcode == opcodes.OST_WRITE && len(m.Content) > 0 {
				m.Content[0]++
			}
		}, want: "so they changed before and after the capture point"},
		"another kind": {change: func(m *dissect.Message) {
			if isReply(m, opcodes.OST_WRITE) {
				setField(m, 1, "obdo", "o_flags", opcodes.ObdoFlags.Number("CKSUM_ADLER"))
			}
		}},
		"altered capture": {data: true, change: func(m *dissect.Message) {
			if m.RPC.Opcode == opcodes.OST_READ && len(m.Content) > 0 {
				m.Content[0]++
			}
		}},
	} {
		o := diagnose.Options{Rules: []*diagnose.Rule{findRule(t, "checksum.mismatch")}, Data: tt.data}
		got := replayOptions(t, o, "jobs.pcap.zst", func(m *dissect.Message) bool {
			tt.change(m)
			return true
		})
		switch {
		case tt.want == "" && len(got) > 0:
			t.Errorf("%s: %s", name, got[0].Text)
		case tt.want != "" && len(got) == 0:
			t.Errorf("%s: no finding", name)
		case tt.want != "":
			checkFinding(t, name, got[:1], diagnose.Error, tt.want)
		}
	}
}

// TestReadAgain checks reads that are repeated after a reply without an error.
func TestReadAgain(t *testing.T) {
	var messages []*dissect.Message
	d := dissect.New(dissect.Options{Data: true, Join: true, Handle: func(m *dissect.Message) { messages = append(messages, m.Clone()) }})
	wiretest.Play(d, wiretest.ReadSample(t, samplePath("jobs.pcap.zst")))
	isRead := func(m *dissect.Message) bool { return m.Kind == lnet.Request && m.RPC.Opcode == opcodes.OST_READ }
	first := slices.IndexFunc(messages, isRead)
	second := first + 1 + slices.IndexFunc(messages[first+1:], isRead)
	var tree dissect.Tree
	parse := func(m *dissect.Message) {
		if m.Kind == lnet.Request || m.Kind == lnet.Reply {
			m.Msg, _ = tree.ParseRPC(m)
		}
	}
	again := messages[second]
	parse(again)
	setField(again, 1, "obdo", "o_flags", opcodes.ObdoFlags.Number("CKSUM_T10IP4K")|opcodes.ObdoFlags.Bit("RECOV_RESEND"))
	setField(again, 3, "niobuf_remote", "rnb_offset", 0)
	replied := slices.IndexFunc(messages, func(m *dissect.Message) bool {
		return m.Kind == lnet.Reply && m.RPC.Opcode == opcodes.OST_READ && m.RPC.XID == messages[first].RPC.XID
	})
	messages = slices.Delete(messages[:replied+1], second, second+1)
	messages = append(messages, again)
	for _, altered := range []bool{false, true} {
		e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, "checksum.mismatch")}, Data: true})
		for _, m := range messages {
			if altered && m.RPC.XID == messages[first].RPC.XID && len(m.Content) > 0 {
				m.Content[0]++
			}
			parse(m)
			e.Message(m)
		}
		e.Close()
		want := "the client did not accept what it got"
		if altered {
			want = "the server computed 0x1ef1fe10 (T10IP4K), but the data in the capture have 0x"
		}
		checkFinding(t, "read again", e.Findings(), diagnose.Error, want)
		assert.Equal(t, e.Findings()[0].Client, messages[first].LNet.Src, want)
	}
}

// TestChecksumLineFirst: a line of a log in front of packets about the same data, which do not name the target, makes no second finding.
func TestChecksumLineFirst(t *testing.T) {
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, "checksum.mismatch")}})
	e.Line(&track.LogLine{Node: oss, Event: debuglog.Event{Kind: debuglog.BadChecksum, Peer: node3, Target: "lustre-OST0000", Name: "lustre-OST0000", Text: "BAD WRITE CHECKSUM"}})
	wiretest.Play(dissect.New(dissect.Options{Handle: e.Message}), wiretest.ReadSample(t, samplePath("checksum.pcap.zst")))
	e.Close()
	checkFinding(t, "line and packets", e.Findings(), diagnose.Error, "The checksums of 1 write and 1 read differed between 192.0.2.3@tcp")
}

// TestMessageChecksums checks that the notes about wrong checksums are counted.
func TestMessageChecksums(t *testing.T) {
	n := 0
	got := replay(t, "checksum.message", "jobs.pcap.zst", func(m *dissect.Message) bool {
		if m.LNet.Src.String() == "192.0.2.2@tcp" && m.LNet.Dst.String() == "192.0.2.3@tcp" && n < 3 {
			m.Note("checksum", "ksock checksum 0x1 should be 0x2")
			n++
		}
		return true
	})
	checkFinding(t, "messages", got, diagnose.Error, "The checksums of 3 messages from 192.0.2.2@tcp to 192.0.2.3@tcp are wrong.")
	if got := replay(t, "checksum.message", "jobs.pcap.zst", func(*dissect.Message) bool { return true }); len(got) > 0 {
		t.Error(got[0].Text)
	}
}
