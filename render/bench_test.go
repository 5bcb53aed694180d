package render

import "testing"

func BenchmarkMetadata(b *testing.B) {
	msgs := sample(b, "../pcaps/metadata.pcap.zst")
	for name, r := range renderers() {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				buf = r.Append(buf[:0], msgs.At(i%msgs.Len()), Moment{})
			}
		})
	}
}
