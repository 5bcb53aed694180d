package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render/records"
)

// sender is a record of a new kind: a node with the number of its messages.
type sender struct {
	node     lnet.NID
	messages uint64
}

var senderTable = records.Table[*sender]{Record: "sender", Command: "senders", Prefix: "sender.", InFilters: true, Keys: func() []*records.Key[*sender] {
	return []*records.Key[*sender]{
		records.NIDKey("node", "node that sends", func(s *sender) lnet.NID { return s.node }),
		records.NumberKey("messages", "number of messages", func(s *sender) uint64 { return s.messages }),
	}
}}

type sendersOptions struct{ flags.Job }

// newSenders returns a command with all that one needs.
func newSenders(sys *scan.System) *cobra.Command {
	c := &sendersOptions{flags.NewJob(sys, flags.RecordForms("table")...)}
	return flags.Command(&cobra.Command{Use: "senders"}, c, flags.Help{Counted: "messages"}, nil, (*sendersOptions).run)
}

func (c *sendersOptions) run() error {
	x := flags.Open(&c.Job, &senderTable, scan.Options{Limit: c.Count})
	counts := make(map[lnet.NID]*sender)
	x.Add(scan.Consumer{Message: func(m *dissect.Message) error {
		s := counts[m.LNet.Src]
		if s == nil {
			s = &sender{node: m.LNet.Src}
			counts[s.node] = s
		}
		s.messages++
		return nil
	}})
	return x.Run(func() {
		for _, s := range counts {
			x.Emit(s)
		}
	})
}

// TestNewRecords checks that records of a new kind have all forms, with nothing but their keys.
func TestNewRecords(t *testing.T) {
	for args, want := range map[string]string{
		"-T table":                              "node       messages\n192.0.2.3         1\n",
		"-T json":                               `{"node":"192.0.2.3@tcp","messages":1}` + "\n",
		"-T fields -e messages -E header=y":     "messages\n1\n",
		"-T parquet":                            "PAR1",
		"-T fields -e message":                  "did you mean messages",
		"-T table -o - --color always -n -q -v": "192.0.2.3@tcp",
	} {
		var out, errs bytes.Buffer
		cmd := newSenders(testSystem(&out, &errs))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(append(strings.Fields(args), "-c", "1", "../../pcaps/io.pcap.zst"))
		err := cmd.Execute()
		if strings.HasPrefix(want, "did you mean") {
			assert.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", args, err)
			continue
		}
		must.NoError(t, err)
		assert.That(t, strings.Contains(out.String(), want), "%s: %q", args, &out)
	}
}
