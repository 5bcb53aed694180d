package rules

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:       "metadata.change_storm",
	Severity:   diagnose.Warning,
	Summary:    "A job makes, renames, changes or removes many files or directories.",
	Meaning:    "Each file or directory that is made, renamed or removed, and each change of its attributes, is a transaction of the MDT that it has to write to disk." + stormMeaning,
	Limits:     "Files that are made by an open with O_CREAT are counted as opens.",
	Next:       "Whether the job needs so many files and directories: archives (tar), databases (HDF5) or a local disk hold small files better. lctl get_param mdt.*.job_stats on the MDS has the share of each job; directories striped over MDTs (lfs mkdir -c) divide the load.",
	Thresholds: stormThresholds,
	Samples:    []string{"mkdir_storm.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return startStorm(r, "a change of", "change", func(*track.RPC, *dissect.Message) bool { return true }, opcodes.MDS_REINT)
	},
})
