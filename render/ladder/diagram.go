package ladder

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/logs"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// Diagram holds the events that are drawn. The zero Diagram is ready for use.
type Diagram struct {
	Title string // what was selected; it is escaped when it is drawn
	Limit int    // the number of events that are drawn, the first by time; 0: all
	First int64  // time that relative times count from, nanoseconds since the epoch

	NIDs render.NIDs

	// Files are the names of the files that frames are numbered in, when there are several. Frames have
	// the number of their file instead of its name, which the head of the diagram explains.
	Files []string

	Omitted int // events beyond Limit

	Logs         []string // names of the logs that lines are from
	OmittedLines int      // of logs, that are too many

	lines   []*Event
	events  []*Event
	targets map[lnet.NID][]string
}

// Add adds events, which belong to the diagram from then on.
func (d *Diagram) Add(events ...*Event) {
	d.events = append(d.events, events...)
	if d.Limit > 0 && len(d.events) >= 2*max(d.Limit, 1<<10) {
		d.sort()
	}
}

// maxLines lines of logs are drawn, for each message.
const maxLines = 16

// AddLine adds a line of a log: about one of the Subjects, when the messages have been added, or of a diagram without messages.
func (d *Diagram) AddLine(l *track.LogLine) {
	most := maxLines * max(len(d.events), 1<<6)
	if len(d.events) == 0 && d.Limit > 0 {
		most = d.Limit
	}
	if len(d.lines) >= most {
		d.OmittedLines++
		return
	}
	d.lines = append(d.lines, logLine(l))
}

// Subjects returns the RPCs whose requests or replies are drawn.
func (d *Diagram) Subjects() (list []logs.Subject) {
	known := map[logs.Subject]bool{}
	for _, e := range d.Events() {
		s := logs.Subject{XID: e.XID, Opcode: e.Opcode, HasOpcode: e.HasOpcode, Client: e.From, Server: e.To}
		switch e.Type {
		case lnet.Request:
		case lnet.Reply, lnet.EarlyReply:
			s.Client, s.Server = e.To, e.From
		default:
			continue
		}
		if e.XID != 0 && !known[s] {
			known[s] = true
			list = append(list, s)
		}
	}
	return list
}

// maxTargets targets of a node are drawn.
const maxTargets = 16

// AddTarget notes that a node serves a target.
func (d *Diagram) AddTarget(node lnet.NID, target string) {
	target = string(schema.AppendText(nil, []byte(target)))
	list := d.targets[node]
	if target == "" || len(list) >= maxTargets || slices.Contains(list, target) {
		return
	}
	if d.targets == nil {
		d.targets = make(map[lnet.NID][]string)
	}
	d.targets[node] = append(list, target)
}

// AddTargetOf notes the target of an RPC, by its name or its index, under the node that
// serves it.
func (d *Diagram) AddTargetOf(r *track.RPC) {
	node := r.Server
	if r.HasOpcode && opcodes.IsCallback(r.Opcode) {
		node = r.Client
	}
	d.AddTarget(node, cmp.Or(r.Target(), r.TargetIndex()))
}

// Len returns the number of events that are drawn.
func (d *Diagram) Len() int {
	if len(d.events) == 0 {
		return len(d.lines)
	}
	if d.Limit > 0 {
		return min(len(d.events), d.Limit)
	}
	return len(d.events)
}

// Events returns the events that are drawn, in the order of time. A Line of text
// refers to them by their index.
func (d *Diagram) Events() []*Event {
	d.sort()
	if len(d.lines) > 0 {
		d.events, d.lines = append(d.events, d.lines...), nil
		d.Limit = 0
		d.sort()
	}
	return d.events
}

// sort orders the events by time, and removes those beyond the limit.
func (d *Diagram) sort() {
	slices.SortStableFunc(d.events, func(a, b *Event) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Order, b.Order), cmp.Compare(a.Number, b.Number))
	})
	if d.Limit > 0 && len(d.events) > d.Limit {
		d.Omitted += len(d.events) - d.Limit
		clear(d.events[d.Limit:])
		d.events = d.events[:d.Limit]
	}
}

// addLosses adds the losses between nodes of the diagram whose times are between those of
// its first and its last event.
func (d *Diagram) addLosses(losses []*Event) {
	events := d.Events()
	if len(events) == 0 || len(losses) == 0 {
		return
	}
	ns := d.findNodes(events)
	first, last := events[0].Time, events[len(events)-1].Time
	for _, e := range losses {
		if e.Time >= first && e.Time <= last && ns.find(e.From) != nil && ns.find(e.To) != nil {
			d.Add(e)
		}
	}
}
