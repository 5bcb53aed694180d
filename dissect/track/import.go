package track

import (
	"github.com/lshark/lshark/opcodes"
)

// Import is a connection between a client and a target, and its history: the import
// of the client and the export of the server.
type Import struct {
	*Connection
	State           ImportState
	First, Last     Point       // the first and the last message of it
	Changed         Point       // the last message that added to ImportLog
	Before          ImportState // the last message
	LastServed      Point       // the last reply of a server that knew the client and accepted it
	Selected        bool        // by Imports.Select
	FromLog         bool        // it is known from logs only, which do not have its messages
	evicting        bool        // by a server, and not connected since
	logEvictions    [2]int      // by lines of its client and its server
	hasClientLog    bool        // of them, by one of the client
	hasLoggedStates bool        // which says of each state when it began
	kindByName      string      // kind by the name that a log has
	Evictions       int
	ConnectParameters
	ImportCounts
	ImportLog
	importMarks

	stateBefore      ImportState // state of a replay that was interrupted by a reconnect
	connectIsInitial bool        // of the last connect
	deactivated      bool        // the server denied the connection
	nothingCached    bool        // no lock or transaction since the initial connect, which was captured
	use              use
	transactions     uncommitted
	outage           *Outage
	denied           bool // the server denied the connection again and again
	callbacks        []pendingCallback
}

// ImportCounts counts the messages of a connection, and has its latest
// transaction numbers.
type ImportCounts struct {
	Requests      int64
	Replies       int64
	Pings         int64
	RTT           int64 // nanoseconds, of the last RPC, 0 when unknown
	LastReply     int64 // time of the last reply, 0 without any
	LastCommitted uint64
	LastTransno   uint64
	HasCommitted  bool // a reply was readable, so LastCommitted and LastTransno are known
}

// ConnectParameters are what the client asked for in connects, and what the
// server granted.
type ConnectParameters struct {
	Asked, Granted ConnectData // of the last connect that has them
	HasAsked       bool
	HasGranted     bool
	Limits         ConnectLimits   // granted, of the last connect that has them
	ConnCnt        uint32          // 0: unknown
	Attempts       int             // connect requests
	Failures       map[int32]int64 // connects and security contexts that were refused, by errno
}

// ConnectData has the fields of struct obd_connect_data in a connect request,
// or in the reply to it.
type ConnectData struct {
	Flags, Flags2 uint64
	Version       uint32
	Instance      uint32
}

// ConnectLimits are the sizes and counts in struct obd_connect_data of the reply to a connect.
type ConnectLimits struct {
	data [80]byte // of the struct, up to ocd_maxmodrpcs
	big  bool
}

func (l *ConnectLimits) read(b []byte, big bool) {
	*l = ConnectLimits{big: big}
	copy(l.data[:], b)
}

// ConnectLimit is one of ConnectLimits, with the name that lctl has for it.
type ConnectLimit struct {
	Name  string
	Value uint64
	Hex   bool
}

// List returns those that are valid, in the order of lctl.
func (l *ConnectLimits) List() (list []ConnectLimit) {
	word := func(name string) uint64 { return opcodes.ObdConnectData.Field(name).Uint(l.data[:], l.big) }
	add := func(flag, name string, v uint64, hex bool) {
		if word("ocd_connect_flags")&opcodes.ObdConnectFlags.Bit(flag) != 0 {
			list = append(list, ConnectLimit{name, v, hex})
		}
	}
	blockBits := word("ocd_grant_blkbits")
	add("INDEX", "target_index", word("ocd_index"), false)
	add("GRANT", "initial_grant", word("ocd_grant"), false)
	add("BRW_SIZE", "max_brw_size", word("ocd_brw_size"), false)
	add("IBITS", "ibits_known", word("ocd_ibits_known"), true)
	add("GRANT_PARAM", "grant_block_size", 1<<blockBits, false)
	add("GRANT_PARAM", "grant_inode_size", 1<<word("ocd_grant_inobits"), false)
	add("GRANT_PARAM", "grant_max_extent_size", word("ocd_grant_max_blks")<<blockBits, false)
	add("GRANT_PARAM", "grant_extent_tax", word("ocd_grant_tax_kb")<<10, false)
	add("CKSUM", "cksum_types", word("ocd_cksum_types"), true)
	add("MAX_EASIZE", "max_easize", word("ocd_max_easize"), false)
	add("MAXBYTES", "max_object_bytes", word("ocd_maxbytes"), false)
	add("MULTIMODRPCS", "max_mod_rpcs", word("ocd_maxmodrpcs"), false)
	return list
}

// Kind returns the kind of the connection: "client", "mgc", "lwp", "mdt-mdt",
// "mdt-ost", or empty while it is unknown.
func (i *Import) Kind() string {
	f := i.Asked.Flags
	switch {
	case !i.HasAsked:
		return i.kindByName
	case f&flagLightweight != 0:
		return "lwp"
	case i.Target == "MGS":
		return "mgc"
	case f&flagMDSMDS != 0:
		return "mdt-mdt"
	case f&flagMDS != 0:
		return "mdt-ost"
	}
	return "client"
}

// Refused returns the flags that were asked for and not granted.
func (p *ConnectParameters) Refused() (flags, flags2 uint64) {
	if !p.HasAsked || !p.HasGranted {
		return 0, 0
	}
	return p.Asked.Flags &^ p.Granted.Flags, p.Asked.Flags2 &^ p.Granted.Flags2
}

// read reads a struct obd_connect_data; it returns false if it was not captured.
func (c *ConnectData) read(b []byte, big bool) bool {
	if len(b) < 8 {
		return false
	}
	*c = ConnectData{Flags: opcodes.ObdConnectData.Field("ocd_connect_flags").Uint(b, big)}
	if c.Flags&flagFlags2 != 0 {
		c.Flags2 = opcodes.ObdConnectData.Field("ocd_connect_flags2").Uint(b, big)
	}
	if c.Flags&flagVersion != 0 {
		c.Version = uint32(opcodes.ObdConnectData.Field("ocd_version").Uint(b, big))
	}
	c.Instance = uint32(opcodes.ObdConnectData.Field("ocd_instance").Uint(b, big)) // servers set it without the flag, too
	return true
}

var (
	flagLightweight = opcodes.ObdConnectFlags.Bit("LIGHTWEIGHT")
	flagMDSMDS      = opcodes.ObdConnectFlags.Bit("MDS_MDS")
	flagMDS         = opcodes.ObdConnectFlags.Bit("MDS")
	flagFlags2      = opcodes.ObdConnectFlags.Bit("FLAGS2")
	flagVersion     = opcodes.ObdConnectFlags.Bit("VERSION")
)
