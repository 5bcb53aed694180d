package html

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // style.css and script.js
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/dissect/track/sizes"
	"github.com/lshark/lshark/dissect/track/slowest"
	"github.com/lshark/lshark/dissect/track/timeline"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/ladder"
)

// Page is what a page shows.
type Page struct {
	Program  string // that made the page, with its version
	Title    string // empty: the names of the files
	Filter   string // of the RPCs that are counted, empty: all
	Times    string // how times are shown when the page opens: r relative, a local, u UTC
	NIDs     render.NIDs
	Capture  Capture
	Findings Findings
	Timeline *timeline.Timeline
	Statistics
	Sizes       *sizes.Sizes
	Files       Files
	Connections Connections
	Locks       Locks
	Slowest     []slowest.RPC // slowest first
}

// Capture is what was captured.
type Capture struct {
	Sources     []string // names of the files, or the interface
	IsLive      bool
	OnlyLogs    bool   // there are no frames
	First, Last int64  // times of the first and the last frame, in nanoseconds since the epoch
	Partial     string // why only a part of it was read, empty: it was read as far as it could be
	diagnose.Capture
}

// Findings are what the rules found, as diagnose.Engine.Findings returns them.
type Findings struct {
	List    []*diagnose.Finding
	Dropped int64 // that were too many to keep

	// Ladders are diagrams of the messages that prove a finding and what followed from it.
	Ladders map[*diagnose.Finding]*ladder.Diagram
}

// Statistics are those of all RPCs, grouped in several ways; nil where there are no
// RPCs.
type Statistics struct {
	Operations, Jobs, Clients, Targets *track.Interval
}

// Files are those with the most bytes.
type Files struct {
	List          []*files.File  // the most bytes first
	Count         int64          // of all files
	Reads, Writes files.Accesses // how the ranges of all files follow each other
}

// Connections are those between clients and targets.
type Connections struct {
	List       []*track.Import
	Recoveries []*recovery.Recovery // in the order of time
}

// Locks are what is shown of locks.
type Locks struct {
	Count   int64           // of all locks
	Waiting int64           // that had to wait for others
	Slowest []*locks.Lock   // of these, the longest wait first
	Holders []*locks.Holder // as locks.Blockers.List returns them
}

var (
	//go:embed style.css
	style markup
	//go:embed script.js
	script markup
)

type section struct {
	id    markup
	title string
	write func(*renderer)
}

var sections = []section{
	{"findings", "Findings", (*renderer).findings},
	{"latency", "Latency over time", (*renderer).heatMap},
	{"operations", "Operations", (*renderer).operations},
	{"mix", "Mix of operations over time", (*renderer).mix},
	{"top", "Jobs, clients, targets", (*renderer).top},
	{"files", "Files", (*renderer).files},
	{"sizes", "Sizes and offsets", (*renderer).sizes},
	{"connections", "Connections and evictions", (*renderer).connections},
	{"locks", "Locks", (*renderer).locks},
	{"slowest", "Slowest RPCs", (*renderer).slowest},
	{"capture", "Capture", (*renderer).capture},
}

type renderer struct {
	buf []byte
	*Page
}

// Append appends the page.
func Append(dst []byte, p *Page) []byte {
	r := &renderer{buf: dst, Page: p}
	r.head()
	r.summary()
	r.raw(`<main id="content">`, "\n")
	for _, s := range sections {
		r.raw(`<section id="`, s.id, `" aria-labelledby="`, s.id, `-title"><h2 id="`, s.id, `-title">`, text(s.title), "</h2>\n")
		s.write(r)
		r.raw("</section>\n")
	}
	r.raw("</main>\n<footer><p>Made by ", text(p.Program), " from what the capture contains. What it does not show is not guessed. "+
		"Times are those of the frames; relative ones count from the first frame.</p></footer>\n",
		"<script>", script, "</script>\n</body></html>\n")
	return r.buf
}

// contentHash returns the source expression of a Content-Security-Policy for a script
// or style sheet in the page.
func contentHash(s markup) markup {
	sum := sha256.Sum256([]byte(s))
	return markup("'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
}

// times are the values of Page.Times that are not those of relative times.
var times = map[string]markup{"a": "a", "u": "u"}

// head appends everything before the summary.
func (r *renderer) head() {
	title := "Lustre traffic: " + cmp.Or(r.Title, strings.Join(r.sources(), ", "))
	r.raw("<!DOCTYPE html>\n", `<html lang="en" data-first="`, micros(r.Capture.First), `" data-last="`, micros(r.Capture.Last),
		`" data-times="`, times[r.Times], `"><head><meta charset="utf-8">`, "\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src `, contentHash(style), "; script-src ",
		contentHash(script), `; base-uri 'none'; form-action 'none'">`, "\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">`,
		`<meta name="referrer" content="no-referrer">`, "\n", element("title", title), "\n<style>", style,
		"</style></head>\n<body>\n", `<a class="skip" href="#content">Skip to the content</a>`, "\n")
}

func (r *renderer) sources() []string {
	names := slices.Clone(r.Capture.Sources)
	for i := range names {
		if names[i] == "-" {
			names[i] = "standard input"
		}
	}
	return names
}

// nothing appends the line of a section, or a part of one, without data.
func (r *renderer) nothing(s string) { r.raw(element(`p class="none"`, s), "\n") }

func (r *renderer) paragraph(s string) { r.raw(element("p", s), "\n") }

// relative returns a time relative to the first frame, in seconds.
func (r *renderer) relative(ns int64) string {
	return string(render.Relative.Append(nil, ns, render.Moment{First: r.Capture.First}, false))
}

// micros returns a time as the script reads it, in microseconds since the epoch.
func micros(ns int64) markup { return markup(strconv.FormatInt(ns/1000, 10)) }

// time returns a time relative to the first frame, which the script can show as local time or UTC.
func (r *renderer) time(ns int64, unit string) markup {
	return `<time data-u="` + micros(ns) + `">` + text(r.relative(ns)+unit) + "</time>"
}

func (r *renderer) timeCell(p track.Point) cell {
	if p.Time == 0 {
		return cell{html: "–"}
	}
	return cell{html: r.time(p.Time, ""), value: seconds(p.Time - r.Capture.First)}
}

// utc returns a time as UTC, with the date.
func utc(ns int64) string {
	return string(render.UTC.Append(nil, ns, render.Moment{}, true))
}

// frame returns the number of a frame, with its file where there are several.
func frame(p track.Point) string {
	if p.IsZero() {
		return "–"
	}
	return string(render.AppendFrame(nil, p.File, p.Frame))
}
