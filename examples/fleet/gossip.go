package main

import (
	"io"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/straggler-go/straggler/estimate/machines"
)

// gossip shares a record of machines among processes. From time to time, a process asks a random other process for
// the observations that it does not have, and receives only these. A lost message does no harm, because the process
// asks again. This file may be copied into another program.
type gossip struct {
	members *memberlist.Memberlist
	now     func() time.Time
	inbox   chan message
	sent    atomic.Int64 // bytes that were sent

	lock   sync.Mutex
	record *machines.Record
}

// message is a question or an answer. The body of a question is the version of the sender's record. The body of an
// answer has the observations that the sender of the question lacks.
type message struct {
	from string // the name of the sender of a question; "" for an answer
	body []byte
}

func newGossip(name string, record *machines.Record, now func() time.Time) (*gossip, error) {
	g := &gossip{now: now, inbox: make(chan message, 1024), record: record}
	c := memberlist.DefaultLocalConfig()
	c.Name, c.BindAddr, c.BindPort, c.AdvertisePort = name, "127.0.0.1", 0, 0
	c.Logger, c.Delegate = log.New(io.Discard, "", 0), g
	var err error
	if g.members, err = memberlist.Create(c); err != nil {
		return nil, err
	}
	go g.listen()
	return g, nil
}

// do calls f with the record, under the lock.
func (g *gossip) do(f func(r *machines.Record)) {
	g.lock.Lock()
	defer g.lock.Unlock()
	f(g.record)
}

// ask asks a random other process for the observations that this process does not have.
func (g *gossip) ask() {
	others := g.members.Members()
	other := others[rand.IntN(len(others))]
	self := g.members.LocalNode().Name
	if other.Name == self {
		return
	}
	g.do(func(r *machines.Record) {
		question := append([]byte{byte(len(self))}, self...)
		g.send(other.Name, r.AppendVersion(question))
	})
}

// send sends a message in the background. It drops a message that cannot be sent now; a later question replaces it.
func (g *gossip) send(to string, body []byte) {
	for _, node := range g.members.Members() {
		if node.Name == to {
			g.sent.Add(int64(len(body)))
			go func() { _ = g.members.SendReliable(node, body) }()
		}
	}
}

func (g *gossip) listen() {
	for m := range g.inbox {
		if m.from == "" {
			g.merge(m.body)
			continue
		}
		g.do(func(r *machines.Record) {
			if answer, err := r.AppendDelta([]byte{0}, m.body); err == nil {
				g.send(m.from, answer)
			}
		})
	}
}

func (g *gossip) merge(delta []byte) {
	g.do(func(r *machines.Record) {
		if err := r.Merge(g.now(), delta); err != nil {
			log.Print(err)
		}
	})
}

// NotifyMsg receives a message. A question begins with the name of the sender, and an answer with a zero byte.
func (g *gossip) NotifyMsg(b []byte) {
	if len(b) == 0 || len(b) <= int(b[0]) {
		return
	}
	n := 1 + int(b[0])
	select {
	case g.inbox <- message{string(b[1:n]), append([]byte(nil), b[n:]...)}:
	default: // the inbox is full: the other process asks again
	}
}

// LocalState returns the whole record, for a process that joins.
func (g *gossip) LocalState(join bool) (state []byte) {
	if join {
		g.do(func(r *machines.Record) { state, _ = r.AppendDelta(nil, nil) })
		g.sent.Add(int64(len(state)))
	}
	return state
}

// MergeRemoteState merges the whole record of another process.
func (g *gossip) MergeRemoteState(state []byte, join bool) {
	if join {
		g.merge(state)
	}
}

func (g *gossip) NodeMeta(int) []byte             { return nil }
func (g *gossip) GetBroadcasts(int, int) [][]byte { return nil }
