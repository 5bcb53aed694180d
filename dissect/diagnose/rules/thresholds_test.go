package rules

import (
	"math"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// TestThresholds holds what is compared with the thresholds of rules that have samples: the number that the sample has lies between the
// two here, and the findings change there. For those of other rules, the tests of their scenes have what is just enough and what is not.
func TestThresholds(t *testing.T) {
	frames := make(map[string][]capture.Frame)
	for _, x := range []struct {
		code, threshold, sample string
		below, above            float64
		measured                float64 // what the finding says; 0: the threshold decides what belongs together
	}{
		{"connect.in_progress", "refused for", "connect_refused", 5.09, 5.141, 5.115},
		{"connect.starting", "refused for", "connect_refused", 7.314, 7.387, 7.351},
		{"io.missing_object", "requests for the size of the same object", "missing_objects", 0.5, 1.5, 2},
		{"io.small_rpcs", "RPCs about an object", "lost_replies", 63.5, 64.5, 64},
		{"io.small_rpcs", "bytes of them", "lost_replies", 521681, 526924, 1048576},
		{"io.small_rpcs", "mean size, of what an RPC may have", "lost_replies", 1.555, 1.57, 1.563},
		{"io.small_rpcs", "RPCs about an object, for a warning", "lost_replies", 63.5, 64.5, 64},
		{"io.small_rpcs", "share that continues another one", "lost_replies", 96.39, 97.36, 96.875},
		{"lock.glimpse_storm", "glimpses of an object", "lock_contention", 4.5, 5.5, 5},
		{"lock.glimpse_storm", "glimpses a second, for a warning", "lock_contention", 1.5, 2.5, 2},
		{"lock.glimpse_storm", "time between two of them", "lock_contention", 0.6939, 0.7009, 0},
		{"lock.ping_pong", "locks that were given back after a callback", "lock_contention", 1.5, 2.5, 8},
		{"lock.ping_pong", "time between two of them", "lock_contention", 0.1601, 0.1617, 0},
		{"lock.ping_pong", "share of the time that requests waited, for a warning", "lock_ping_pong", 42, 42.42, 42.213},
		{"lock.ping_pong", "locks that were given back, for a warning", "lock_contention", 7.5, 8.5, 8},
		{"lock.stuck", "wait for a lock", "late_recovery_client", 48.94, 49.44, 49.19},
		{"metadata.change_storm", "requests of a job in 10 s", "mkdir_storm", 653.7, 660.3, 657},
		{"metadata.change_storm", "share of a job in all such requests", "mkdir_storm", 99.5, 100.5, 100},
		{"metadata.stat_storm", "requests of a job in 10 s", "stat_storm", 9.5, 10.5, 3834},
		{"metadata.stat_storm", "share of a job in all such requests", "stat_storm", 99.31, 100.3, 99.807},
		{"recovery.late", "after the first client", "late_recovery", 27.91, 28.19, 28.051},
		{"restart.no_recovery", "from the last sign that the target was absent", "no_recovery", 5.092, 5.143, 5.118},
		{"slow.timeouts", "estimate", "black_hole", 29.5, 30.5, 30},
		{"slow.timeouts", "ratio", "black_hole", 5.5, 6.5, 6},
		{"space.low", "free space or objects", "full_ost", 97.29, 98.27, 97.774},
		{"space.unbalanced", "difference of the available space", "frozen_server", 58.06, 58.65, 58.357},
		{"tcp.retransmission", "segments", "black_hole", 10.5, 11.5, 11},
		{"tcp.retransmission", "share", "black_hole", 0.09508, 0.09604, 0.096},
		{"tcp.round_trip", "seconds", "slow_client", 4.5, 5.5, 5},
		{"tcp.round_trip", "ratio", "slow_client", 13.56, 13.7, 13.632},
		{"tcp.round_trip", "segments sent again", "slow_client", 5.5, 6.5, 6},
		{"tcp.round_trip", "segments sent again, of messages", "slow_client", 0.8975, 0.9065, 0.902},
	} {
		rule := findRule(t, x.code)
		at := slices.IndexFunc(rule.Thresholds, func(h *diagnose.Threshold) bool { return h.Name == x.threshold })
		if at < 0 {
			t.Errorf("%s has no threshold %q", x.code, x.threshold)
			continue
		}
		if frames[x.sample] == nil {
			frames[x.sample] = wiretest.ReadSample(t, samplePath(x.sample+".pcap.zst"))
		}
		measured := 0.0
		findings := func(value float64) (texts []string) {
			defer func(was float64) { rule.Thresholds[at].Value = was }(rule.Thresholds[at].Value)
			rule.Thresholds[at].Value = value
			e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{rule}, Follow: follow.Options{Targets: targets.New(nil)}})
			d := dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, TCPEvent: e.TCPEvent, Active: e.Active()})
			wiretest.Play(d, frames[x.sample])
			e.Close()
			for _, f := range e.Findings() {
				texts = append(texts, f.Severity.String()+" "+f.Text)
				for _, c := range f.Compared {
					assert.That(t, slices.Contains(rule.Thresholds, c.Threshold), "%s does not declare its threshold %q", x.code, c.Name)
					if c.Name == x.threshold {
						measured = max(measured, math.Round(c.Measured*1e3)/1e3)
					}
				}
			}
			return texts
		}
		assert.That(t, !slices.Equal(findings(x.below), findings(x.above)), "%s of %s, %q: the findings are the same with %v and %v",
			x.code, x.sample, x.threshold, x.below, x.above)
		assert.Equal(t, measured, x.measured, x.code, x.sample, x.threshold)
	}
}

// TestJustEnough plays what is just not enough for a threshold, and what is.
func TestJustEnough(t *testing.T) {
	const kib = 1 << 10
	writing := findRequest(t, "jobs.pcap.zst", func(m *dissect.Message) bool { return m.RPC.Opcode == opcodes.OST_WRITE })
	asking := findRequest(t, "jobs.pcap.zst", func(m *dissect.Message) bool {
		return m.RPC.Opcode == opcodes.LDLM_ENQUEUE && m.RPC.Variant != nil && m.RPC.Variant.Name == "GETATTR"
	})
	writes := func(code string, n int, change func(i int, m *dissect.Message)) []*diagnose.Finding {
		return repeat(t, code, writing, n, 1e6, change)
	}
	inSequence := func(size int) func(int, *dissect.Message) {
		return func(i int, m *dissect.Message) { write(m, uint64(i*size), uint64(size), opcodes.BrwFromGrant) }
	}
	atRandom := func(size int) func(int, *dissect.Message) {
		return func(i int, m *dissect.Message) {
			write(m, uint64(i*i*7919+i*104729)%100000*4*kib, uint64(size), opcodes.BrwFromGrant)
		}
	}
	withoutGrant := func(first int) func(int, *dissect.Message) {
		return func(i int, m *dissect.Message) {
			if i < first {
				write(m, uint64(i)<<20, 1<<20, opcodes.BrwFromGrant)
				return
			}
			write(m, uint64(i)<<20, 1<<20, opcodes.BrwSync)
			setField(m, 1, "obdo", "o_grant", 100*kib)
		}
	}
	asks := func(n int, pause int64) []*diagnose.Finding {
		return repeat(t, "metadata.stat_storm", asking, n, pause, func(int, *dissect.Message) {})
	}
	churn := func(files, rounds, pause int) []*diagnose.Finding {
		lock, findings := lockHook(t, "lock.lru_churn")
		playChurn(lock, files, rounds, pause, false)
		return findings()
	}
	for _, x := range []struct {
		threshold     string
		less, enough  int
		before, after string // the severity of the finding
		play          func(n int) []*diagnose.Finding
	}{
		{"small RPCs", 31, 32, "", "note", func(n int) []*diagnose.Finding { return writes("io.small_rpcs", n, inSequence(64*kib)) }},
		{"bytes of them, KiB", 31, 32, "", "note", func(n int) []*diagnose.Finding { return writes("io.small_rpcs", 32, inSequence(n*kib)) }},
		{"their mean size, KiB", 129, 128, "", "note", func(n int) []*diagnose.Finding { return writes("io.small_rpcs", 64, inSequence(n*kib)) }},
		{"small RPCs, for a warning", 2047, 2048, "note", "warning", func(n int) []*diagnose.Finding { return writes("io.small_rpcs", n, inSequence(4*kib)) }},
		{"random RPCs", 63, 64, "", "note", func(n int) []*diagnose.Finding { return writes("io.random", n, atRandom(4*kib)) }},
		{"their mean size, KiB", 65, 64, "", "note", func(n int) []*diagnose.Finding { return writes("io.random", 64, atRandom(n*kib)) }},
		{"unaligned RPCs", 31, 32, "", "note", func(n int) []*diagnose.Finding {
			return writes("io.unaligned", n, func(i int, m *dissect.Message) { write(m, uint64(i)*47008+100, 1000*kib, opcodes.BrwFromGrant) })
		}},
		{"aligned ones before 32 of them", 33, 32, "", "note", func(n int) []*diagnose.Finding {
			return writes("io.unaligned", n+32, func(i int, m *dissect.Message) {
				at := uint64(i) << 20
				if i >= n {
					at = uint64(i)*(2<<20) + 100
				}
				write(m, at, 1000*kib, opcodes.BrwFromGrant)
			})
		}},
		{"writes without grant", 15, 16, "", "warning", func(n int) []*diagnose.Finding { return writes("io.no_grant", n, withoutGrant(0)) }},
		{"writes with grant before 16 of them", 38, 37, "", "warning", func(n int) []*diagnose.Finding { return writes("io.no_grant", n+16, withoutGrant(n)) }},
		{"requests about a file", 99, 100, "", "note", func(n int) []*diagnose.Finding { return asks(n, 1e7) }},
		{"ms between 100 of them", 203, 202, "", "note", func(n int) []*diagnose.Finding { return asks(100, int64(n)*1e6) }},
		{"requests about a file, for a warning", 999, 1000, "note", "warning", func(n int) []*diagnose.Finding { return asks(n, 11e7) }},
		{"requests of a job in 10 s", 499, 500, "", "note", func(n int) []*diagnose.Finding {
			return repeat(t, "metadata.stat_storm", asking, n, 1e7, func(i int, m *dissect.Message) { setField(m, 3, "mdt_body", "mbo_fid1", uint64(i)) })
		}},
		{"files whose locks are needed again", 31, 32, "", "note", func(n int) []*diagnose.Finding { return churn(n, 4, 10) }},
		{"times that they are", 2, 3, "", "note", func(n int) []*diagnose.Finding { return churn(40, n+1, 10) }},
		{"seconds until then", 61, 60, "", "note", func(n int) []*diagnose.Finding { return churn(40, 4, n) }},
		{"s that changes are put off", 1, 3, "", "warning", func(n int) []*diagnose.Finding {
			s := newScene(t)
			s.connect(node3, mgs, "lustre-MDT0000", []change{connCnt(1), opFlags(opInitial)}, []change{withHandle(handle), granted(7)})
			for range 2 {
				s.rpc(node3, mgs, opcodes.MDS_REINT, []change{withHandle(handle)}, []change{withHandle(handle), status(opcodes.EINPROGRESS)})
				s.pass(float64(n))
			}
			s.e.Close()
			return s.e.Findings()
		}},
	} {
		severity := func(n int) string {
			list := x.play(n)
			if len(list) == 0 {
				return ""
			}
			return slices.MaxFunc(list, func(a, b *diagnose.Finding) int { return int(a.Severity) - int(b.Severity) }).Severity.String()
		}
		assert.Equal(t, severity(x.less), x.before, x.threshold, x.less)
		assert.Equal(t, severity(x.enough), x.after, x.threshold, x.enough)
	}
}
