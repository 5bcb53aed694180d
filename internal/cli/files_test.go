package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// fileFrame is a frame of one of several files.
type fileFrame struct {
	file   string
	number int64
}

func (f fileFrame) String() string { return fmt.Sprintf("%s:%d", f.file, f.number) }

// twoPoints writes a sample as two capture points see it, to a/x.pcap and
// b/x.pcap: the second one began later and is further from the client. It returns
// the paths, and the times of the frames of both.
func twoPoints(t *testing.T, sample string) (paths []string, times map[fileFrame]int64) {
	t.Helper()
	const late, delay = 30, 50_000 // frames, ns
	dir := t.TempDir()
	times = make(map[fileFrame]int64)
	for _, name := range []string{"a/x.pcap", "b/x.pcap"} {
		path := filepath.Join(dir, name)
		must.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
		number := int64(0)
		copyFrames(t, sample, path, func(f *capture.Frame) bool {
			if name[0] == 'b' {
				if f.Number <= late {
					return false
				}
				f.Time += delay
			}
			number++
			times[fileFrame{name, number}] = f.Time
			return true
		})
		paths = append(paths, path)
	}
	return paths, times
}

// framesIn returns the frames in a JSON value: those of all objects that have one.
// It fails the test when the time of a frame is not that in its file.
func framesIn(t *testing.T, text string, times map[fileFrame]int64) (list []fileFrame) {
	t.Helper()
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, element := range v {
				visit(element)
			}
		case map[string]any:
			if number, ok := v["frame"].(float64); ok {
				file, _ := v["file"].(string)
				at := fileFrame{file, int64(number)}
				list = append(list, at)
				want, known := times[at]
				got, err := time.Parse(time.RFC3339Nano, v["time"].(string))
				const clocks = 100_000 // ns: what lshark may correct
				if !known || err != nil || max(got.UnixNano()-want, want-got.UnixNano()) > clocks {
					t.Errorf("frame %v at %v, %v: not in the file, or at another time", at, v["time"], err)
				}
			}
			for key, element := range v {
				if key != "ptlrpc_body" && key != "buffers" {
					visit(element)
				}
			}
		}
	}
	for line := range strings.Lines(text) {
		var record any
		must.NoError(t, json.Unmarshal([]byte(line), &record))
		visit(record)
	}
	return list
}

// TestFramesOfSeveralFiles checks that each frame number in records and lines of
// several captures is that in a file, behind the name of this file.
func TestFramesOfSeveralFiles(t *testing.T) {
	paths, times := twoPoints(t, "../../pcaps/mount.pcap")
	output := func(args ...string) string {
		t.Helper()
		out, errs, status := run(t, append(args, paths...)...)
		must.That(t, status == exit.OK && errs == "" && out != "", "%q: status %d, %q, %d bytes", args, status, errs, len(out))
		return out
	}
	inText := func(before string, text string) (list []fileFrame) {
		for _, m := range regexp.MustCompile(`(?m)`+before+`([ab]/x\.pcap):([0-9]+)`).FindAllStringSubmatch(text, -1) {
			at := fileFrame{file: m[1]}
			fmt.Sscan(m[2], &at.number)
			list = append(list, at)
		}
		return list
	}
	same := func(what string, got, want []fileFrame) {
		t.Helper()
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %d frames, want %d:\n%.300v\n%.300v", what, len(got), len(want), got, want)
		}
	}

	messages := framesIn(t, output("-T", "json"), times)
	same("lines", inText(`^ *`, output()), messages)
	same("trees", inText(`^frame `, output("-V")), messages)
	var fields []fileFrame
	for line := range strings.Lines(output("-T", "fields", "-e", "file", "-e", "frame")) {
		file, number, _ := strings.Cut(strings.TrimSpace(line), "\t")
		at := fileFrame{file: file}
		fmt.Sscan(number, &at.number)
		fields = append(fields, at)
	}
	same("fields", fields, messages)
	one := messages[len(messages)/2]
	chosen := framesIn(t, output("-T", "json", "-Y", fmt.Sprintf("file == %q && frame == %d", one.file, one.number)), times)
	same("filter", slices.Compact(chosen), []fileFrame{one})

	var requests []fileFrame
	rpcs, points := output("rpcs", "-T", "json"), make(map[string]int)
	for line := range strings.Lines(rpcs) {
		var r struct{ Request, Sightings json.RawMessage }
		must.NoError(t, json.Unmarshal([]byte(line), &r))
		requests = append(requests, framesIn(t, string(r.Request), times)...)
		if len(r.Sightings) > 0 {
			for _, at := range framesIn(t, string(r.Sightings), times) {
				points[at.file]++
			}
		}
	}
	framesIn(t, rpcs, times)
	same("rpcs", inText(` frame=`, output("rpcs")), requests)
	assert.That(t, points["a/x.pcap"] >= 10 && points["a/x.pcap"] == points["b/x.pcap"], "sightings by file: %v", points)

	connections := framesIn(t, output("imports", "-T", "json"), times)
	timeline := inText(`^ *`, output("imports", "--timeline"))
	for _, at := range timeline {
		assert.That(t, slices.Contains(connections, at) || slices.Contains(messages, at), "timeline: no connection has the frame %v", at)
	}
	if len(connections) < 10 || len(timeline) < 10 {
		t.Errorf("%d frames of connections, %d in the timeline", len(connections), len(timeline))
	}

	flags := output("-T", "flags", "-Y", "pb_opc == OST_CONNECT")
	heads, replies := inText(`^frame `, flags), inText(`reply in frame `, flags)
	if len(heads) == 0 || len(heads) != len(replies) || strings.Count(flags, "frame ") != 2*len(heads) {
		t.Errorf("flags: frames %v with replies in %v", heads, replies)
	}
}

// TestFramesOfOneFile checks that records of a single capture have no file.
func TestFramesOfOneFile(t *testing.T) {
	for _, args := range [][]string{{"-T", "json"}, {"rpcs", "-T", "json"}, {"imports", "-T", "json"}, {}, {"rpcs"}, {"imports", "--timeline"}, {"-T", "flags"}, {"-V"}} {
		out, errs, status := run(t, append(args, "../../pcaps/mount.pcap")...)
		if status != exit.OK || out == "" || strings.Contains(out, `"file"`) || strings.Contains(out, "mount.pcap") {
			t.Errorf("%q: status %d, %q, or a file in its output", args, status, errs)
		}
	}
}

// TestSaveSeveralFiles checks that -w writes the frames of the files with the
// messages or RPCs that are selected.
func TestSaveSeveralFiles(t *testing.T) {
	paths, _ := twoPoints(t, "../../pcaps/mount.pcap")
	for _, command := range [][]string{nil, {"rpcs"}} {
		saved := filepath.Join(t.TempDir(), "saved.pcapng")
		args := append(slices.Clone(command), "-q", "-Y", "opcode == MDS_CONNECT", "-P", "-w", saved)
		shown := quiet(t, append(args, paths...)...)
		again, _, _ := run(t, append(slices.Clone(command), "-q", "-Y", "opcode == MDS_CONNECT", saved)...)
		if n := strings.Count(shown, "MDS_CONNECT"); n == 0 || strings.Count(again, "MDS_CONNECT") != n {
			t.Errorf("%q: %d shown, %d saved", args, n, strings.Count(again, "MDS_CONNECT"))
		}
		points := make(map[int]int)
		for _, f := range wiretest.ReadSample(t, saved) {
			points[f.Iface]++
		}
		assert.That(t, len(command) <= 0 || len(points) == 2, "%q: frames by capture point %v", args, points)
	}
}
