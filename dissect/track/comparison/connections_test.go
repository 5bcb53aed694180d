package comparison

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/track"
)

// connection makes a connection with the parameters of its connect.
func connection(target string, asked, granted track.ConnectData) *track.Import {
	return &track.Import{Connection: &track.Connection{Target: target}, ConnectParameters: track.ConnectParameters{
		Asked: asked, Granted: granted, HasAsked: asked != track.ConnectData{}, HasGranted: granted != track.ConnectData{}}}
}

func TestConnections(t *testing.T) {
	const old, recent = 0x020f0800, 0x02110000
	plain := track.ConnectData{Flags: 1, Version: recent}
	for _, tt := range []struct {
		name          string
		before, after []*track.Import
		want          []Part
	}{
		{"the same", []*track.Import{connection("a", plain, plain)}, []*track.Import{connection("a", plain, plain)}, nil},
		{"asked for more", []*track.Import{connection("a", plain, plain)},
			[]*track.Import{connection("a", track.ConnectData{Flags: 1, Flags2: 4, Version: recent}, plain)}, []Part{Asked}},
		{"granted to one of two clients", []*track.Import{connection("a", plain, plain)},
			[]*track.Import{connection("a", plain, plain), connection("a", plain, track.ConnectData{Flags: 3, Version: recent})}, []Part{Granted}},
		{"another release", []*track.Import{connection("a", plain, plain)},
			[]*track.Import{connection("a", track.ConnectData{Flags: 1, Version: old}, plain)}, []Part{ClientVersion}},
		{"no reply captured", []*track.Import{connection("a", plain, plain)}, []*track.Import{connection("a", plain, track.ConnectData{})}, nil},
		{"in one only", []*track.Import{connection("a", plain, plain)}, nil, nil},
	} {
		list := Connections(tt.before, tt.after)
		if len(list) != 1 || list[0].Target != "a" || !slices.Equal(list[0].Changed, tt.want) {
			t.Errorf("%s: %+v", tt.name, list)
		}
	}
	unknown := []*track.Import{connection("", plain, plain), connection("a", track.ConnectData{}, track.ConnectData{})}
	if list := Connections(unknown, unknown); len(list) != 0 {
		t.Errorf("connections without a target or connect: %+v", list)
	}
}
