package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// page is a parsed page of lshark report.
type page struct {
	text string
	root *html.Node
}

// pageOf runs lshark report.
func pageOf(t *testing.T, args ...string) *page {
	t.Helper()
	out := quiet(t, append([]string{"report", "-q", "-o", "-"}, args...)...)
	root := must.Value(html.Parse(strings.NewReader(out)))(t)
	return &page{out, root}
}

// attribute returns an attribute of an element.
func attribute(n *html.Node, name string) (value string, ok bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// find returns the elements of which a func reports true.
func (p *page) find(is func(*html.Node) bool) (list []*html.Node) {
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			list = append(list, n)
		}
	}
	return list
}

// byID returns the element with an id, nil for none.
func (p *page) byID(id string) *html.Node {
	list := p.find(func(n *html.Node) bool {
		have, _ := attribute(n, "id")
		return have == id
	})
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// rows returns the cells of a table by row and title of the column: exact values
// where cells have one, else their text.
func (p *page) rows(t *testing.T, id string) (list []map[string]string) {
	t.Helper()
	table := p.byID(id)
	if table == nil {
		return nil
	}
	var titles []string
	for n := range table.Descendants() {
		if n.Type != html.ElementNode || n.Data != "tr" {
			continue
		}
		row := make(map[string]string)
		i := 0
		for c := range n.ChildNodes() {
			text := textOf(c)
			if n.Parent.Data == "thead" {
				titles = append(titles, text)
				continue
			}
			if v, ok := attribute(c, "data-v"); ok {
				text = v
			}
			row[titles[i]] = text
			i++
		}
		if n.Parent.Data == "tbody" {
			list = append(list, row)
		}
	}
	return list
}

// recordsOf runs a command with -T json.
func recordsOf(t *testing.T, args ...string) (list []map[string]any) {
	t.Helper()
	out := quiet(t, append(args, "-q", "-T", "json")...)
	d := json.NewDecoder(strings.NewReader(out))
	d.UseNumber()
	for d.More() {
		var r map[string]any
		must.NoError(t, d.Decode(&r))
		list = append(list, r)
	}
	return list
}

// number returns a number of a record as text, 0 for null.
func number(r map[string]any, path ...string) string {
	var v any = r
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[key]
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// same reports whether two texts are the same number, or both are none.
func same(a, b string) bool {
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	if errA != nil || errB != nil {
		return errA != nil && errB != nil
	}
	return x == y
}

// TestReportNumbers compares the numbers of the pages of all samples with those of
// the commands that show the same.
func TestReportNumbers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compares results of many runs")
	}
	inputs := [][]string{{"../../pcaps/mount.pcap", recoverySample}}
	for i, sample := range slices.Concat(wiretest.Samples(t), glob(t, ruleSamples+"*.pcap*")) {
		if wiretest.All || i%4 == 0 {
			inputs = append(inputs, []string{sample})
		}
	}
	for _, files := range inputs {
		t.Run(filepath.Base(files[0]), func(t *testing.T) {
			t.Parallel()
			recordsOf := func(args ...string) []map[string]any { return recordsOf(t, append(args, files...)...) }
			p := pageOf(t, files...)
			operations := recordsOf("stats")
			compareStatistics(t, p, "op", operations)
			for _, by := range []string{"job", "client", "target"} {
				compareStatistics(t, p, by, recordsOf("stats", "--by", by))
			}
			compareFindings(t, p, recordsOf("diagnose"))
			compareSlowest(t, p, recordsOf("rpcs", "--slowest", "25"))
			compareFiles(t, p, recordsOf("files", "--top", "50"))
			compareLocks(t, p, recordsOf("locks"), recordsOf("locks", "--blockers"))
			compareImports(t, p, recordsOf("imports"))
			compareCharts(t, p, operations)
		})
	}
}

func compareStatistics(t *testing.T, p *page, by string, records []map[string]any) {
	t.Helper()
	rows := p.rows(t, "by-"+by)
	assert.That(t, by != "op" || len(rows) == len(records), "%d rows by operation, %d records", len(rows), len(records))
	for i, row := range rows {
		r := records[i]
		for title, want := range map[string]string{
			"count": number(r, "count"), "unans": number(r, "unanswered"),
			"p50": number(r, "latency", "p50"), "p90": number(r, "latency", "p90"), "p99": number(r, "latency", "p99"), "max": number(r, "latency", "max"),
			"time": number(r, "latency", "sum"), "wait": number(r, "lock_wait", "max"), "bulk": number(r, "bulk_bytes"),
			"sent": number(r, "request_bytes"), "got": number(r, "reply_bytes"),
		} {
			if cell, shown := row[title]; !same(cell, want) && (shown || want != "0") { // columns without values are left out
				t.Errorf("%s by %s, row %d: %s, want %s", title, by, i, row[title], want)
			}
		}
		errors := 0
		for _, n := range r["errors"].(map[string]any) {
			count, _ := strconv.Atoi(fmt.Sprint(n))
			errors += count
		}
		assert.Equal(t, row["err"], strconv.Itoa(errors), "errors by", by, "row", i, errors)
	}
}

// compareFindings compares the findings of a page, where those about the capture stand in
// a section above the others.
func compareFindings(t *testing.T, p *page, records []map[string]any) {
	t.Helper()
	slices.SortStableFunc(records, func(a, b map[string]any) int {
		about := func(r map[string]any) int {
			if strings.HasPrefix(r["code"].(string), "capture.") {
				return 0
			}
			return 1
		}
		return about(a) - about(b)
	})
	articles := p.find(func(n *html.Node) bool { return n.Data == "article" })
	must.Equal(t, len(articles), len(records), "findings")
	// The page tells a story: a finding follows the one that caused it.
	for i, r := range records {
		shown := slices.IndexFunc(articles, func(a *html.Node) bool {
			code, _ := attribute(a, "data-code")
			class, _ := attribute(a, "class")
			text := textOf(a)
			for _, e := range r["evidence"].([]any) {
				if e := e.(map[string]any); !strings.Contains(text, "frame "+frameOf(e)+",") || !strings.Contains(text, e["text"].(string)) {
					return false
				}
			}
			return code == r["code"] && class == "finding "+r["severity"].(string) && strings.Contains(text, r["text"].(string))
		})
		if shown < 0 {
			t.Errorf("finding %d is not on the page: %v", i, r)
			continue
		}
		articles = slices.Delete(articles, shown, shown+1)
	}
}

// frameOf returns the number of a frame in a record, with its file where there are
// several.
func frameOf(point map[string]any) string {
	if file, ok := point["file"]; ok {
		return fmt.Sprint(file, ":", point["frame"])
	}
	return fmt.Sprint(point["frame"])
}

func compareSlowest(t *testing.T, p *page, records []map[string]any) {
	t.Helper()
	var waits []string
	for _, n := range p.find(func(n *html.Node) bool {
		class, _ := attribute(n, "class")
		return n.Data == "span" && class == "time"
	}) {
		v, _ := attribute(n, "data-v")
		waits = append(waits, v)
	}
	must.Equal(t, len(waits), len(records), "slowest RPCs")
	for i, r := range records {
		want := number(r, "latency")
		if wait := number(r, "lock_wait"); wait != "" {
			a, _ := strconv.ParseFloat(want, 64)
			if b, _ := strconv.ParseFloat(wait, 64); b > a {
				want = wait
			}
		}
		if !same(waits[i], want) {
			t.Errorf("slowest RPC %d: %s, want %s", i, waits[i], want)
		}
	}
	for _, d := range p.find(func(n *html.Node) bool { return n.Data == "details" }) {
		xid, ok := attribute(d, "data-xid")
		if !ok { // what followed from a finding
			continue
		}
		if text := textOf(d); strings.Count(text, "x"+xid) < 1 || strings.Count(text, "lustre_msg") < 1 && !strings.Contains(text, "encrypted") && !strings.Contains(text, "gss") {
			t.Errorf("RPC %s has no trees: %.300s", xid, text)
		}
	}
}

func compareFiles(t *testing.T, p *page, records []map[string]any) {
	t.Helper()
	rows := p.rows(t, "by-file")
	must.Equal(t, len(rows), len(records), "files")
	for i, r := range records {
		row := rows[i]
		if row["fid"] != r["fid"] || !same(row["read"], number(r, "read_bytes")) || !same(row["written"], number(r, "write_bytes")) || !same(row["rpcs"], number(r, "rpcs")) {
			t.Errorf("file %d: %v, want %v", i, row, r)
		}
	}
}

func compareLocks(t *testing.T, p *page, records, holders []map[string]any) {
	t.Helper()
	if n := len(records); n > 0 && !strings.Contains(strings.ReplaceAll(textOf(p.byID("locks")), ",", ""), strconv.Itoa(n)+" lock") {
		t.Errorf("%d locks: %.200s", n, textOf(p.byID("locks")))
	}
	waits := make(map[string]bool)
	for _, r := range records {
		if asked, ok := r["asked"].(map[string]any); ok {
			waits[frameOf(asked)+" "+number(r, "waited")] = true
		}
	}
	for i, row := range p.rows(t, "lock-waits") {
		assert.That(t, waits[row["frame"]+" "+row["waited"]], "wait %d: %v is of no lock", i, row)
	}
	rows := p.rows(t, "holders")
	must.Equal(t, len(rows), min(len(holders), 25), "holders")
	for i, row := range rows {
		h := holders[i]
		if !same(row["waits"], number(h, "waits")) || !same(row["time"], number(h, "waited")) || !same(row["longest"], number(h, "longest")) {
			t.Errorf("holder %d: %v, want %v", i, row, h)
		}
	}
}

func compareImports(t *testing.T, p *page, records []map[string]any) {
	t.Helper()
	rows := p.rows(t, "imports")
	must.Equal(t, len(rows), min(len(records), 40), "connections")
	evictions, shown := 0, 0
	for _, r := range records {
		n, _ := strconv.Atoi(number(r, "evictions"))
		evictions += n
	}
	for _, row := range rows {
		n, _ := strconv.Atoi(row["evict"])
		shown += n
	}
	assert.Equal(t, evictions, shown, "evictions")
}

// compareCharts compares what the titles in the charts add up to with the number of
// RPCs.
func compareCharts(t *testing.T, p *page, records []map[string]any) {
	t.Helper()
	var sums []int
	for _, id := range []string{"latency", "mix"} {
		sum := 0
		for n := range p.byID(id).Descendants() {
			if n.Type != html.ElementNode || n.Data != "title" {
				continue
			}
			text := textOf(n)
			if _, after, ok := strings.Cut(text, ": "); ok {
				text = after
			}
			count := must.Value(strconv.Atoi(strings.ReplaceAll(strings.Fields(text)[0], ",", "")))(t)
			sum += count
		}
		sums = append(sums, sum)
	}
	var rpcs, replies int
	for _, r := range records {
		n, _ := strconv.Atoi(number(r, "count"))
		rpcs += n
		n, _ = strconv.Atoi(number(r, "replies"))
		replies += n
	}
	if sums[0] > replies || sums[1] != rpcs {
		t.Errorf("the charts have %d latencies and %d RPCs, want %d and %d", sums[0], sums[1], replies, rpcs)
	}
}

// TestReportFilter checks that the numbers of a filtered page are those of RPCs that match, and
// its findings those of the whole capture.
func TestReportFilter(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Parallel()
	for _, filter := range []string{"opcode == OST_WRITE", "pb_opc == MDS_CONNECT && rpc.latency > 20ms", "lnet.src_nid == 192.0.2.1@tcp"} {
		p := pageOf(t, "--title", "Ticket <4711>", "-t", "u", "-Y", filter, recoverySample)
		assert.Equal(t, textOf(p.find(func(n *html.Node) bool { return n.Data == "h1" })[0]), "Ticket <4711>", "heading")
		if times, _ := attribute(p.find(func(n *html.Node) bool { return n.Data == "html" })[0], "data-times"); times != "u" {
			t.Errorf("times %q", times)
		}
		stats := recordsOf(t, "stats", "-Y", filter, recoverySample)
		compareStatistics(t, p, "op", stats)
		compareSlowest(t, p, recordsOf(t, "rpcs", "--slowest", "25", "-Y", filter, recoverySample))
		compareFindings(t, p, recordsOf(t, "diagnose", recoverySample))
		compareCharts(t, p, stats)
		assert.Equal(t, textOf(p.find(func(n *html.Node) bool { return n.Data == "code" })[0]), filter, "the page says")
	}
	for args, want := range map[[2]string]string{{"-Y", "nonsense =="}: "^", {"-t", "x"}: `time "x"`} {
		if _, errs, status := run(t, "report", "-o", "-", args[0], args[1], recoverySample); status != exit.Usage || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
}

// TestReportLadders checks that the ladder of a cause has the frames that prove it.
func TestReportLadders(t *testing.T) {
	for _, sample := range []string{recoverySample, ruleSamples + "evicted.pcap.zst"} {
		p := pageOf(t, sample)
		ladders := p.find(func(n *html.Node) bool {
			class, _ := attribute(n, "class")
			return n.Data == "svg" && class == "ladder"
		})
		if len(ladders) == 0 {
			t.Errorf("%s: no ladder", sample)
			continue
		}
		findings := recordsOf(t, "diagnose", sample)
		for _, e := range findings[0]["evidence"].([]any) { // the first is a cause
			e := e.(map[string]any)
			if text := textOf(ladders[0]); !strings.Contains(text, "frame "+frameOf(e)+" ") || !strings.Contains(text, e["text"].(string)) {
				t.Errorf("%s: frame %s is not in the ladder:\n%s", sample, frameOf(e), text)
			}
		}
	}
}

// TestReportFile checks how the file is written.
func TestReportFile(t *testing.T) {
	dir := t.TempDir()
	sample := filepath.Join(dir, "sample.pcap")
	data := must.ReadFile(t, "../../pcaps/mount.pcap")
	must.NoError(t, os.WriteFile(sample, data, 0o600))
	link, out := filepath.Join(dir, "link.pcap"), filepath.Join(dir, "out.html")
	must.NoError(t, os.Symlink(sample, link))
	cut := filepath.Join(dir, "cut.pcap")
	must.NoError(t, os.WriteFile(cut, data[:len(data)/2], 0o600))
	for _, tt := range []struct {
		args   string
		status int
		want   string
	}{
		{"-o " + out + " " + sample, exit.OK, ""},
		{"-o " + out + " " + cut, exit.Damage, "cut.pcap"},
		{"-o " + sample + " " + sample, exit.Usage, "would overwrite the input"},
		{"-o " + link + " " + sample, exit.Usage, "would overwrite the input"},
		{"-o " + dir + " " + sample, exit.OK, ""}, // a page for each capture
		{sample, exit.Usage, "needs -o FILE"},
		{"-c -1 -o - " + sample, exit.Usage, "negative"},
		{"-o " + dir + "/missing/out.html " + sample, exit.Failure, "no such file"},
		{"-o " + out + " missing.pcap", exit.Failure, "missing.pcap"},
		{"-o /dev/null " + sample, exit.OK, ""},
	} {
		stdout, errs, status := run(t, append([]string{"report", "-q"}, strings.Fields(tt.args)...)...)
		assert.That(t, status == tt.status && strings.Contains(errs, tt.want) && stdout == "", "%s: status %d, %s", tt.args, status, errs)
	}
	if now, err := os.ReadFile(sample); err != nil || string(now) != string(data) {
		t.Errorf("the input has changed: %v", err)
	}
	page, err := os.ReadFile(out)
	if err != nil || !strings.HasPrefix(string(page), "<!DOCTYPE html>") || !strings.HasSuffix(string(page), "</html>\n") || !strings.Contains(string(page), "capture.damaged") {
		t.Errorf("page of %d bytes, %v", len(page), err)
	}
	list, err := os.ReadDir(dir)
	assert.That(t, err == nil && len(list) == 5, "files left: %v, %v", list, err)
}
