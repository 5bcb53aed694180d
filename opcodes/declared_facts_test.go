package opcodes

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// The tests in this file find what was forgotten when a message was added. The
// message of each says what to do.

// factless are declarations that have no facts, by the reason.
var factless = map[string]string{
	"made of all declarations": "group opcode",
	"ours, for the content of a buffer or of bulk data": `struct cfg_marker_32, struct fid2path_key, struct idxpage_quota_slave, struct kuc_message, struct llog_cfg_rec, struct
		llog_other_rec, struct llog_pad_rec, struct niobuf_inline, struct quota_iter_acct, struct quota_iter_glb, message
		MDS_GET_INFO other`,
	"ours, for the headers of a packet": `struct ib_packet`,
	"ours, for a part that Lustre's struct does not name": `field changelog_ext_nid.cr_nid_be, field changelog_ext_nid.hole,
		field changelog_filter.cf_tail, field ksock_hello_v1.hello, field ldlm_extent.end_overwritten`,
	"Lustre's sources name it by a macro": `field obdo.o_undirty, field obdo.o_whence, field obdo.o_cksum, field obdo.o_falloc_mode, field obdo.o_grant_used,
		field lquota_lvb.lvb_glb_ver, field lustre_msg_v2.lm_result`,
}

// TestDeclarationsHaveFacts finds declarations that no fact holds: a wrong
// offset or number in them would not be noticed.
func TestDeclarationsHaveFacts(t *testing.T) {
	have := factNames(t)
	withoutFacts, used := make(map[string]bool), make(map[string]bool)
	for _, list := range factless {
		for _, name := range strings.Split(list, ",") {
			withoutFacts[strings.Join(strings.Fields(name), " ")] = true
		}
	}
	check := func(kind, name, todo string) bool {
		key := kind + " " + name
		if withoutFacts[key] {
			used[key] = true
			assert.That(t, !have[key], "%s is in the facts: remove it from factless", key)
			return false
		}
		assert.That(t, have[key], "%s is declared and not in the facts: add %s to a table in opcodes/testdata%s", key, todo, howTo)
		return have[key]
	}
	for _, s := range Protocol.Structs() {
		if s.Size == 0 || !check("struct", s.Name, "its size and its fields") { // without a fixed part nothing has a place
			continue
		}
		for _, f := range s.Fields {
			if f.Name != "" && f.Kind != Virtual && hasPlace(f) {
				check("field", s.Name+"."+f.Name, "its offset and size")
			}
			if len(f.When) > 0 {
				check("condition of field", s.Name+"."+f.Name, "the flags that make it valid, below the headings of validity.tsv,")
			}
		}
	}
	inTable := make(map[string]bool)
	for _, g := range otherGroups() {
		inTable[g.Group] = true
	}
	for _, g := range Protocol.Groups() {
		if inTable[g.Group] || !check("group", g.Group, "its values") {
			continue
		}
		for _, v := range g.Values {
			if g == FailLoc && v.Value>>16 == 0 {
				continue // fail_loc.tsv has the numbers
			}
			check("value", g.Group+" "+g.Full(v), "its number")
		}
	}
	for _, r := range Protocol.RPCs() {
		check("opcode", r.Name, "its number")
		if r.Retired {
			continue
		}
		for _, v := range r.Variants {
			if withoutFacts["message "+r.Name+" "+v.Name] {
				used["message "+r.Name+" "+v.Name] = true
				continue
			}
			for i, f := range v.Request {
				check("buffer", fmt.Sprintf("%s %s request %d %s", r.Name, v.Name, i, f.Name), "a row for the message")
			}
			for i, f := range v.Reply {
				check("buffer", fmt.Sprintf("%s %s reply %d %s", r.Name, v.Name, i, f.Name), "a row for the message")
			}
		}
	}
	for key := range withoutFacts {
		assert.That(t, used[key], "%s is listed in factless and not declared: remove it there", key)
	}
}

// hasPlace reports whether a field has a place that can be wrong: not records behind a struct, what fills them up, and what
// stands behind a part of variable length.
func hasPlace(f *Field) bool {
	return f.Off >= 0 && f.Kind != List && f.Kind != Union && (!f.Pad || f.Size != 0)
}

// factNames are the names of all that the facts have, by kind.
func factNames(t *testing.T) map[string]bool {
	have := make(map[string]bool)
	all := readFacts(t)
	for _, row := range all.Structs {
		have["struct "+row[0]] = true
		have["field "+row[0]+"."+row[1]] = true
		have["field "+row[0]+"."+row[1][strings.LastIndexByte(row[1], '.')+1:]] = true
	}
	for _, row := range all.Validity {
		have["condition of field "+row[0]+"."+row[1]] = row[2] == "valid" || have["condition of field "+row[0]+"."+row[1]]
	}
	for _, row := range all.Constants {
		have["group "+row[0]] = true
		have["value "+row[0]+" "+row[1]] = true
		if strings.HasPrefix(row[0], "opcode.") {
			have["opcode "+row[1]] = true
		}
	}
	buffers, err := all.MessageBuffers()
	must.NoError(t, err)
	for _, b := range buffers {
		have[fmt.Sprintf("buffer %s %s %s %d %s", b.Operation, variantName(b.Variant), direction(b.Reply), b.Index, b.Name)] = true
	}
	return have
}

// declaration matches the declaration of a struct or of a group, whose name may be in double quotes.
var declaration = regexp.MustCompile(`(?m)^[^/\n]*(?:&Struct\{Name: "(\w+)"|\b(?:Enum|Bits)\("(\w+)")`)

// TestDeclarationsAreKnown finds structs and groups that explanations and filters do not know,
// as nothing in Protocol refers to them.
func TestDeclarationsAreKnown(t *testing.T) {
	known := make(map[string]bool)
	for _, s := range Protocol.Structs() {
		known["struct "+s.Name] = true
	}
	for _, g := range Protocol.Groups() {
		known["group "+g.Group] = true
	}
	files, err := filepath.Glob("*.go")
	must.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.NoError(t, err)
		for _, m := range declaration.FindAllSubmatch(text, -1) {
			if name := string(m[1]); name != "" && name != "sk_netstring" && !known["struct "+name] {
				t.Errorf("%s: no message has struct %s: use it in a buffer, or add it to OtherStructs in protocol.go", file, name)
			}
			if name := string(m[2]); name != "" && !known["group "+name] {
				t.Errorf("%s: no field has the names of %s: give them to one, or add them to OtherGroups in protocol.go, or to other_groups.tsv if no code uses them", file, name)
			}
		}
	}
}

// byName matches code that reads a field, a bit or a value by its name.
var byName = regexp.MustCompile(`\b(\w+)(?:\.Resolve\(\))?\.(?:Field|Bit|Number)\(("\w+"(?:,\s*"\w+")*)\)`)

// goName matches the Go variable of a struct or a group, and the name that it has in the protocol.
var goName = regexp.MustCompile(`(?m)^(?:var |\t)(\w+) += (?:&Struct\{Name: "(\w+)"|(?:Enum|Bits)\("(\w+)")`)

// TestNamesInCode finds names of fields, bits and values in code that no declaration has: they would panic when the code runs.
func TestNamesInCode(t *testing.T) {
	declared, err := filepath.Glob("*.go")
	must.NoError(t, err)
	users, err := filepath.Glob("../dissect/track/*.go")
	must.NoError(t, err)
	var all strings.Builder
	for _, path := range append(declared, users...) {
		text, err := os.ReadFile(path)
		must.NoError(t, err)
		all.Write(text)
	}
	has := make(map[string]func(name string) bool)
	for _, m := range goName.FindAllStringSubmatch(all.String(), -1) {
		if s := StructNamed(m[2]); s != nil {
			has[m[1]] = func(name string) bool { _, ok := s.Lookup(name); return ok }
		}
		if i := slices.IndexFunc(Protocol.Groups(), func(n *Names) bool { return n.Group == m[3] }); i >= 0 {
			has[m[1]] = func(name string) bool {
				return slices.ContainsFunc(Protocol.Groups()[i].Values, func(v Value) bool { return v.Name == name })
			}
		}
	}
	found := 0
	for _, m := range byName.FindAllStringSubmatch(all.String(), -1) {
		for name := range strings.SplitSeq(m[2], ",") {
			if has[m[1]] != nil {
				found++
				assert.That(t, has[m[1]](strings.Trim(strings.TrimSpace(name), `"`)), "%s: there is no name %s", m[0], name)
			}
		}
	}
	assert.That(t, found > 300, "only %d names in code were recognized", found)
}

// TestDeclarationsAreDescribed finds what a user would see without a word of
// explanation, and messages with buffers that nothing is said of in a summary line.
func TestDeclarationsAreDescribed(t *testing.T) {
	loadFailLocs()
	for _, r := range Protocol.RPCs() {
		assert.That(t, r.Doc != "", "%s has no Doc: add what the operation does, for lshark explain", r.Name)
		for _, v := range r.Variants {
			if v.SummarizeRequest == nil && !r.Retired && len(v.Request) > 1 {
				t.Errorf("%s %s has no SummarizeRequest: add a func that writes the summary line of the request, or NoSummary%s", r.Name, v.Name, howTo)
			}
			if v.SummarizeReply == nil && len(v.Reply) > 1 {
				t.Errorf("the reply of %s %s has %s, and no SummarizeReply: give the variant a func that adds to the line what matters "+
					"in it, or NoSummary if nothing does", r.Name, v.Name, v.Reply[1].Name)
			}
		}
	}
	for _, s := range Protocol.Structs() {
		assert.That(t, s.Doc != "", "struct %s has no text: add as its Doc what it holds, for lshark explain", s.Name)
		for _, f := range s.Fields {
			if f.Doc == "" && f.Names == nil && f.Kind <= Text && !f.Pad {
				t.Errorf("%s.%s has no text: add to its declaration what it means, for lshark explain", s.Name, f.Name)
			}
		}
	}
	for _, g := range Protocol.Groups() {
		assert.That(t, g.Doc != "", "group %s has no text: add to its declaration what the values are, for lshark explain", g.Group)
		for _, v := range g.Values {
			if v.Doc == "" && g.Flags && v.Value != 0 && !v.Alias && g != FailLoc {
				t.Errorf("%s of group %s has no Doc: add what the flag means, for lshark explain", v.Name, g.Group)
			}
		}
	}
}

// TestRequestsHaveSubjects finds a request with a FID by which lshark does not find the request.
func TestRequestsHaveSubjects(t *testing.T) {
	for _, r := range Protocol.RPCs() {
		for _, v := range r.Variants {
			name, where := strings.TrimSpace(r.Name+" "+v.Name), ""
			for _, buf := range v.Request {
				eachField(buf, make(map[*Field]bool), func(f *Field) {
					if f.Type == LuFid {
						where = buf.Name
					}
				})
			}
			assert.That(t, where == "" || v.Subject != nil, "%s has a FID in %s and no Subject: add a func that returns it, or NoSubject", name, where)
		}
	}
}

// TestIntentsHaveMessages finds a bit of an intent without the messages that
// have it, and an intent whose errors would count as success.
func TestIntentsHaveMessages(t *testing.T) {
	var all uint64
	for _, v := range ByOpcode(LDLM_ENQUEUE).Variants {
		all |= v.Select
		if v.InnerError == nil && slices.Contains(v.Request, bufLdlmIntent) {
			t.Errorf("intent %s has no InnerError: add InnerError: intentError to its variant, else its errors count as success%s", v.Name, howTo)
		}
	}
	// These are chosen by more than their bit; a READDIR was never sent.
	known := map[string]bool{"OPEN": true, "CREAT": true, "READDIR": true, "GETATTR": true, "LOOKUP": true}
	for _, v := range LdlmIntent.Values {
		if !v.Alias && !known[v.Name] && v.Value&all == 0 {
			t.Errorf("intent %s has no messages: declare it with DefineIntent, with its buffers, in place of its value in LdlmIntent%s", v.Name, howTo)
		}
	}
}

// TestValidityWordsAreUsed finds a word of validity flags, or a bit of one, without a field
// that depends on it.
func TestValidityWordsAreUsed(t *testing.T) {
	for _, s := range Protocol.Structs() {
		for _, word := range s.Fields {
			if otherBits[word.Name] || word.Names == nil || !word.Names.Flags {
				continue
			}
			var used []string
			for _, f := range s.Fields {
				for _, c := range f.When {
					if c.Field == word.Name {
						used = append(used, c.Bits...)
					}
				}
			}
			if used == nil {
				assert.That(t, !strings.HasSuffix(word.Name, "_valid"),
					"no field of %s depends on %s: add When{%q, …} with the names of its bits to the fields that it makes valid%s", s.Name, word.Name, word.Name, howTo)
				continue
			}
			for _, v := range word.Names.Values {
				if !v.Alias && !slices.Contains(used, v.Name) {
					t.Errorf("no field of %s depends on the bit %s of %s: add When{%q, %q} to the field that it makes valid, or list the word in otherBits",
						s.Name, v.Name, word.Name, word.Name, v.Name)
				}
			}
		}
	}
}

// otherBits are words of flags with bits that make no field of the struct valid. Those of a request that
// only says what it changes have no others.
var otherBits = map[string]bool{"dqb_valid": true, "lr_valid": true, "lsa_valid": true, "lsr_valid": true, "mbo_valid": true, "msl_flags": true,
	"o_valid": true, "ocd_connect_flags": true, "ocd_connect_flags2": true, "pb_flags": true, "sa_valid": true, "sl_flags": true, "sx_valid": true}

// variantName is the name of a variant in messages.tsv: "-" is of the one without a name, and a word behind a colon tells
// messages of one variant apart.
func variantName(variant string) string {
	name, _, _ := strings.Cut(variant, ":")
	return strings.TrimPrefix(name, "-")
}
