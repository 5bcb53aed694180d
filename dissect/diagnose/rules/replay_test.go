package rules

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

func findRule(t *testing.T, code string) *diagnose.Rule {
	t.Helper()
	for _, r := range All() {
		if r.Code == code {
			return r
		}
	}
	t.Fatalf("no rule %s", code)
	return nil
}

// replay returns the findings of a rule in a sample whose messages were changed.
// Messages for which change returns false are left out.
func replay(t *testing.T, code, sample string, change func(m *dissect.Message) bool) []*diagnose.Finding {
	t.Helper()
	return replayOptions(t, diagnose.Options{Rules: []*diagnose.Rule{findRule(t, code)}}, sample, change)
}

func replayOptions(t *testing.T, o diagnose.Options, sample string, change func(m *dissect.Message) bool) []*diagnose.Finding {
	t.Helper()
	e := diagnose.New(o)
	d := dissect.New(dissect.Options{Data: o.Data, Join: o.Data, Handle: func(m *dissect.Message) {
		if change(m) {
			e.Message(m)
		}
	}})
	wiretest.Play(d, wiretest.ReadSample(t, samplePath(sample)))
	e.Close()
	return e.Findings()
}

// setField changes a field of a struct in a buffer of a message.
func setField(m *dissect.Message, buffer int, structure, field string, value uint64) {
	f := opcodes.Protocol.StructNamed(structure).Field(field)
	b := m.Msg.Buf(buffer)[f.Off : f.Off+f.Size]
	if f.Size == 8 {
		binary.LittleEndian.PutUint64(b, value)
	} else {
		binary.LittleEndian.PutUint32(b, uint32(value))
	}
}

// isReply reports whether a message is a reply to an operation.
func isReply(m *dissect.Message, opc uint32) bool {
	return m.Kind == lnet.Reply && m.RPC.Opcode == opc && m.Msg != nil
}

func checkFinding(t *testing.T, name string, got []*diagnose.Finding, severity diagnose.Severity, parts ...string) {
	t.Helper()
	if len(got) != 1 {
		t.Errorf("%s: %d findings", name, len(got))
		return
	}
	f := got[0]
	if f.Severity != severity || len(f.Evidence) == 0 {
		t.Errorf("%s: %s with %d pieces of evidence", name, f.Severity, len(f.Evidence))
	}
	for _, part := range parts {
		if !strings.Contains(f.Text, part) {
			t.Errorf("%s: %q lacks %q", name, f.Text, part)
		}
	}
}

// TestRefusals checks the rules about errors of targets: they look for these errors
// only.
func TestRefusals(t *testing.T) {
	errors := map[string]int32{"space.full": opcodes.ENOSPC, "space.read_only": opcodes.EROFS, "io.error": opcodes.EIO}
	words := map[string]string{"space.full": "ENOSPC", "space.read_only": "EROFS", "io.error": "EIO"}
	for code := range errors {
		for as, status := range errors {
			got := replay(t, code, "full_ost.pcap.zst", func(m *dissect.Message) bool {
				if isReply(m, opcodes.OST_WRITE) && m.RPC.Status == opcodes.EDQUOT {
					m.RPC.Status = status
				}
				return true
			})
			if as != code {
				if len(got) != 0 {
					t.Errorf("%s has a finding about %s: %s", code, words[as], got[0].Text)
				}
				continue
			}
			checkFinding(t, code, got, diagnose.Error, "5 writes of 192.0.2.3@tcp", words[code])
			if got[0].Count != 5 {
				t.Errorf("%s: %d times", code, got[0].Count)
			}
		}
	}
}

// TestWritesAgain checks that io.error counts writes of a range that had failed.
func TestWritesAgain(t *testing.T) {
	var first []byte
	got := replay(t, "io.error", "full_ost.pcap.zst", func(m *dissect.Message) bool {
		if m.Kind == lnet.Request && m.RPC.Opcode == opcodes.OST_WRITE {
			if first == nil {
				first = slices.Clone(m.Msg.Buf(1))
			}
			copy(m.Msg.Buf(1), first) // all write the same object
		}
		if isReply(m, opcodes.OST_WRITE) {
			m.RPC.Status = opcodes.EIO
		}
		return true
	})
	checkFinding(t, "io.error", got, diagnose.Error, "the client tried a range that had failed before")
}

// TestTargetState checks which states of targets are reported.
func TestTargetState(t *testing.T) {
	state := func(names ...string) (bits uint64) {
		for _, n := range names {
			bits |= opcodes.ObdStatfsState.Bit(n)
		}
		return bits
	}
	for _, tt := range []struct {
		name     string
		first    uint64 // of the first reply
		later    uint64
		severity diagnose.Severity
		text     string
	}{
		{"nothing", 0, state("NONROT"), 0, ""},
		{"degraded", state("DEGRADED"), state("DEGRADED"), diagnose.Warning, "has a degraded RAID"},
		{"no objects", state("NOCREATE"), state("NOCREATE"), diagnose.Note, "takes no new objects"},
		{"no objects, full", state("NOCREATE"), state("NOCREATE", "ENOSPC"), diagnose.Warning, "is out of space (ENOSPC), and takes no new objects"},
		{"being stopped", state("READONLY"), 0, 0, ""},
		{"read-only", state("READONLY"), state("READONLY"), diagnose.Warning, "is read-only"},
	} {
		n := 0
		got := replay(t, "space.target_state", "full_ost.pcap.zst", func(m *dissect.Message) bool {
			if !isReply(m, opcodes.OST_STATFS) || m.LNet.Dst.String() != "192.0.2.1@tcp" {
				return true
			}
			n++
			value := tt.later
			if n == 1 {
				value = tt.first
			}
			setField(m, 1, "obd_statfs", "os_state", value)
			return true
		})
		switch {
		case tt.severity == 0 && len(got) > 0:
			t.Errorf("%s: %s", tt.name, got[0].Text)
		case tt.severity != 0 && len(got) == 0:
			t.Errorf("%s: nothing in %d replies", tt.name, n)
		case tt.severity != 0:
			checkFinding(t, tt.name, got[:1], tt.severity, tt.text)
		}
	}
}

// TestUnbalanced checks that OSTs are compared by the space that they have left.
func TestUnbalanced(t *testing.T) {
	for _, tt := range []struct {
		percent uint64 // of the space of OST0001 that is left
		found   bool
	}{{100, false}, {90, false}, {70, true}} {
		handles := make(map[uint64]uint64) // of the requests, by xid
		var first uint64
		got := replay(t, "space.unbalanced", "mount.pcap", func(m *dissect.Message) bool {
			switch {
			case m.Kind == lnet.Request && m.RPC.Opcode == opcodes.OST_STATFS:
				handles[m.RPC.XID] = m.RPC.Handle
			case isReply(m, opcodes.OST_STATFS):
				available := uint64(11000)
				if first == 0 {
					first = handles[m.RPC.XID]
				}
				if handles[m.RPC.XID] == first {
					available = available * tt.percent / 100
				}
				setField(m, 1, "obd_statfs", "os_bavail", available)
			}
			return true
		})
		if tt.found {
			checkFinding(t, "unbalanced", got, diagnose.Note, "Of 2 OSTs of lustre")
		} else if len(got) != 0 {
			t.Errorf("%d %%: %s", tt.percent, got[0].Text)
		}
	}
}

// TestStuckLock checks a capture that ends before the client is evicted.
func TestStuckLock(t *testing.T) {
	var ended bool
	got := replay(t, "lock.stuck", "evicted.pcap.zst", func(m *dissect.Message) bool {
		ended = ended || isReply(m, opcodes.OBD_PING) && m.RPC.Status == -107
		return !ended
	})
	checkFinding(t, "lock.stuck", got, diagnose.Note, "did not")
	if got := replay(t, "lock.stuck", "evicted.pcap.zst", func(*dissect.Message) bool { return true }); len(got) != 0 {
		t.Errorf("an evicted client: %s", got[0].Text)
	}
}

// TestDeadlock checks a flock that is refused by a completion callback.
func TestDeadlock(t *testing.T) {
	got := replay(t, "lock.deadlock", "lock_contention.pcap.zst", func(m *dissect.Message) bool {
		if m.Kind == lnet.Request && m.RPC.Opcode == opcodes.LDLM_CP_CALLBACK {
			if d, ok := opcodes.LockDescOf(m.Msg); ok && d.Kind == opcodes.FlockLock && m.LNet.Dst.String() == "192.0.2.4@tcp" {
				setField(m, 1, "ldlm_request", "lock_flags", opcodes.LdlmFlags.Bit("FLOCK_DEADLOCK"))
			}
		}
		return true
	})
	checkFinding(t, "lock.deadlock", got, diagnose.Warning, "192.0.2.4@tcp", "EDEADLK", "192.0.2.3@tcp held a flock in conflict")
}

// lockHook starts a rule and returns its hook for locks, and its findings later.
func lockHook(t *testing.T, code string) (hook func(*locks.Lock), findings func() []*diagnose.Finding) {
	rule := *findRule(t, code)
	start := rule.Start
	rule.Start = func(r *diagnose.Reporter) diagnose.Hooks {
		h := start(r)
		hook = h.Lock
		return h
	}
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{&rule}})
	return hook, e.Findings
}

// playChurn drops locks of files and needs them again after a pause in seconds, in rounds.
func playChurn(lock func(*locks.Lock), files, rounds, pause int, asked bool) {
	at := func(second int) track.Point { return track.Point{Frame: int64(second) + 1, Time: int64(second) * 1e9} }
	for round := range rounds {
		for file := range files {
			l := &locks.Lock{Handle: uint64(round<<20 + file)}
			l.Desc.Kind, l.Desc.Name[0] = opcodes.InodeLock, uint64(file)
			l.Asked, l.Granted = at(round*2*pause), at(round*2*pause)
			l.End = locks.End{How: locks.Canceled, Point: at(round*2*pause + pause)}
			if asked {
				l.Callbacks = []locks.Callback{{Kind: locks.Blocking, Sent: l.End.Point, Obeyed: l.End.Point}}
			}
			lock(l)
		}
	}
}

// TestChurn checks that locks count which are dropped without a callback and needed
// again.
func TestChurn(t *testing.T) {
	for name, tt := range map[string]struct {
		files, rounds, pause int
		asked                bool // for by a callback
		found                bool
		severity             diagnose.Severity
	}{
		"churn":         {files: 40, rounds: 5, pause: 10, found: true, severity: diagnose.Note},
		"much":          {files: 400, rounds: 5, pause: 10, found: true, severity: diagnose.Warning},
		"few files":     {files: 20, rounds: 20, pause: 10},
		"cleared twice": {files: 1000, rounds: 3, pause: 10},
		"slow":          {files: 40, rounds: 5, pause: 100},
		"asked for":     {files: 40, rounds: 5, pause: 10, asked: true},
	} {
		lock, findings := lockHook(t, "lock.lru_churn")
		playChurn(lock, tt.files, tt.rounds, tt.pause, tt.asked)
		got := findings()
		if tt.found {
			checkFinding(t, name, got, tt.severity, fmt.Sprintf("%d times, on %d files", tt.files*(tt.rounds-1), tt.files))
		} else if len(got) != 0 {
			t.Errorf("%s: %s", name, got[0].Text)
		}
	}
}

// What was cut off is not guessed: whose quota it is, and whether a read or write that failed was repeated with success.
func TestErrorsOfCutMessages(t *testing.T) {
	for code, want := range map[string]string{
		"quota.exceeded": "A target of 192.0.2.2@tcp refused 5 writes of 192.0.2.3@tcp with EDQUOT: whose quota is used up is not known.",
		"io.error":       "A target of 192.0.2.2@tcp answered 5 writes of 192.0.2.3@tcp with EIO. Whether they were repeated with success is not known.",
	} {
		severity := map[string]diagnose.Severity{"quota.exceeded": diagnose.Error, "io.error": diagnose.Warning}[code]
		got := replay(t, code, "full_ost.pcap.zst", func(m *dissect.Message) bool {
			if m.RPC.Opcode == opcodes.OST_WRITE {
				m.Msg = nil
				if m.Kind == lnet.Reply && m.RPC.Status == opcodes.EDQUOT && code == "io.error" {
					m.RPC.Status = opcodes.EIO
				}
			}
			return true
		})
		checkFinding(t, code, got, severity, want)
	}
}

// TestUnnamedFullTarget checks that several connections to a target without a name, of which
// each is told other numbers, give one finding.
func TestUnnamedFullTarget(t *testing.T) {
	n := uint64(0)
	got := replay(t, "space.low", "quota_space.pcap.zst", func(m *dissect.Message) bool {
		if isReply(m, opcodes.OST_STATFS) {
			n++
			setField(m, 1, "obd_statfs", "os_bavail", n)
		}
		return true
	})
	if len(got) != 2 { // targets, to each of which two connections lead
		t.Errorf("%d findings, of %d replies", len(got), n)
	}
}

// Where a capture has not all that the server sent, another client may have been back sooner.
func TestRestartByItsClients(t *testing.T) {
	for _, atServer := range []bool{true, false} {
		s := newScene(t)
		for i, c := range []lnet.NID{node3, node4} {
			s.mounted(c, oss, ost0, handle*uint64(i+1))
			if !atServer {
				s.mounted(c, mgs, "lustre-MDT0000", handle*uint64(i+11))
			}
		}
		for i, c := range []lnet.NID{node3, node4} {
			s.pass(5)
			s.connect(c, oss, ost0, []change{connCnt(2), withHandle(handle * uint64(i+1))}, []change{status(opcodes.ENODEV)})
		}
		s.pass(5)
		s.connect(node4, oss, ost0, []change{connCnt(3), withHandle(handle * 2)}, []change{withHandle(handle * 3), granted(8), opFlags(opRecovering)})
		who := "the first client"
		if !atServer {
			who = node4.String()
		}
		s.e.Close()
		if text := s.e.Findings()[0].Text; !strings.Contains(text, ": "+who+" was connected again after 10.0 s") {
			t.Errorf("at server %v: %s", atServer, text)
		}
	}
}
