package schema

import "fmt"

// Class is what a value shows about a site. It decides what becomes of the value in a capture
// that is given to others (lshark anonymize). Integers without names of their values or a format,
// and texts, have one as an option; of other fields it follows from the type.
type Class uint8

// The classes.
const (
	Unclassified    Class = iota // no class: the declaration is refused
	Harmless                     // nothing, such as counts, indices, versions, keys of RDMA: kept
	Keyword                      // word of the protocol: kept where it is one
	ContextHandle                // of a security context: kept where it has the size of one
	DataSum                      // checksum of data, computed for what replaces them, as the other ones
	MessageSum                   // of the ptlrpc_body
	TransportSum                 // of a message of socklnd or o2iblnd
	Removed                      // data of files, keys, tokens, unused bytes, texts that may have anything: zero
	UserID                       // number of a user, group or project: replaced, as all following ones
	InodesOrID                   // number of inodes, in quota commands that list ids the first of these
	Address                      // NID, IP address or GID, in bytes or as text
	FileName                     // one component of a path
	EntryName                    // one of a path, of some operations that of an extended attribute or log
	FilePath                     // with slashes
	TargetName                   // target, file system, log of a configuration, UUID
	PlainName                    // pool, nodemap, session
	JobName                      // job id, security context
	ConfigParams                 // parameters of a configuration, such as lov.stripesize=4M
	ConfigComment                // of a marker in a configuration log
	CommandArgument              // of a configuration command: target, parameter, number
	XattrName                    // name of an extended attribute, or several
	NumClasses
)

// classOfType returns the class that follows from the type of a field, or Unclassified.
func (f *Field) classOfType() Class {
	if f.Pad {
		return Removed
	}
	switch f.Kind {
	case Uint, Int:
		switch {
		case f.Format == NID4, f.Format == IPv4:
			return Address
		case f.Names == nil && (f.Format == Plain || f.Format == Hex):
			return Unclassified
		}
		return Harmless
	case Bytes:
		return Removed
	case Record:
		switch f.Type.Atom {
		case FID, OSTID, OSTIDPlain, Handle:
			return Harmless
		case NID:
			return Address
		case UUID:
			return TargetName
		}
	case Virtual:
		return Harmless // it has no bytes
	}
	return Unclassified
}

// mustHaveClass panics when a field, or what it is made of, is a value without a class.
func (f *Field) mustHaveClass(in string) {
	switch f.Kind {
	case Array:
		e := *f.Elem
		e.Name = f.Name
		e.mustHaveClass(in)
		return
	case List, Union:
		for _, o := range f.Options {
			o.mustHaveClass(in + "." + f.Name)
		}
		return
	case Message:
		return
	case Record:
		if f.Type.Atom == Plain {
			return
		}
	}
	if f.Class == Unclassified {
		panic(fmt.Sprintf("%s.%s has no class. Does it show anything about a site? Give it one of the options "+
			"UserID, Address, FileName …, or Removed if it may have anything, or Harmless", in, f.Name))
	}
}
