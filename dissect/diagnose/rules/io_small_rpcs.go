package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	smallRPCs = diagnose.Threshold{Name: "RPCs about an object", Value: 32, Unit: "RPCs",
		Reason: "the first reads of a file are small because read-ahead has to grow, and a few more do not cost much"}
	smallBytes = diagnose.Threshold{Name: "bytes of them", Value: 1 << 20, Unit: "B",
		Reason: "less would fit into one RPC of any release"}
	smallShare = diagnose.Threshold{Name: "mean size, of what an RPC may have", Value: 12.5, Unit: "%",
		Reason: "at an eighth of the size, most of the time goes into requests instead of data"}
	smallWarning = diagnose.Threshold{Name: "RPCs about an object, for a warning", Value: 2048, Unit: "RPCs",
		Reason: "that many take seconds"}
	sequentialShare = diagnose.Threshold{Name: "share that continues another one", Value: 60, Unit: "%",
		Reason: "clients send several at a time, in any order; with more than half adjacent, the RPCs could have been joined"}
)

// usualTransfer is the least that all releases since 1.8 transfer in an RPC.
const usualTransfer = 1 << 20

var _ = add(diagnose.Rule{
	Code:     "io.small_rpcs",
	Severity: diagnose.Warning,
	Summary:  "A client reads or writes a file sequentially in RPCs that are much smaller than they may be.",
	Meaning: "Client and OST agree on a size that an RPC may have, 1 MiB at least (ocd_brw_size). A client collects sequential reads and writes in its cache and sends them in RPCs of that size, unless the application writes with O_SYNC, O_DIRECT or many fsync calls, or the client's limit is lower (osc.*.max_pages_per_rpc). " +
		"The rule looks for objects that are read or written in sequence, and compares the mean size of the RPCs with the size agreed on, or with 1 MiB where the connect is not in the capture. It is a note unless they are many.",
	Limits: "The mean is that of all RPCs of the client about the object in one direction. Stripes that are smaller than the size of an RPC do not explain small RPCs, as the stripes of one object are adjacent in it.",
	Next: "lctl get_param osc.*.max_pages_per_rpc osc.*.rpc_stats on the client. If the writes are synchronous, see whether the application opens the file with O_SYNC or O_DIRECT, or calls fsync after each write; larger writes help. " +
		"For reads, llite.*.max_read_ahead_mb and max_read_ahead_per_file_mb.",
	Thresholds: []*diagnose.Threshold{&smallRPCs, &smallBytes, &smallShare, &smallWarning, &sequentialShare},
	Samples:    []string{"tcp_reset.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &smallTransfers{report: r, agreed: fifo.NewMap[targetClient, uint64](maxTargets)}
		s.accesses = newAccesses(s.changed)
		return diagnose.Hooks{Opcodes: append([]uint32{opcodes.OST_CONNECT, opcodes.MDS_CONNECT}, transferOpcodes...), Sent: s.accesses.sent, Answered: s.answered}
	},
})

// smallTransfers finds sequential reads and writes in small RPCs.
type smallTransfers struct {
	report   *diagnose.Reporter
	accesses *accesses
	agreed   *fifo.Map[targetClient, uint64] // bytes of an RPC
}

// targetClient is a client of a target.
type targetClient struct {
	target string
	client string // UUID
}

func (s *smallTransfers) answered(r *track.RPC, m *dissect.Message) {
	if !track.IsConnect(r.Opcode) || r.Status != 0 || m.Msg == nil || r.Connection == nil {
		return
	}
	if bytes, ok := opcodes.LargestTransfer(m.Msg); ok {
		s.agreed.Put(targetClient{r.Target(), r.Connection.ClientUUID}, bytes)
	}
}

func (s *smallTransfers) changed(k accessKey, a *access, r *track.RPC) {
	if float64(a.count) < smallRPCs.Value || float64(a.bytes) < smallBytes.Value || 100*a.share(a.adjacent) < sequentialShare.Value {
		return
	}
	if a.count&(a.count-1) != 0 && a.count%64 != 0 {
		return // reported often enough
	}
	agreed, known := uint64(usualTransfer), false
	if r.Connection != nil && r.Target() != "" {
		if n, ok := s.agreed.Get(targetClient{r.Target(), r.Connection.ClientUUID}); ok {
			agreed, known = n, true
		}
	}
	if 100*float64(a.mean()) > smallShare.Value*float64(agreed) {
		return
	}
	f := accessFinding(k, a)
	f.Text = fmt.Sprintf("%s%s %s %s on %s in sequence with %d RPCs of %s on average, though ", k.client, jobsText(a.jobs), k.verb(), a.fileText(), a.target, a.count, binarySize(a.mean()))
	if known {
		f.Text += "both agreed on up to " + binarySize(agreed) + " in an RPC."
	} else {
		f.Text += "an RPC may have at least " + binarySize(agreed) + "."
	}
	if k.write && a.synchronous == a.count {
		f.Text += " All were synchronous, as with O_DIRECT or O_SYNC."
	}
	if float64(a.count) < smallWarning.Value {
		f.Severity = diagnose.Note
	}
	s.report.Report(f)
}

// accessFinding returns a finding about an object that a client reads or writes.
func accessFinding(k accessKey, a *access) diagnose.Finding {
	f := diagnose.Finding{Subject: a.target.subject(), First: a.first.Time, Last: a.last.Time, Count: a.count}
	f.Client = k.client
	f.Detail += fmt.Sprintf(" %x:%x %t", k.object[0], k.object[1], k.write)
	f.Prove(a.first, "the first of them")
	f.Prove(a.last, "the last of them so far")
	return f
}
