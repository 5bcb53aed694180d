package track_test

import (
	"fmt"
	"io"
	"log"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// The slowest RPCs of a capture, the median latency, and the states of the
// connections at its end.
func Example() {
	stats := track.NewStats(track.StatsOptions{By: []track.Dimension{track.ByOp}})
	imports := track.NewImports()
	pairing := track.NewPairing(track.Options{
		Sent:     func(r *track.RPC, m *dissect.Message) { stats.Sent(r, m); imports.Sent(r, m) },
		Answered: func(r *track.RPC, m *dissect.Message) { stats.Answered(r, m); imports.Answered(r, m) },
		Done: func(r *track.RPC) {
			stats.Done(r)
			imports.Done(r)
			if ns, ok := r.Latency(); ok && ns > int64(30*time.Millisecond) {
				fmt.Printf("%s to %s took %v\n", opcodes.Opcodes.Name(uint64(r.Opcode)), r.Target(), time.Duration(ns))
			}
		},
	})
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { pairing.Message(m) }})

	file, err := capture.Open([]string{"../../pcaps/mount.pcap"}, capture.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	var frame capture.Frame
	for err = file.Next(&frame); err == nil; err = file.Next(&frame) {
		d.Frame(&frame)
	}
	if err != io.EOF {
		log.Fatal(err)
	}
	d.Close()
	pairing.Close()
	imports.Close()

	for _, i := range stats.Intervals() {
		fmt.Printf("%d RPCs, half of them within %v\n", i.Total.Count, time.Duration(i.Total.Latency.Quantile(0.5)))
	}
	for _, i := range imports.List()[:3] {
		fmt.Printf("%s is %s after %d transitions\n", i.Target, i.State, len(i.History))
	}
	// Output:
	// MDS_CONNECT to lustre-MDT0000 took 33.427ms
	// MDS_CONNECT to lustre-MDT0002 took 39.99ms
	// MDS_GETATTR to lustre-MDT0000 took 104.811ms
	// 79 RPCs, half of them within 6.19ms
	// MGS is CLOSED after 4 transitions
	// lustre-MDT0000 is CLOSED after 4 transitions
	// lustre-MDT0001 is CLOSED after 4 transitions
}
