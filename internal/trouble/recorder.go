package trouble

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// Options are what folders have, and where they are.
type Options struct {
	Dir           string
	Host          string // that captures
	Capture       string // name of the capture: the interface, or the files
	Before, After time.Duration
	Retention

	// Report writes a page about captures to a file; nil: there is none.
	Report func(captures []string, page string) error

	Log func(format string, args ...any)

	// Free returns how many bytes are left on the disk; nil: by the system.
	Free func(dir string) (int64, error)
}

// Retention is when folders are removed; 0: never for that reason.
type Retention struct {
	KeepTime time.Duration
	KeepSize int64 // bytes
}

// RecorderOptions are the settings of a Recorder.
type RecorderOptions struct {
	Options

	MemoryTime time.Duration // for which frames are kept in memory
	MemorySize int64         // bytes of all chunks
	Snaplen    int           // bytes of a frame that are kept; 0: all

	// Findings returns the findings so far, linked, as diagnose.Engine.Findings.
	Findings func() []*diagnose.Finding

	// Names returns what is known of targets, as targets.AppendConnections has it.
	Names func() []byte
}

// The defaults of what is kept in memory, and of what a folder has.
const (
	DefaultTime    = 5 * time.Minute // troubles are known long after their first evidence: a silent client is evicted after minutes
	DefaultSize    = 256 << 20
	DefaultSnaplen = 1024 // requests and replies, but not all of the data
	DefaultAround  = time.Minute
)

const (
	maxOpen     = 8                // incidents
	maxPending  = 1024             // findings that are not assigned to an incident
	maxRPCs     = 1000             // of an incident
	maxEnded    = 256              // findings of incidents that have ended
	maxIncident = 15 * time.Minute // from its opening to the last frame

	// assignInterval is how often new findings are assigned to incidents: then the findings so
	// far are linked.
	assignInterval = 200 * time.Millisecond

	pruneInterval = time.Minute
)

// The bounds of MemorySize: one chunk to be filled and one to be written, and more than machines have.
const (
	minMemory = 2 * chunkSize
	maxMemory = 1 << 40
)

// Why an incident, or a finding, has no folder.
const (
	SkippedRepeated = "repeated" // it is in a folder that was written before
	SkippedLate     = "late"     // its frames were not in memory any more
	SkippedBusy     = "busy"     // too many incidents at a time
	SkippedDisk     = "disk"     // there is no room, or writing failed
)

// SkipReasons returns all reasons.
func SkipReasons() []string {
	return []string{SkippedRepeated, SkippedLate, SkippedBusy, SkippedDisk}
}

// RPCCode is what folders of RPCs have in place of the code of a finding.
const RPCCode = "rpc"

// Recorder is the flight recorder of a capture that is read once.
type Recorder struct {
	opt     RecorderOptions
	memory  memory
	open    []*incident
	pending []*diagnose.Finding
	ended   *fifo.Map[findingKey, int64] // when the frames of findings end that have a folder
	now     int64                        // capture time
	next    int64                        // capture time at which incidents are looked at again
	pruneAt time.Time

	writer writer
}

// incident is what a folder is written for.
type incident struct {
	content
	opened  int64   // capture time
	passed  int64   // number of the last frame that was passed on to be written
	dropped int64   // frames that the memory had dropped when it was opened
	folder  *folder // nil: nothing was passed on
}

// findingKey is what stays the same of a finding when the rules restart.
type findingKey struct {
	code    string
	subject diagnose.Subject
	key     string
}

func keyOf(f *diagnose.Finding) findingKey {
	if f.Key != "" {
		return findingKey{code: f.Rule.Code, key: f.Key}
	}
	return findingKey{code: f.Rule.Code, subject: f.Subject}
}

// NewRecorder returns a Recorder that writes to a directory, which it locks, and removes what a
// process that was killed has left there. Close must be called.
func NewRecorder(o RecorderOptions) (*Recorder, error) {
	r := &Recorder{opt: o, ended: fifo.NewMap[findingKey, int64](maxEnded)}
	r.memory.keep, r.memory.snaplen, r.memory.leaves = int64(o.MemoryTime), o.Snaplen, r.leaves
	r.memory.free = make(chan *chunk, min(max(o.MemorySize, minMemory), maxMemory)/chunkSize)
	if err := r.writer.start(&r.opt.Options); err != nil {
		return nil, err
	}
	return r, nil
}

// Set changes when folders are removed.
func (r *Recorder) Set(t Retention) {
	r.writer.enqueue(func() {
		r.opt.Retention = t
		r.writer.prune()
	})
}

// Frame takes the next frame, before its messages.
func (r *Recorder) Frame(f *capture.Frame) {
	r.memory.add(f)
	if f.Time >= r.next || f.Time < r.next-int64(maxIncident) {
		r.Advance(f.Time)
	}
}

// Finding takes a finding that shall have a folder. It may change until its incident ends.
func (r *Recorder) Finding(f *diagnose.Finding) {
	if len(r.pending) >= maxPending {
		r.writer.skip(SkippedBusy)
		return
	}
	if !slices.Contains(r.pending, f) {
		r.pending = append(r.pending, f)
	}
}

// RPC takes an RPC that shall have a folder, when it has ended.
func (r *Recorder) RPC(rpc *track.RPC) {
	for _, x := range r.open {
		if len(x.rpcs) > 0 {
			x.addRPC(rpc)
			return
		}
	}
	begun := rpc.Begin()
	if x := r.begin(begun, max(begun, rpc.Replied().Time)); x != nil {
		x.addRPC(rpc)
	}
}

func (x *incident) addRPC(r *track.RPC) {
	if len(x.rpcs) >= maxRPCs {
		x.others++
		return
	}
	c := r.Clone()
	if c.Connection != nil { // it goes on
		own := *c.Connection
		c.Connection = &own
	}
	x.rpcs = append(x.rpcs, c)
}

// Advance sets the capture time, assigns the new findings to incidents, and ends those whose
// time is over.
func (r *Recorder) Advance(now int64) {
	r.now = now
	r.next = now + int64(assignInterval)
	if len(r.pending) > 0 {
		r.opt.Findings()
		r.assign()
	}
	for _, x := range slices.Clone(r.open) {
		if now > x.until || now < x.opened-int64(maxIncident) {
			r.end(x)
		}
	}
	if t := time.Now(); t.After(r.pruneAt) {
		r.pruneAt = t.Add(pruneInterval)
		r.writer.enqueue(r.writer.prune)
	}
}

// Restart calls restart, by which the findings so far are forgotten.
func (r *Recorder) Restart(restart func()) {
	r.Advance(r.now)
	for _, x := range r.open { // all of their story, which is known now
		x.findings = x.story(r.opt.Findings())
	}
	restart()
	r.assign()
}

// assign adds each finding that is not assigned to the incident of its story, or opens one.
func (r *Recorder) assign() {
	for _, f := range r.pending {
		r.take(f)
	}
	r.pending = nil
}

func (r *Recorder) take(f *diagnose.Finding) {
	key := keyOf(f)
	begun, last := times(f)
	for _, x := range r.open {
		if slices.ContainsFunc(x.findings, func(g *diagnose.Finding) bool { return g.Root() == f.Root() || keyOf(g) == key }) {
			x.add(f, begun, r.now, &r.opt)
			return
		}
	}
	if until, ok := fifo.Get(r.ended, key); ok && begun <= until {
		r.writer.skip(SkippedRepeated)
		return
	}
	if x := r.begin(begun, last); x != nil {
		x.findings = append(x.findings, f)
	}
}

// begin opens an incident for what has its evidence between two times.
func (r *Recorder) begin(begun, last int64) *incident {
	oldest, ok := r.memory.oldest()
	switch {
	case !ok || last < oldest:
		r.writer.skip(SkippedLate)
		return nil
	case len(r.open) >= maxOpen:
		r.writer.skip(SkippedBusy)
		return nil
	}
	c := content{code: RPCCode, begun: begun, from: begun - int64(r.opt.Before), until: r.now + int64(r.opt.After)}
	x := &incident{content: c, opened: r.now, passed: -1, dropped: r.memory.dropped}
	r.open = append(r.open, x)
	return x
}

func (x *incident) add(f *diagnose.Finding, begun, now int64, o *RecorderOptions) {
	if !slices.Contains(x.findings, f) {
		x.findings = append(x.findings, f)
	}
	x.begun = min(x.begun, begun)
	if x.folder == nil { // else frames from the middle are written already
		x.from = min(x.from, begun-int64(o.Before))
	}
	x.until = min(max(x.until, now+int64(o.After)), x.opened+int64(maxIncident))
}

// times returns when the first and the last evidence of a finding was.
func times(f *diagnose.Finding) (begun, last int64) {
	begun, last = f.First, f.Last
	for _, e := range f.Evidence {
		if begun == 0 || e.Time != 0 && e.Time < begun {
			begun = e.Time
		}
		last = max(last, e.Time)
	}
	return begun, last
}

// leaves passes the frames of a chunk that leaves the memory on for the incidents that need them.
func (r *Recorder) leaves(c *chunk) {
	for _, x := range r.open {
		r.pass(x, c)
	}
}

// pass passes the frames of a chunk on to be written.
func (r *Recorder) pass(x *incident, c *chunk) {
	if c.last < x.from || c.first > x.until || c.number <= x.passed {
		return
	}
	if x.folder == nil {
		x.folder = newFolder(&r.opt.Options, &r.writer.dir, r.opt.Names())
	}
	folder, p, after, from, until, comments := x.folder, r.memory.piece(c), x.passed, x.from, x.until, commentsOf(x.findings)
	r.writer.enqueue(func() {
		r.writer.write(folder, p, func(f *capture.Frame) bool { return f.Number > after && f.Time >= from && f.Time <= until }, comments)
		r.memory.release(c)
	})
	x.passed = c.number
}

// commentsOf returns comments for frames by number: what they prove.
func commentsOf(list []*diagnose.Finding) map[point]string {
	comments := make(map[point]string)
	for _, f := range list {
		for _, e := range f.Evidence {
			if e.IsLog() {
				continue
			}
			p := point{e.File, e.Frame}
			text := f.Rule.Code + ": " + e.Text
			if before := comments[p]; before != "" {
				text = before + "; " + text
			}
			comments[p] = text
		}
	}
	return comments
}

// point is a frame by the name of its file and its number there.
type point struct {
	file  string
	frame int64
}

func pointOf(f *capture.Frame) point { return point{f.File, cmp.Or(f.FileNumber, f.Number)} }

// story returns the findings of an incident with all others of their stories. Those from before
// the rules restarted, which are not in the list, come first.
func (x *incident) story(list []*diagnose.Finding) (story []*diagnose.Finding) {
	roots := make(map[*diagnose.Finding]bool)
	for _, f := range x.findings {
		roots[f.Root()] = true
		if !slices.Contains(list, f) {
			story = append(story, f)
		}
	}
	for _, f := range list {
		if roots[f.Root()] {
			story = append(story, f)
		}
	}
	return story
}

// end ends an incident: what is left of its folder is written.
func (r *Recorder) end(x *incident) {
	r.open = slices.DeleteFunc(r.open, func(y *incident) bool { return y == x })
	if len(x.findings) > 0 {
		x.findings = x.story(r.opt.Findings())
		if r.joins(x) {
			return
		}
		x.code = x.findings[0].Rule.Code
		x.findings = diagnose.Clones(x.findings)
	}
	for _, f := range x.findings {
		fifo.Put(r.ended, keyOf(f), x.until)
	}
	for _, chunk := range r.memory.list {
		r.pass(x, chunk)
	}
	if x.folder == nil {
		r.writer.skip(SkippedLate)
		return
	}
	x.notes = []string{r.opt.note(&x.content)}
	if n := r.memory.dropped - x.dropped; n > 0 {
		x.notes = append(x.notes, fmt.Sprintf("frames that are missing, as the disk was too slow: %d", n))
	}
	r.writer.enqueue(func() { r.writer.finish(x.folder, &x.content) })
}

// note says what a folder was written for.
func (o *Options) note(c *content) string {
	return fmt.Sprintf("%s: %s, frames asked for from %s to %s", o.Host, o.Capture, clock(c.from), clock(c.until))
}

// clock returns a time in the form that folders have.
func clock(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339) }

// joins adds an incident to another one that is open, if it has turned out that both are of one
// story.
func (r *Recorder) joins(x *incident) bool {
	for _, y := range r.open {
		if !slices.ContainsFunc(y.findings, func(f *diagnose.Finding) bool { return f.Root() == x.findings[0].Root() }) {
			continue
		}
		if y.folder == nil {
			y.from = min(y.from, x.from)
		}
		y.begun = min(y.begun, x.begun)
		y.findings = append(y.findings, x.findings...)
		if folder := x.folder; folder != nil {
			r.writer.enqueue(folder.discard)
		}
		return true
	}
	return false
}

// Close ends the capture: all incidents end, and their folders are completed.
func (r *Recorder) Close() error {
	r.Advance(r.now)
	for len(r.open) > 0 {
		r.end(r.open[0])
	}
	return r.writer.close()
}

// Stats are counts of folders.
type Stats struct {
	Folders     map[string]int64 // by code
	Skipped     map[string]int64 // by reason
	Bytes       int64            // of all folders that were written
	DiskBytes   int64            // of those that are there now
	Pruned      int64
	MemoryBytes int64
	Newest      []Folder // a few, the newest last
}

// Folder is a folder that was written.
type Folder struct {
	Name, Code string
	Completed  time.Time
}

// Stats returns the counts. Any goroutine may call it.
func (r *Recorder) Stats() Stats {
	r.writer.mu.Lock()
	defer r.writer.mu.Unlock()
	s := r.writer.stats
	s.Folders, s.Skipped, s.Newest = maps.Clone(s.Folders), maps.Clone(s.Skipped), slices.Clone(s.Newest)
	s.MemoryBytes = r.memory.inUse()
	return s
}
