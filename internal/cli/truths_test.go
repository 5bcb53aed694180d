package cli

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// truth is a line of testdata/truths.tsv.
type truth struct {
	scene, kind string
	from, until float64 // seconds since the epoch
	places      []place // each is true
	accepted    []place
	visibleFrom []string
	what        string
}

// readTruths returns the lines of testdata/truths.tsv by scene, and the samples of the rules
// that are parts of scenes.
func readTruths(t *testing.T) (scenes map[string][]truth, samples []sceneFile) {
	t.Helper()
	scenes = make(map[string][]truth)
	for line := range strings.Lines(string(must.Value(os.ReadFile("testdata/truths.tsv"))(t))) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		x := truth{scene: columns[0], kind: columns[1]}
		switch x.kind {
		case "ordinary":
		case "sample":
			must.Equal(t, len(columns), 4, line, "columns")
			samples = append(samples, sceneFile{path: glob(t, ruleSamples+columns[2]+".pcap*")[0], scene: x.scene, node: columns[3]})
			continue
		default:
			must.Equal(t, len(columns), 9, line, "columns")
			x.from, x.until = seconds(t, columns[2], 0), seconds(t, columns[3], math.Inf(1))
			x.places, x.accepted = parsePlaces(columns[4]), parsePlaces(columns[5])
			x.visibleFrom, x.what = strings.Fields(columns[6]), columns[8]
			must.That(t, x.from < x.until && len(x.places) > 0 && (x.kind == "fault") == (len(x.visibleFrom) > 0), "%s", line)
		}
		scenes[x.scene] = append(scenes[x.scene], x)
	}
	return scenes, samples
}

func seconds(t *testing.T, text string, whole float64) float64 {
	t.Helper()
	if text == "-" {
		return whole
	}
	return must.Value(strconv.ParseFloat(text, 64))(t)
}

// isVisible reports whether one of the files shows something of a fault.
func (x *truth) isVisible(files []sceneFile) bool {
	return slices.ContainsFunc(files, func(f sceneFile) bool {
		return (slices.Contains(x.visibleFrom, f.node) || slices.Contains(x.visibleFrom, f.node+":"+f.kind())) && (f.lines == nil || x.isIn(f.lines))
	})
}

// isIn reports whether a console log has a line of the time of a fault, or of soon after it.
func (x *truth) isIn(lines []consoleLine) bool {
	const after = 60
	return slices.ContainsFunc(lines, func(l consoleLine) bool {
		at := float64(l.at.UnixNano()) / 1e9
		return at >= x.from && at <= x.until+after
	})
}

func (x *truth) overlaps(f *finding) bool { return f.begin() <= x.until && f.end() >= x.from }

// place is a suspect, with the names of nodes in place of NIDs.
type place struct {
	kind, target, node string
	nodes              [2]string // of a path or of LNet, in the order of the direction where there is one
	directed           bool
}

// anyNode stands for every node in a truth.
const anyNode = "*"

func parsePlaces(text string) (list []place) {
	for part := range strings.SplitSeq(text, ";") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		p := place{kind: words[0]}
		for _, word := range words[1:] {
			if from, to, ok := strings.Cut(word, ">"); ok {
				p.nodes, p.directed = [2]string{from, to}, true
			} else if a, b, ok := strings.Cut(word, "-"); ok {
				p.nodes = [2]string{a, b}
			} else if strings.ToUpper(word) == word {
				p.target = word
			} else {
				p.node = word
			}
		}
		list = append(list, p)
	}
	return list
}

func (p place) String() string {
	words := []string{p.kind}
	if p.nodes[0] != "" {
		between := "-"
		if p.directed {
			between = ">"
		}
		words = append(words, p.nodes[0]+between+p.nodes[1])
	}
	words = append(words, p.target, p.node)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// unlocated are the kinds of places that need neither a node nor a target.
const unlocated = "application admin config load capture"

// covers reports whether a suspect q is the place p or a part of it: of the same kind, nothing
// that both say differs, and they have something in common unless p says nothing more.
func (p place) covers(q place) bool {
	if p.kind != q.kind {
		return false
	}
	common := p == place{kind: p.kind} || q == place{kind: q.kind} && strings.Contains(unlocated, q.kind)
	for _, words := range [][2]string{{p.target, q.target}, {p.node, q.node}} {
		switch {
		case words[0] == "" || words[1] == "":
		case words[0] != words[1] && words[0] != anyNode:
			return false
		default:
			common = true
		}
	}
	if p.nodes[0] != "" && q.nodes[0] != "" {
		same := func(a, b string) bool { return a == b || a == anyNode }
		straight := same(p.nodes[0], q.nodes[0]) && same(p.nodes[1], q.nodes[1])
		reversed := same(p.nodes[0], q.nodes[1]) && same(p.nodes[1], q.nodes[0])
		if !straight && (!reversed || p.directed && q.directed) {
			return false
		}
		common = true
	}
	return common
}

func anyCovers(list []place, q place) bool {
	return slices.ContainsFunc(list, func(p place) bool { return p.covers(q) })
}

// finding is what the tests read of a finding of diagnose.
type finding struct {
	Code, Severity, ID     string
	Cause                  *string
	Time, Until            time.Time
	Target, Client, Server string
	TargetIndex            string `json:"target_index"`
	Node                   string
	Suspects, Cleared      []suspect
}

// suspect is a place in the JSON of a finding.
type suspect struct {
	Place, Target, Node, Direction string
	Nodes                          []string
}

func (s *suspect) place() place {
	p := place{kind: s.Place, target: targetIndex(s.Target), node: nodeName(s.Node)}
	if from, to, ok := strings.Cut(s.Direction, " > "); ok {
		p.nodes, p.directed = [2]string{nodeName(from), nodeName(to)}, true
	} else if len(s.Nodes) == 2 {
		p.nodes = [2]string{nodeName(s.Nodes[0]), nodeName(s.Nodes[1])}
	} else if p.node != "" && (s.Place == "path" || s.Place == "lnet") { // to one node, whoever the others are
		p.nodes, p.node = [2]string{p.node, anyNode}, ""
	}
	return p
}

// nodeName returns the name of a node of the test clusters, the NID of any other.
func nodeName(nid string) string { return cmp.Or(nodeOf(nid), nid) }

// targetIndex returns what is left of the name of a target without the file system.
func targetIndex(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

func placesOf(list []suspect) (places []place) {
	for i := range list {
		places = append(places, list[i].place())
	}
	return places
}

func (f *finding) suspects() []place { return placesOf(f.Suspects) }

// cleared returns the places that a finding clears. A target that is not named is the one of
// the finding.
func (f *finding) cleared() []place {
	list := placesOf(f.Cleared)
	for i := range list {
		if p := &list[i]; p.target == "" && (p.kind == "storage" || p.kind == "target") {
			p.target = f.target()
		}
	}
	return list
}

func (f *finding) target() string { return cmp.Or(targetIndex(f.Target), f.TargetIndex) }
func (f *finding) begin() float64 { return float64(f.Time.UnixNano()) / 1e9 }
func (f *finding) end() float64   { return max(f.begin(), float64(f.Until.UnixNano())/1e9) }

// String returns the code and the suspects.
func (f *finding) String() string {
	var words []string
	for _, p := range f.suspects() {
		words = append(words, p.String())
	}
	return f.Code + "{" + strings.Join(words, " | ") + "}"
}

// parseFindings returns the findings that are warnings and errors, and those that such follow
// from.
func parseFindings(t *testing.T, out string) (list []*finding) {
	t.Helper()
	causes := make(map[string]bool)
	for line := range strings.Lines(out) {
		f := new(finding)
		must.NoError(t, json.Unmarshal([]byte(line), f))
		if list = append(list, f); f.Severity != "note" && f.Cause != nil {
			causes[*f.Cause] = true
		}
	}
	return slices.DeleteFunc(list, func(f *finding) bool { return f.Severity == "note" && !causes[f.ID] })
}

// TestPlaces checks which places are the same.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		truth, json string
		want        bool
	}{
		{"storage OST0000 oss", `{"place":"storage","target":"lustre-OST0000","node":"192.0.2.2@tcp"}`, true},
		{"storage OST0000 oss", `{"place":"storage","node":"192.0.2.2@tcp"}`, true},
		{"storage OST0000 oss", `{"place":"storage"}`, false},
		{"storage OST0000 oss", `{"place":"storage","target":"lustre-OST0001","node":"192.0.2.2@tcp"}`, false},
		{"storage OST0000 oss", `{"place":"target","target":"lustre-OST0000","node":"192.0.2.2@tcp"}`, false},
		{"target MGS mds", `{"place":"target","target":"MGS"}`, true},
		{"admin", `{"place":"admin","node":"192.0.2.1@tcp"}`, true},
		{"admin mds", `{"place":"admin"}`, true},
		{"holder", `{"place":"holder","node":"192.0.2.4@tcp"}`, true},
		{"node client2", `{"place":"node","node":"192.0.2.4@o2ib"}`, true},
		{"node client2", `{"place":"node","node":"192.0.2.77@tcp"}`, false},
		{"path client2-oss", `{"place":"path","nodes":["192.0.2.2@tcp","192.0.2.4@tcp"]}`, true},
		{"path client2-oss", `{"place":"path","nodes":["192.0.2.2@tcp","192.0.2.3@tcp"]}`, false},
		{"path client>*", `{"place":"path","nodes":["192.0.2.1@tcp","192.0.2.3@tcp"],"direction":"192.0.2.3@tcp > 192.0.2.1@tcp"}`, true},
		{"path client>*", `{"place":"path","nodes":["192.0.2.1@tcp","192.0.2.3@tcp"],"direction":"192.0.2.1@tcp > 192.0.2.3@tcp"}`, false},
		{"path client>*", `{"place":"path","nodes":["192.0.2.1@tcp","192.0.2.3@tcp"]}`, true},
		{"path *-client", `{"place":"path","nodes":["192.0.2.1@tcp","192.0.2.4@tcp"]}`, false},
		{"thread OST0000", `{"place":"thread","node":"192.0.2.2@tcp"}`, false},
	} {
		var s suspect
		must.NoError(t, json.Unmarshal([]byte(tt.json), &s))
		truth := parsePlaces(tt.truth)[0]
		assert.Equal(t, truth.String(), tt.truth)
		assert.Equal(t, truth.covers(s.place()), tt.want, tt.truth, tt.json)
	}
}
