package monitor

// publish adds what the counts have grown by.
func (x *captureFamilies) publish(f *frameCounts, c, old *CaptureStats) {
	add(x.frames, f.n, 0)
	add(x.bytes, f.bytes, 0)
	f.n, f.bytes = 0, 0
	add(x.dropped, c.Dropped, old.Dropped)
	add(x.gaps, c.TCP.Gaps+c.IB.Gaps, old.TCP.Gaps+old.IB.Gaps)
	add(x.lost, c.TCP.LostBytes, old.TCP.LostBytes)
	add(x.cut, c.TCP.CutBytes+c.IB.CutBytes, old.TCP.CutBytes+old.IB.CutBytes)
	add(x.resyncs, c.TCP.Resyncs, old.TCP.Resyncs)
	add(x.skipped, c.TCP.SkippedBytes, old.TCP.SkippedBytes)
	add(x.notLNet, c.TCP.NotLNet, old.TCP.NotLNet)
	add(x.truncated, c.Unaffordable, old.Unaffordable)
	add(x.messages, c.Messages, old.Messages)
	add(x.segments, c.TCP.Segments, old.TCP.Segments)
	add(x.anomalies, c.TCP.Marks.Retransmissions, old.TCP.Marks.Retransmissions, markRetransmission)
	add(x.anomalies, c.TCP.Marks.Fast, old.TCP.Marks.Fast, markFast)
	add(x.anomalies, c.TCP.Marks.Spurious, old.TCP.Marks.Spurious, markSpurious)
	add(x.anomalies, c.TCP.Marks.OutOfOrder, old.TCP.Marks.OutOfOrder, markOutOfOrder)
	add(x.anomalies, c.TCP.Marks.ZeroWindows, old.TCP.Marks.ZeroWindows, markZeroWindow)
	add(x.packets, c.IB.Packets, old.IB.Packets)
	add(x.retransmits, c.IB.Retransmits, old.IB.Retransmits)
	add(x.naks, c.IB.Naks, old.IB.Naks)
}
