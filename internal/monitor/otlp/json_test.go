package otlp

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/lshark/lshark/internal/must"
)

// TestJSON compares spans in JSON with the published definitions, by the rules of OTLP.
func TestJSON(t *testing.T) {
	client := testSpan()
	client.Kind, client.ID, client.Parent, client.Error = Client, client.Parent, SpanID{}, ""
	text := AppendJSON(nil, []ResourceSpans{{testResource(t), []Span{*testSpan(), *client}}})
	var request map[string]any
	must.NoError(t, json.Unmarshal(text, &request))
	checkJSON(t, readFields(t), "ExportTraceServiceRequest", request)
	for _, want := range []string{`"kind":2,`, `"kind":3,`, `"startTimeUnixNano":"1700000000000000001"`, `"intValue":"-28"`, `"doubleValue":0.25`,
		`"status":{"message":"ENOSPC","code":2}`, `"spanId":"73c1c1c6edc41b6e","parentSpanId":"92febb5bfa5df908"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if strings.Count(string(text), "parentSpanId") != 1 || strings.Contains(string(text), "lustre.job") {
		t.Errorf("what has no value is there: %s", text)
	}
}

// checkJSON reports values of an object that are not what the JSON mapping of a message has.
func checkJSON(t *testing.T, f fields, message string, object map[string]any) {
	t.Helper()
	for key, value := range object {
		var typ fieldType
		for _, field := range f[message] {
			if lowerCamelCase(field.name) == key {
				typ = field
			}
		}
		list, isList := value.([]any)
		if isList != typ.repeated {
			t.Errorf("%s.%s is a list: %v", message, key, isList)
		}
		if !isList {
			list = []any{value}
		}
		for _, v := range list {
			ok := false
			switch typ.kind {
			case "string":
				_, ok = v.(string)
			case "bytes":
				_, err := hex.DecodeString(v.(string))
				ok = err == nil
			case "int64", "fixed64":
				_, err := strconv.ParseInt(v.(string), 10, 64)
				ok = err == nil
			case "uint32", "fixed32", "double":
				_, ok = v.(float64)
			default:
				if number, isNumber := v.(float64); isNumber {
					_, ok = f[typ.kind][uint64(number)]
				} else if part, isObject := v.(map[string]any); isObject {
					ok = true
					checkJSON(t, f, typ.kind, part)
				}
			}
			if !ok {
				t.Errorf("%s.%s is %v, want a %s", message, key, v, typ.kind)
			}
		}
	}
}

func lowerCamelCase(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts[1:] {
		parts[i+1] = string(unicode.ToUpper(rune(p[0]))) + p[1:]
	}
	return strings.Join(parts, "")
}
