package link

import (
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
)

func TestTCPOptions(t *testing.T) {
	stamps := wiretest.Timestamps(7, 9)
	for name, c := range map[string]struct {
		options []byte
		stamps  Timestamps
		twice   Range
	}{
		"none":               {},
		"timestamps":         {stamps, Timestamps{7, 9, true}, Range{}},
		"SACK":               {wiretest.SACK([2]uint32{200, 300}), Timestamps{}, Range{}},
		"below the ACK":      {wiretest.SACK([2]uint32{60, 88}), Timestamps{}, Range{60, 88}},
		"inside the second":  {wiretest.SACK([2]uint32{200, 300}, [2]uint32{100, 300}), Timestamps{}, Range{200, 300}},
		"before the second":  {wiretest.SACK([2]uint32{200, 300}, [2]uint32{400, 500}), Timestamps{}, Range{}},
		"both":               {append(stamps, wiretest.SACK([2]uint32{60, 80})...), Timestamps{7, 9, true}, Range{60, 80}},
		"other options":      {[]byte{2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9}, Timestamps{7, 9, true}, Range{}},
		"end":                {append([]byte{0, 0, 0, 0}, stamps...), Timestamps{}, Range{}},
		"longer than header": {[]byte{1, 1, 8, 12, 0, 0, 0, 7, 0, 0, 0, 9}, Timestamps{}, Range{}},
		"length 0":           {[]byte{8, 0, 0, 0}, Timestamps{}, Range{}},
		"length 1 at end":    {[]byte{1, 1, 1, 5}, Timestamps{}, Range{}},
	} {
		from, to := linkA, linkB // linkB has sent up to 88
		from.Options = c.options
		f := wiretest.NewConn()
		f.Segment(&from, &to, ackFlag, from.Seq, text)
		var d Decoder
		if d.Decode(&f.Frames[0]) != TCP {
			t.Fatalf("%s: no segment", name)
		}
		if s := &d.Segment; s.Stamps != c.stamps || s.Twice != c.twice || string(s.Data) != string(text) {
			t.Errorf("%s: %+v %+v, want %+v %+v", name, s.Stamps, s.Twice, c.stamps, c.twice)
		}
	}
}
