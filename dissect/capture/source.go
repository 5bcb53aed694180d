package capture

import (
	"io"
	"time"

	"github.com/google/gopacket"
)

// Frames is a source of frames: a Reader, a Live or a SourceReader.
type Frames interface {
	// Next reads the next frame into f, whose Data is valid until the next
	// call. After the last frame it returns io.EOF.
	Next(f *Frame) error
}

// Source is a gopacket data source of the frames of a Reader or a Live, for
// programs that decode with gopacket. The ancillary data of a frame are its
// LinkType, because gopacket's layers.LinkType has 8 bits.
//
// After an error other than ErrTimeout it returns io.EOF, because the channel of
// a gopacket.PacketSource reads again after most errors.
type Source struct {
	frames Frames
	frame  Frame
	link   LinkType
	info   [1]any // ancillary data
	err    error
}

var (
	_ gopacket.ZeroCopyPacketDataSource = (*Source)(nil)
	_ gopacket.PacketDataSource         = (*Source)(nil)
)

// NewSource returns a Source of the frames.
func NewSource(frames Frames) *Source {
	return &Source{frames: frames, info: [1]any{LinkNull}}
}

// ZeroCopyReadPacketData returns the next frame. Its bytes and its ancillary
// data are valid until the next call.
func (s *Source) ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	if s.err != nil {
		return nil, gopacket.CaptureInfo{}, io.EOF
	}
	f := &s.frame
	if err := s.frames.Next(f); err != nil {
		if err != ErrTimeout {
			s.err = err
		}
		return nil, gopacket.CaptureInfo{}, err
	}
	if f.Link != s.link {
		s.link, s.info[0] = f.Link, f.Link
	}
	info := captureInfo(f, f.Iface)
	info.AncillaryData = s.info[:]
	return f.Data, info, nil
}

// captureInfo describes a frame of an interface to gopacket.
func captureInfo(f *Frame, iface int) gopacket.CaptureInfo {
	return gopacket.CaptureInfo{
		Timestamp:      time.Unix(0, f.Time),
		CaptureLength:  len(f.Data),
		Length:         max(f.Len, len(f.Data)),
		InterfaceIndex: iface,
	}
}

// ReadPacketData returns a copy of the next frame.
func (s *Source) ReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	data, info, err := s.ZeroCopyReadPacketData()
	if err != nil {
		return nil, info, err
	}
	info.AncillaryData = []any{s.info[0]}
	return append([]byte(nil), data...), info, nil
}

// Err returns the error that ended the frames, or nil if they ended with
// io.EOF or have not ended.
func (s *Source) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// SourceReader reads the frames of a gopacket data source: a pcap.Handle, an
// afpacket.TPacket, a reader of pcapgo or one of your program.
type SourceReader struct {
	read   func() ([]byte, gopacket.CaptureInfo, error)
	link   LinkType
	number int64
}

// NewSourceReader returns a reader of the frames of source, which all begin
// with the given link type. If source is a gopacket.ZeroCopyPacketDataSource,
// frames are not copied.
func NewSourceReader(source gopacket.PacketDataSource, link LinkType) *SourceReader {
	r := &SourceReader{read: source.ReadPacketData, link: link}
	if zero, ok := source.(gopacket.ZeroCopyPacketDataSource); ok {
		r.read = zero.ZeroCopyReadPacketData
	}
	return r
}

// Next reads the next frame. It returns the errors of the source unchanged.
func (r *SourceReader) Next(f *Frame) error {
	data, info, err := r.read()
	if err != nil {
		return err
	}
	r.number++
	*f = Frame{
		Number: r.number,
		Time:   info.Timestamp.UnixNano(),
		Len:    max(info.Length, len(data)),
		Data:   data,
		Link:   r.link,
		Iface:  info.InterfaceIndex,
	}
	return nil
}
