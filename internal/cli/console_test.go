package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/internal/must"
)

// consoleForms are the forms in which a console log is written.
var consoleForms = map[string]func(at time.Time, node, message string) string{
	"syslog": func(at time.Time, node, message string) string {
		return at.Format("Jan _2 15:04:05 ") + node + " kernel: " + message
	},
	"iso": func(at time.Time, node, message string) string {
		return at.Format("2006-01-02T15:04:05.000000-07:00 ") + node + " kernel: " + message
	},
	"dmesg": func(at time.Time, _, message string) string {
		return fmt.Sprintf("[%12.6f] %s", at.Sub(bootTime).Seconds(), message)
	},
	"journal": func(at time.Time, node, message string) string {
		return fmt.Sprintf(`{"_TRANSPORT":"kernel","_HOSTNAME":%q,"__REALTIME_TIMESTAMP":"%d","MESSAGE":%q}`, node, at.UnixMicro(), message)
	},
}

// bootTime is when the nodes of dmesg were started.
var bootTime = time.Unix(1795200000, 0)

// consoleLine is a line that the kernel writes to the console as well as to its debug log.
type consoleLine struct {
	at      time.Time
	message string
}

// consoleLines returns the lines of a debug log that the console has, too.
func consoleLines(t *testing.T, path string) (list []consoleLine) {
	t.Helper()
	f := must.Value(os.Open(path))(t)
	defer f.Close()
	s := bufio.NewScanner(must.Value(capture.Decompress(path, f))(t))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var l debuglog.Line
		if !l.Parse(s.Bytes()) || l.Mask&(debuglog.MaskConsole|debuglog.MaskWarning|debuglog.MaskError) == 0 {
			continue
		}
		var b bytes.Buffer
		const lnet = 0xc00
		origin := "Lustre"
		if l.Subsystem&lnet != 0 {
			origin = "LNet"
		}
		if l.Mask&debuglog.MaskError != 0 {
			origin += "Error"
		}
		b.WriteString(origin + ": ")
		if l.Mask&debuglog.MaskConsole == 0 {
			fmt.Fprintf(&b, "%d:0:(%s:%d:%s()) ", l.PID, l.File, l.Number, l.Func)
		}
		b.Write(l.Message[:min(len(l.Message), 900)])
		list = append(list, consoleLine{time.Unix(0, l.Time).UTC(), b.String()})
	}
	must.NoError(t, s.Err())
	slices.SortStableFunc(list, func(a, b consoleLine) int { return a.at.Compare(b.at) })
	return list
}

// consoleViews returns the console logs of each node of a scene, and of all nodes.
func consoleViews(t *testing.T, scene string, files []sceneFile, form string) (views []*view) {
	t.Helper()
	folder := t.TempDir()
	all := &view{scene: scene, name: "console", group: "consoles"}
	for _, f := range files {
		if !f.log {
			continue
		}
		f.lines = consoleLines(t, f.path)
		f.path = filepath.Join(folder, scene+"."+f.node+"."+form)
		var text strings.Builder
		for _, l := range f.lines {
			text.WriteString(consoleForms[form](l.at, f.node, l.message) + "\n")
		}
		must.NoError(t, os.WriteFile(f.path, []byte(text.String()), 0o600))
		if text.Len() > 0 {
			views = append(views, &view{scene: scene, name: f.node + " console", group: "one console", files: []sceneFile{f}})
			all.files = append(all.files, f)
		}
	}
	if len(all.files) > 1 {
		views = append(views, all)
	}
	return views
}

// TestJudgeConsole is TestJudge for what the console logs of the scenes say, without captures.
func TestJudgeConsole(t *testing.T) {
	if *captures == "" {
		t.Skip("needs -captures")
	}
	truths, _ := readTruths(t)
	files := sceneFiles(t, *captures)
	var views []*view
	for _, scene := range sortedScenes(t, files, truths) {
		views = append(views, consoleViews(t, scene, files[scene], *consoleForm)...)
	}
	judgeViews(t, views, truths)
}
