package report

import (
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track/locks"
)

// LocksJSON renders locks as one JSON object a line, or who kept others waiting.
type LocksJSON struct {
	locks   *render.RecordJSON[*locks.Lock]
	holders *render.RecordJSON[*locks.Holder]
}

// NewLocksJSON makes a JSON renderer.
func NewLocksJSON() *LocksJSON {
	return &LocksJSON{render.NewRecordJSON(records.Locks.Keys, false), render.NewRecordJSON(records.Holders.Keys, false)}
}

// AppendLock appends the object of a lock and a newline.
func (j *LocksJSON) AppendLock(dst []byte, l *locks.Lock) []byte {
	return append(j.locks.Append(dst, l), '\n')
}

// AppendHolder appends the object of a holder and a newline.
func (j *LocksJSON) AppendHolder(dst []byte, h *locks.Holder) []byte {
	return append(j.holders.Append(dst, h), '\n')
}
