package ib

// Lengths of the headers before a BTH, in bytes.
const (
	LRHSize = 8  // local route header, with which all packets on a link of InfiniBand begin
	GRHSize = 40 // global route header, in RoCEv1 and between subnets of InfiniBand
)
