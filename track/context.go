package track

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
)

// contextSetup is for what a client sets up security contexts.
type contextSetup struct {
	client lnet.NID
	target string
}

// setup returns the connection that a client sets up a security context for. It
// makes one without a client UUID where the connect was not seen: it comes
// after the context, or is encrypted.
func (t *connections) setup(r *RPC, m *dissect.Message) *Connection {
	s := &m.RPC.GSS.Setup
	if len(s.Target) > maxUUID {
		return nil
	}
	key := contextSetup{r.Client, string(s.Target)}
	c, ok := t.setups.Get(key)
	if !ok {
		c = &Connection{Client: r.Client, Server: r.Server}
		c.SetTarget(key.target, TargetFromContext)
		t.setups.Put(key, c)
	}
	t.learnContext(s.Reverse, c)
	return c
}

// learnContext adds the security context of a connection.
func (t *connections) learnContext(handle uint64, c *Connection) {
	if handle != 0 && c != nil {
		t.contexts.Put(handle, c)
	}
}

// ofContext returns the connection of a request by its security context, where
// its handle leads to none, or to one whose target is unknown.
func (t *connections) ofContext(context uint64, byHandle *Connection) *Connection {
	if context == 0 {
		return byHandle
	}
	c, ok := t.contexts.Get(context)
	switch {
	case !ok:
		return byHandle
	case byHandle == nil:
		return c
	case byHandle.TargetUUID == "":
		byHandle.SetTarget(c.TargetUUID, TargetFromContext)
	}
	return byHandle
}

// setsUpContext reports whether an operation sets up or ends a security context: its
// reply is not from the target.
func setsUpContext(opc uint32) bool {
	return opc >= opcodes.SEC_CTX_INIT && opc <= opcodes.SEC_CTX_FINI
}
