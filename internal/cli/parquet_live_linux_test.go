//go:build all

package cli

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestLiveParquet writes the messages of a live capture to a file, with the name of this host
// as the sensor.
func TestLiveParquet(t *testing.T) {
	play, want := conversation(t)
	path := filepath.Join(t.TempDir(), "live.parquet")
	captureReplay(t, play, "-T", "parquet", "-o", path, "-c", strconv.Itoa(len(want)))
	file := must.Value(os.Open(path))(t)
	defer file.Close()
	host := must.Value(os.Hostname())(t)
	rows := parquet.NewReader(file)
	for _, w := range want {
		row := map[string]any{}
		must.NoError(t, rows.Read(&row))
		kind, _, _ := strings.Cut(w, " ")
		if row["kind"] != kind || row["sensor"] != host || row["capture"] != "lo" {
			t.Errorf("%v of %v on %v, want %s of %s on lo", row["kind"], row["sensor"], row["capture"], kind, host)
		}
	}
	assert.Equal(t, rows.Read(&map[string]any{}), io.EOF, "after the last row")
}
