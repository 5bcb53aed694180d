package html

import (
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// thin is a narrow space that does not break, between a number and its unit.
const thin = "\u202f"

// latency returns a time span as tables show it, such as 2.9 ms.
func latency(ns int64) string { return units.Replace(string(render.AppendLatency(nil, ns))) }

var units = strings.NewReplacer("us", thin+"µs", "ms", thin+"ms", "s", thin+"s")

// span returns a long time span in words: 2 h 5 min, 3 min 20 s, 4.25 s.
func span(ns int64) string { return render.Span(ns, thin) }

func trimZeros(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }

// size returns a number of bytes with a unit: 512 B, 1.5 MiB.
func size(n int64) string { return schema.SizeText(n, thin) }

// seconds returns nanoseconds as seconds, as in JSON.
func seconds(ns int64) string { return string(render.AppendElapsed(nil, ns, 9)) }
