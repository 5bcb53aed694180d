package store

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/must"
)

// BenchmarkRows adds the messages and RPCs of a capture, and reads them.
func BenchmarkRows(b *testing.B) {
	var messages []*dissect.Message
	var rpcs []*track.RPC
	whole := read(b, "metadata.pcap.zst", Options{}, func(r *track.RPC) { rpcs = append(rpcs, r.Clone()) }, func(m *dissect.Message, _ *track.RPC) {
		messages = append(messages, m.Clone())
	})
	rows := whole.NewReader()
	b.Run("add messages", func(b *testing.B) {
		for range b.N {
			s := New(Options{})
			for _, m := range messages {
				must.NoError(b, s.AddMessage(m, nil))
			}
		}
		b.ReportMetric(float64(len(messages)), "messages")
		b.ReportMetric(float64(len(whole.tables[Messages].spool.segments[0])), "bytes")
	})
	b.Run("add RPCs", func(b *testing.B) {
		var a track.Archive
		var buf []byte
		for range b.N {
			buf = buf[:0]
			for _, r := range rpcs {
				buf = a.Append(buf, r)
			}
		}
		b.ReportMetric(float64(len(rpcs)), "RPCs")
		b.ReportMetric(float64(len(buf)), "bytes")
	})
	for k, n := range map[Kind]int{Messages: len(messages), RPCs: len(rpcs)} {
		b.Run(fmt.Sprint("read kind ", k), func(b *testing.B) {
			for range b.N {
				for i := range n {
					_ = must.Value(rows.Read(k, int64(i)))(b)
				}
			}
		})
	}
}
