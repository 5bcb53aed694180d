package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

type pathRecord struct {
	From, To, File string
	NID            string `json:"from_nid"`
	Messages       int64
	Retransmits    int64
	OutOfOrder     *int64 `json:"out_of_order"`
	RTT            *struct{ P50 float64 }
	SenderRTT      *struct{ P50 float64 } `json:"sender_rtt"`
}

func pathsOf(t *testing.T, args ...string) (list []pathRecord) {
	t.Helper()
	for line := range strings.Lines(succeeds(t, append([]string{"stats", "--by", "path", "-T", "json"}, args...)...)) {
		var p pathRecord
		must.NoError(t, json.Unmarshal([]byte(line), &p))
		list = append(list, p)
	}
	return list
}

// TestStatsByPath compares the forms of stats --by path with each other.
func TestStatsByPath(t *testing.T) {
	client := "../../dissect/diagnose/rules/testdata/slow_client.pcap.zst"
	list := pathsOf(t, client)
	tsv := strings.Split(strings.TrimSpace(succeeds(t, "stats", "--by", "path", "-T", "tsv", client)), "\n")
	table := strings.Split(strings.TrimSpace(succeeds(t, "stats", "--by", "path", client)), "\n")
	must.That(t, len(list) >= 2 && len(tsv) == len(list)+1 && len(table) == len(list)+1, "%d objects, %d and %d lines", len(list), len(tsv), len(table))
	retransmits := int64(0)
	for i, p := range list {
		retransmits += p.Retransmits
		assert.That(t, p.RTT != nil && p.OutOfOrder != nil && p.File == "", "%+v", p)
		assert.That(t, strings.HasPrefix(tsv[i+1], p.From+"\t"+p.To+"\t"+p.NID+"\t"), "%+v: %s", p, tsv[i+1])
		assert.That(t, strings.HasPrefix(table[i+1], p.From), "%+v: %s", p, table[i+1])
		assert.That(t, i == 0 || list[i-1].Messages >= p.Messages, "%+v before %+v", list[max(i, 1)-1], p)
		for _, back := range list {
			if back.From == p.To && back.To == p.From {
				assert.Equal(t, *back.RTT, *p.SenderRTT, p.From, "sender_rtt")
			}
		}
	}
	assert.That(t, retransmits > 0, "nothing was sent again")
	two := pathsOf(t, "--sort", "name", client, recoverySample)
	assert.That(t, len(two) >= len(list) && two[0].File != "" && two[0].From <= two[len(two)-1].From, "of two files: %+v", two)
}
