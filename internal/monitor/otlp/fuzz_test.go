package otlp

import (
	"net/http"
	"net/url"
	"testing"
	"unicode/utf8"
)

// FuzzResponse reads what a receiver may send.
func FuzzResponse(f *testing.F) {
	for _, body := range []string{
		"", "\x0a\x0b\x08\x02\x12\x07too old", "\x08\x03\x12\x0dbad \x1b[31mdata", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x0d\x01", "\x09\x01", "not found\n",
	} {
		f.Add([]byte(body), 200, "application/x-protobuf")
		f.Add([]byte(body), 400, "application/x-protobuf")
		f.Add([]byte(body), 404, "text/plain")
	}
	f.Fuzz(func(t *testing.T, body []byte, code int, contentType string) {
		r := &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {contentType}}}
		logged := ""
		s := &sender{signal: tracesSignal, url: &url.URL{Host: "h"}, log: func(line string) { logged = line }}
		if n := s.partial(r, body); n > 1<<63-1 || n > 0 && logged == "" {
			t.Errorf("%d refused, logged %q", n, logged)
		}
		for _, text := range []string{logged, refusal(r, body).Error()} {
			if len(text) > 1000 || !utf8.ValidString(text) {
				t.Errorf("%q", text)
			}
			for _, c := range text {
				if c < ' ' || c == 0x7f {
					t.Errorf("%q has a control character", text)
				}
			}
		}
	})
}

// FuzzCut checks that cut does not break valid UTF-8.
func FuzzCut(f *testing.F) {
	f.Add("plain", 3)
	f.Add("ü\xffx", 1)
	f.Add("\xf0\x9f\x98", 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = min(max(n, 0), len(text)+1)
		got := cut(text, n)
		if len(got) > n || len(got) < min(n, len(text))-3 || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("cut(%q, %d) = %q", text, n, got)
		}
	})
}
