package tables

import (
	"math"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
)

// TestNoUser: people know (uid_t)-1 as -1; scripts get the number, which filters
// take, too.
func TestNoUser(t *testing.T) {
	nobody := &track.Row{Key: track.Key{RequestKey: track.RequestKey{UID: math.MaxUint32, HasUser: true}}, Count: 1, BulkBytes: 1}
	i := &track.Interval{Rows: map[track.Key]*track.Row{nobody.Key: nobody}}
	o := StatsOptions{By: []track.Dimension{track.ByUID}, Colors: render.NewColors(false), Bars: true}
	table := string(NewStatsTable(o).AppendInterval(nil, i))
	if lines := strings.Split(table, "\n"); !strings.HasPrefix(lines[1], "-1 ") || !strings.Contains(table, "\n-1 bulk size\n") {
		t.Errorf("%s", table)
	}
	json := string(NewStatsJSON(o).AppendInterval(nil, i))
	tsv := string(NewStatsTSV(o).AppendInterval(nil, i))
	if !strings.HasPrefix(json, `{"uid":4294967295,`) || !strings.HasPrefix(tsv, "4294967295\t") {
		t.Errorf("%s%s", json, tsv)
	}
}

// TestSamePath: rows of files that had the same path are always in the same order.
func TestSamePath(t *testing.T) {
	i := &track.Interval{Rows: make(map[track.Key]*track.Row)}
	for n := range uint32(20) {
		r := &track.Row{Key: track.Key{File: track.FID{Seq: 0x200000401, OID: n + 1}}, Path: "/a", Count: 1}
		i.Rows[r.Key] = r
	}
	for k, r := range SortRows(i, []track.Dimension{track.ByFile}, "count") {
		if r.File.OID != uint32(k+1) {
			t.Fatalf("row %d is of file %d", k, r.File.OID)
		}
	}
}
