package otlp

import (
	"encoding/json"
	"math"
	"strconv"
)

// ResourceSpans are spans of one sender.
type ResourceSpans struct {
	Resource Resource
	Spans    []Span
}

// AppendJSON appends an ExportTraceServiceRequest in the JSON mapping of OTLP, without a
// newline in it: receivers accept it at /v1/traces, and a file of such lines is what the file
// receiver of a collector reads.
func AppendJSON(dst []byte, of []ResourceSpans) []byte {
	request := jsonRequest{ResourceSpans: make([]jsonResourceSpans, len(of))}
	for i := range of {
		r := &of[i].Resource
		spans := make([]jsonSpan, len(of[i].Spans))
		for k := range spans {
			spans[k] = of[i].Spans[k].json()
		}
		request.ResourceSpans[i] = jsonResourceSpans{
			Resource:   jsonResource{jsonAttributes(r.Attributes)},
			ScopeSpans: []jsonScopeSpans{{Scope: jsonScope{r.Scope, r.ScopeVersion}, Spans: spans}},
		}
	}
	text, err := json.Marshal(request)
	if err != nil {
		panic(err) // no value of these types has no JSON
	}
	return append(dst, text...)
}

// The messages in JSON: ids in hexadecimal, integers of 64 bits as decimal strings,
// enumerations as numbers.
type (
	jsonRequest struct {
		ResourceSpans []jsonResourceSpans `json:"resourceSpans"`
	}
	jsonResourceSpans struct {
		Resource   jsonResource     `json:"resource"`
		ScopeSpans []jsonScopeSpans `json:"scopeSpans"`
	}
	jsonResource struct {
		Attributes []jsonAttribute `json:"attributes"`
	}
	jsonScopeSpans struct {
		Scope jsonScope  `json:"scope"`
		Spans []jsonSpan `json:"spans"`
	}
	jsonScope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	jsonSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		Parent     string          `json:"parentSpanId,omitempty"`
		Flags      uint32          `json:"flags"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      int64           `json:"startTimeUnixNano,string"`
		End        int64           `json:"endTimeUnixNano,string"`
		Attributes []jsonAttribute `json:"attributes,omitempty"`
		Events     []jsonEvent     `json:"events,omitempty"`
		Status     *jsonStatus     `json:"status,omitempty"`
	}
	jsonEvent struct {
		Time int64  `json:"timeUnixNano,string"`
		Name string `json:"name"`
	}
	jsonStatus struct {
		Message string `json:"message"`
		Code    int    `json:"code"`
	}
	jsonAttribute struct {
		Key   string    `json:"key"`
		Value jsonValue `json:"value"`
	}
	jsonValue struct {
		String *string  `json:"stringValue,omitempty"`
		Int    *string  `json:"intValue,omitempty"`
		Double *float64 `json:"doubleValue,omitempty"`
	}
)

func (s *Span) json() jsonSpan {
	start := max(s.Start, 0)
	j := jsonSpan{TraceID: s.Trace.String(), SpanID: s.ID.String(), Flags: s.flags(), Name: s.Name, Kind: s.Kind.number(),
		Start: start, End: max(s.End, start), Attributes: jsonAttributes(s.Attributes)}
	if s.hasParent() {
		j.Parent = s.Parent.String()
	}
	for _, e := range s.Events {
		j.Events = append(j.Events, jsonEvent{max(e.Time, 0), e.Name})
	}
	if s.Error != "" {
		j.Status = &jsonStatus{s.Error, statusError}
	}
	return j
}

func jsonAttributes(list []Attribute) (pairs []jsonAttribute) {
	for i := range list {
		a := &list[i]
		if a.absent() {
			continue
		}
		var v jsonValue
		switch a.kind {
		case stringKind:
			v.String = &a.text
		case floatKind:
			number := math.Float64frombits(a.number)
			v.Double = &number
		default:
			number := strconv.FormatInt(int64(a.number), 10)
			v.Int = &number
		}
		pairs = append(pairs, jsonAttribute{a.Key, v})
	}
	return pairs
}
