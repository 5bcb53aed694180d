// Package trouble is the flight recorder of lshark: where something is found, it writes a folder
// with the frames from before and after, the findings, and a page about them.
//
// A [Recorder] is for captures that are read once. It keeps the last frames in memory. A finding,
// or an RPC, opens an incident: the findings of one story, and the time of which frames are
// written. While an incident is open, frames that leave the memory are written to its folder;
// when its time is over, the others are. [Write] is for captures that can be read again.
//
// The goroutine that reads frames calls the methods of a Recorder. It never waits for the disk:
// other goroutines write. Frames are kept in chunks that all use without a copy. A chunk is
// used again when nobody needs it, so the memory for frames has a bound also where the disk is
// slow; frames for which there is no room then are left out and counted.
//
// A folder has a hidden name until it is complete (package outdir).
package trouble
