package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// What operations do.
const (
	Connects      Actions = 1 << iota // makes a connection
	Disconnects                       // ends it
	CallsBack                         // is sent by the server to a client, about a lock
	SetsUpContext                     // sets up or ends a security context: the reply is not from the target
	OfObject                          // is about an OST object
	OfFile                            // is about the file of the FID in the request
	Opens
	Creates // a file; of an open: if it is not there
	Stats   // asks for attributes
	LooksUp // asks what a name stands for
	Glimpses
	ReadsDir
	Reads
	Writes
	Punches
	Syncs
	SetsAttrs
	Xattrs // reads or sets extended attributes
	Links
	Removes // a name
	Renames
	Migrates
	AsksForLock // with an intent, and does nothing else
	OtherLock   // the lock that is granted may be another one than is asked for
	FindsPath   // of a FID
	SwapsLayouts
	MergesLayouts
	AcquiresQuota // or connects to where it is acquired
)

// ActionsOf returns what an operation does in a variant, which may be nil.
func ActionsOf(opcode uint32, v *Variant) (does Actions) {
	if r := ByOpcode(opcode); r != nil {
		does = r.Does
	}
	if v != nil {
		does |= v.Does
	}
	return does
}

// OpcodesOf returns the operations that do, in all their variants, one of the given actions.
func OpcodesOf(does Actions) (opcodes []uint32) {
	for _, r := range Protocol.RPCs() {
		if r.Does&does != 0 {
			opcodes = append(opcodes, r.Opcode)
		}
	}
	return opcodes
}

// IsConnect reports whether an operation makes a connection.
func IsConnect(opcode uint32) bool { return ActionsOf(opcode, nil)&Connects != 0 }

// IsDisconnect reports whether an operation ends a connection.
func IsDisconnect(opcode uint32) bool { return ActionsOf(opcode, nil)&Disconnects != 0 }

// IsCallback reports whether an operation is a lock callback, from a server to a client.
func IsCallback(opcode uint32) bool { return ActionsOf(opcode, nil)&CallsBack != 0 }

// SetsContext reports whether an operation sets up or ends a security context.
func SetsContext(opcode uint32) bool { return ActionsOf(opcode, nil)&SetsUpContext != 0 }
