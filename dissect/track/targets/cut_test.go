package targets_test

import (
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/wiretest"
)

// key finds an RPC in two captures.
type key struct {
	client lnet.NID
	xid    uint64
	opcode uint32
	replay bool
}

// readTargets returns the target of each RPC in a file from a frame on, the first
// is 1, and the number of frames.
func readTargets(t *testing.T, path string, from int64) (map[key]string, int64) {
	t.Helper()
	read := func(o track.Options, prepare func(*track.Pairing)) int64 {
		frames := wiretest.ReadSample(t, path)
		rpcs := track.NewPairing(o)
		if prepare != nil {
			prepare(rpcs)
		}
		d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { rpcs.Message(m) }})
		wiretest.Play(d, frames[min(from-1, int64(len(frames))):])
		rpcs.Close()
		return int64(len(frames))
	}
	known := func() track.Known {
		var first *track.Pairing
		e := targets.New(nil)
		read(track.Options{Sent: e.Sent, Answered: e.Answered}, func(t *track.Pairing) { first = t })
		e.Conclude()
		return first.Known()
	}
	found := make(map[key]string)
	frames := read(track.Options{Known: known, Done: func(r *track.RPC) {
		found[key{r.Client, r.XID, r.Opcode, r.Replay()}] = r.Target()
	}}, nil)
	return found, frames
}

// TestCut leaves out the beginning of each sample: the RPCs in the rest have the
// target that they have in the whole sample, or none.
func TestCut(t *testing.T) {
	// The least shares of RPCs that have their target although a third is
	// missing. In the samples that are not listed nothing names the file
	// system after that.
	least := map[string]float64{
		"mount.pcap": 0.9, "ip6_mount.pcap": 0.9, "rdma_mount.pcap": 0.9, "recovery.pcap.zst": 0.9,
	}
	samples, err := filepath.Glob("../../../pcaps/*.pcap*")
	if err != nil || len(samples) < 10 {
		t.Fatal(samples, err)
	}
	for _, path := range samples {
		whole, frames := readTargets(t, path, 1)
		for _, part := range []struct{ num, of int64 }{{1, 5}, {1, 3}, {1, 2}, {2, 3}} {
			cut, _ := readTargets(t, path, frames*part.num/part.of+1)
			have, all := 0, 0
			for k, target := range cut {
				switch want := whole[k]; {
				case want == "":
					continue
				case target == want:
					have++
				case target != "":
					t.Errorf("%s without %d/%d: x%d (%d) has target %s, in the whole %s", filepath.Base(path), part.num, part.of, k.xid, k.opcode, target, want)
				}
				all++
			}
			t.Logf("%s without %d/%d: %d of %d RPCs have their target", filepath.Base(path), part.num, part.of, have, all)
			if share := least[filepath.Base(path)]; part.of == 3 && part.num == 1 && float64(have) < share*float64(all) {
				t.Errorf("%s without a third: %d of %d RPCs have their target", filepath.Base(path), have, all)
			}
		}
	}
}
