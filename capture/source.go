package capture

import (
	"time"

	"github.com/google/gopacket"
)

// Source hands the frames of a Reader or a Live to gopacket: it is one of its
// data sources, for whatever gopacket has decoders for.
type Source struct {
	From interface{ Next(f *Frame) error }

	frame Frame
}

var _ gopacket.ZeroCopyPacketDataSource = (*Source)(nil)
var _ gopacket.PacketDataSource = (*Source)(nil)

// ZeroCopyReadPacketData returns the next frame; its data are valid until the
// next call.
func (s *Source) ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	f := &s.frame
	if err := s.From.Next(f); err != nil {
		return nil, gopacket.CaptureInfo{}, err
	}
	return f.Data, gopacket.CaptureInfo{
		Timestamp:      time.Unix(0, f.Time),
		CaptureLength:  len(f.Data),
		Length:         max(f.Len, len(f.Data)),
		InterfaceIndex: f.Iface,
	}, nil
}

// ReadPacketData returns a copy of the next frame.
func (s *Source) ReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	data, info, err := s.ZeroCopyReadPacketData()
	return append([]byte(nil), data...), info, err
}
