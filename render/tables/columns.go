package tables

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// column is a column of a table of records of the type R. It shows a key, whose meaning,
// type and value it has.
type column[R any] struct {
	title string
	key   string // path; empty: the title is the key
	doc   string // in place of the meaning of the key, where the column shows it in another way

	rank     rank
	left     bool
	whole    bool // never truncated
	dimZero  bool // 0 is dim
	optional bool // absent where no cell has a value
	blank    bool // without a value it is empty, not -
	dimNone  bool // the - of no value is dim
	round    bool // times are rounded

	role schema.Role
	mark func(r R) schema.Role        // in place of role, where it depends on the record
	show func(p *printer, r R) string // nil: the value of the key. The table escapes the text
}

// printer appends values as the options of a table want them.
type printer struct {
	opt      render.SummaryOptions
	at       render.Moment
	lastTime int64 // that was appended
}

// time returns when a message was seen, nothing for none.
func (p *printer) time(seen track.Point) string {
	if seen.IsZero() {
		return ""
	}
	return p.timeOf(seen, p.opt.Wide())
}

// timeOf returns the time of a message, an absolute one with or without the date.
func (p *printer) timeOf(seen track.Point, withDate bool) string {
	text := p.opt.Time.Append(nil, seen.Time, p.at, withDate)
	p.at.Before, p.lastTime = seen.Time, seen.Time
	return string(text)
}

func (p *printer) nid(n lnet.NID) string { return string(p.opt.NIDs.Append(nil, n)) }

// frame returns the number of a frame, nothing for none.
func frame(seen track.Point) string {
	if seen.IsZero() {
		return ""
	}
	return frameText(seen)
}

// Kind is a kind of table: the columns in their order, the last ones of a rank are omitted
// first.
type Kind[R any] struct {
	name    string // in explain
	keys    *records.Table[R]
	of      func() []records.Entry // in place of keys, where rows are parts of records
	columns []column[R]
}

// Of returns a table of records with a column for each key that is neither a list of objects
// nor an object, for records without columns of their own.
func Of[R any](keys *records.Table[R]) *Kind[R] {
	k := &Kind[R]{name: "table of " + keys.Record, keys: keys}
	for _, e := range keys.Entries() {
		if e.Type == records.Object || e.JSON == records.Hidden {
			continue
		}
		c := column[R]{title: e.Path, role: schema.Number, rank: extra}
		switch e.Type {
		case records.Text, records.Strings, records.Counts, records.Enum, records.Flags:
			c.left, c.role = true, schema.Name
		case records.NID, records.Address:
			c.left, c.role = true, schema.Node
		case records.FID, records.Hex:
			c.left, c.role = true, schema.Object
		}
		if len(k.columns) < neededKeys {
			c.rank = needed
		}
		k.columns = append(k.columns, c)
	}
	return k
}

// neededKeys are how many of the first keys a terminal shows in any case.
const neededKeys = 3

func (c *column[R]) keyPath() string { return cmp.Or(c.key, c.title) }

// entriesOfKeys describes the keys that the columns show.
func (k *Kind[R]) entriesOfKeys() []records.Entry {
	switch {
	case k.of != nil:
		return k.of()
	case k.keys != nil:
		return k.keys.Entries()
	}
	return nil
}

// describe describes a column by the keys that the table shows.
func (c *column[R]) describe(keys []records.Entry) records.Entry {
	e := records.Entry{Kind: records.ColumnEntry, Type: records.Text, Name: c.title, Path: c.title}
	for _, key := range keys {
		switch {
		case key.Path == c.keyPath():
			e.Type, e.Unit, e.Doc = key.Type, key.Unit, e.Doc+key.Doc
		case strings.HasPrefix(c.key, key.Path+"."):
			e.Doc = key.Doc + ": "
		}
	}
	if c.doc != "" {
		e.Doc = c.doc
	}
	return e
}

// entries describes the columns that have other names than the keys that they show, or
// show them in another way.
func (k *Kind[R]) entries() (list []records.Entry) {
	keys := k.entriesOfKeys()
	for i := range k.columns {
		c := &k.columns[i]
		if c.title == c.keyPath() && c.doc == "" {
			continue
		}
		e := c.describe(keys)
		e.Of = k.name
		list = append(list, e)
	}
	return list
}

// Columns describes the columns of all tables, for explain.
func Columns() []records.Entry {
	list := slices.Concat(statsKind.entries(), tsvKind.entries(), Paths.entries(), Imports.entries(), Locks.entries(), Holders.entries(),
		changesKind.entries(), Recoveries.entries(), targetsKind.entries(), runningKind.entries(), registrationsKind.entries(),
		Files.entries(), Directories.entries(), rpcsKind.entries(), flagsKind.entries())
	known := make(map[[2]string]bool)
	return slices.DeleteFunc(list, func(e records.Entry) bool { // tables of the configuration share columns
		again := known[[2]string{e.Of, e.Name}]
		known[[2]string{e.Of, e.Name}] = true
		return again
	})
}

// rpcsKind has the values that lines of rpcs name in another way than JSON.
var rpcsKind = Kind[*track.RPC]{name: "line of rpcs", keys: &records.RPCs, columns: rpcColumns()}

func rpcColumns() (list []column[*track.RPC]) {
	for _, d := range render.RPCDetails {
		if title := strings.TrimRight(d.Label, "=<"); title != "" {
			list = append(list, column[*track.RPC]{title: title, key: d.Key, doc: d.Doc})
		}
	}
	return list
}

// flagsKind has the columns of tables of flags, which package render makes.
var flagsKind = Kind[*schema.Value]{name: "table of flags", columns: []column[*schema.Value]{
	{title: "bit", doc: "number of the bit, or of the first and last bit of a part of the word"},
	{title: "name", doc: "name of the flag, without the prefix of its group"},
	{title: "asked", doc: "the client asked for the flag in its connect; - it did not, ? the request was not seen"},
	{title: "granted", doc: "the server granted the flag in its reply; - it did not, ? the reply was not seen"},
	{title: "meaning", doc: "what the flag means"},
}}
