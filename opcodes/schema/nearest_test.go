package schema

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"lu_fid", "lustre_fid", "mbo_size", "mbo_valid", "mbo_nlink", "obd_connect_flags", "obd_connect_data", "V1", "V2", "ACL", "DEL",
		"IT_GETATTR", "MDS_GETATTR", "LDLM_ENQUEUE", "RQF_LDLM_ENQUEUE", "latency", "LCK_PR", "layout_intent"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"lu_fd", []string{"lu_fid"}},
		{"obdconnectflags", []string{"obd_connect_flags"}},
		{"obd_conect_flags", []string{"obd_connect_flags"}},
		{"mbo_siz", []string{"mbo_size"}},
		{"latenci", []string{"latency"}},
		{"MDS_GETATR", []string{"MDS_GETATTR"}},
		{"intent_layout", []string{"layout_intent"}},
		{"LVB", nil},
		{"zzzzzzzz", nil},
		{"", nil},
	} {
		if got := Nearest(c.name, names, 2); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
}
