package tables

import (
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// NewImportRecord returns a func that makes the record of a connection, which is
// valid until the next one.
func NewImportRecord() func(*track.Import) *records.Import {
	text := &EventText{}
	r := &records.Import{AppendEvent: text.Append}
	return func(i *track.Import) *records.Import {
		r.Import = i
		return r
	}
}

// ImportsJSON renders connections as one JSON object a line.
type ImportsJSON struct {
	record func(*track.Import) *records.Import
	json   *render.RecordJSON[*records.Import]
}

// NewImportsJSON makes a JSON renderer.
func NewImportsJSON() *ImportsJSON {
	return &ImportsJSON{record: NewImportRecord(), json: render.NewRecordJSON(records.Imports.Keys(), false)}
}

// AppendImport appends the object and a newline.
func (j *ImportsJSON) AppendImport(dst []byte, i *track.Import) []byte {
	return append(j.json.Append(dst, j.record(i)), '\n')
}

// ClientsJSON renders in what two clients differ as one JSON object a target.
type ClientsJSON struct {
	json *render.RecordJSON[*comparison.Connection]
}

// NewClientsJSON makes a JSON renderer.
func NewClientsJSON() *ClientsJSON {
	return &ClientsJSON{render.NewRecordJSON(records.ClientDifferences.Keys(), false)}
}

// Append appends the object and a newline.
func (j *ClientsJSON) Append(dst []byte, c *comparison.Connection) []byte {
	return append(j.json.Append(dst, c), '\n')
}
