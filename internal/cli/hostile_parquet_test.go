//go:build all

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/hostile"
)

// TestHostileParquet: texts in Parquet files, also those of lshark monitor, are UTF-8.
func TestHostileParquet(t *testing.T) {
	for _, sample := range []string{"mount", "layouts", "hsm", "changelog", "operations"} {
		frames := hostile.Operations(50, 11)
		if sample != "operations" {
			frames = hostile.Sample(t, wiretest.Sample(sample))
		}
		path, texts := saveFrames(t, frames), 0
		for _, form := range []string{"", "rpcs", "imports", "locks", "files", "recovery --all", "config", "diagnose"} {
			out := filepath.Join(t.TempDir(), "out.parquet")
			succeeds(t, append(words(form), "-q", "-T", "parquet", "-o", out, path)...)
			texts += checkTexts(t, sample+" "+form, out)
		}
		dir := t.TempDir()
		succeeds(t, "monitor", "-q", "--records", dir, path)
		files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
		must.NoError(t, err)
		if len(files) == 0 {
			t.Fatal("no records")
		}
		for _, file := range files {
			texts += checkTexts(t, sample+" monitor", file)
		}
		if texts < 50 {
			t.Errorf("%s: only %d texts", sample, texts)
		}
	}
}

// checkTexts checks all texts of a file, and returns how many there are.
func checkTexts(t *testing.T, what, path string) (n int) {
	t.Helper()
	file, err := os.Open(path)
	must.NoError(t, err)
	defer file.Close()
	info, err := file.Stat()
	must.NoError(t, err)
	f, err := parquet.OpenFile(file, info.Size())
	must.NoError(t, err)
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buf := make([]parquet.Row, 64)
		for {
			k, err := rows.ReadRows(buf)
			for _, row := range buf[:k] {
				for _, v := range row {
					if v.Kind() != parquet.ByteArray || v.IsNull() {
						continue
					}
					n++
					if !utf8.Valid(v.ByteArray()) {
						t.Errorf("%s: %s", what, fmt.Sprintf("%q", v.ByteArray()))
					}
				}
			}
			if err != nil {
				break
			}
		}
		must.NoError(t, rows.Close())
	}
	return n
}
