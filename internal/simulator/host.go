package simulator

import "github.com/lshark/lshark/dissect/lnet"

// host is a node: a client or a server.
type host struct {
	*cluster
	name     string
	index    int
	nid      lnet.NID
	hardware [6]byte // Ethernet address

	// life is the number of the node's current life. What was planned in an earlier one does
	// not happen.
	life     int
	up       bool // its kernel answers
	frozen   bool
	interval int64 // of a node that is short of CPU: it works only once in that time; 0: always
	waiting  []func()

	pairs     []*pair // by the index of the other host
	services  []*service
	imports   []*imp // as a client
	targets   []*target
	jobs      []*process
	lastXID   uint64
	nextPort  uint16 // of the connections that it opens
	handles   uint64 // cookies of locks and connections
	filesMade uint32
	mounts    int // after the first

	mutedCallbacks bool                  // it does not answer callbacks for locks
	lateCancel     int64                 // how long it keeps locks that are asked for
	ignores        func(m *message) bool // LNet on this node discards these messages
	loses          func(r *rpc) bool     // the server does not send this reply
	refusesSYN     *host                 // a filter in front of it answers SYNs of this node with RST
	noLNet         bool                  // it is up, but nothing listens yet
	holds          func(r *rpc) bool     // the thread of this request stands still
	released       []func()              // when it goes on
}

// after plans something that the node does after a time, if it is not dead by then.
func (h *host) after(d int64, do func()) {
	life := h.life
	h.at(h.now+d, func() {
		if h.life == life {
			h.run(do)
		}
	})
}

// within returns what is to be called when something happens: it does the one, or the other if the
// time is over before.
func (h *host) within(d int64, inTime, late func()) (happened func()) {
	over := false
	once := func(do func()) func() {
		return func() {
			if !over {
				over = true
				do()
			}
		}
	}
	h.after(d, once(late))
	return once(inTime)
}

// run does something now, or when the node next works.
func (h *host) run(do func()) {
	switch {
	case !h.up:
	case h.frozen:
		h.waiting = append(h.waiting, do)
	case h.interval > 0:
		if len(h.waiting) == 0 {
			h.at((h.now/h.interval+1)*h.interval, h.work)
		}
		h.waiting = append(h.waiting, do)
	default:
		do()
	}
}

// work does what has waited until now.
func (h *host) work() {
	if h.frozen || !h.up {
		return
	}
	callAll(&h.waiting)
}

// callAll empties a list of funcs and calls them.
func callAll(list *[]func()) {
	funcs := *list
	*list = nil
	for _, do := range funcs {
		do()
	}
}

// die ends the life of the node. Its connections are gone without a word.
func (h *host) die() {
	h.life++
	h.up, h.frozen, h.waiting, h.noLNet = false, false, nil, true
	for _, p := range h.pairs {
		p.forget()
	}
}

// handle returns a new cookie.
func (h *host) handle() uint64 {
	h.handles += 7
	return h.handles
}

func (h *host) xid() uint64 {
	h.lastXID += 128
	return h.lastXID
}
