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

// gossip shares a record of machines among processes: each asks one other at random, now and again, for what it does
// not know, and is told just that. What is lost on the way is asked for again. This file is the carrier, to be copied.
type gossip struct {
	members *memberlist.Memberlist
	now     func() time.Time
	inbox   chan message
	sent    atomic.Int64 // bytes

	lock   sync.Mutex
	record *machines.Record
}

// message is a question, from whom and what is known there, or an answer.
type message struct {
	from string // of a question; "" for an answer
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

// do runs what uses the record.
func (g *gossip) do(f func(r *machines.Record)) {
	g.lock.Lock()
	defer g.lock.Unlock()
	f(g.record)
}

// ask asks one other process for what this one does not know.
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

// send sends in the background; what can't be sent now is asked for later.
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

// NotifyMsg takes a message: a question begins with the name of who asks, an answer with a 0.
func (g *gossip) NotifyMsg(b []byte) {
	if len(b) == 0 || len(b) <= int(b[0]) {
		return
	}
	n := 1 + int(b[0])
	select {
	case g.inbox <- message{string(b[1:n]), append([]byte(nil), b[n:]...)}:
	default: // too busy: it is asked for again
	}
}

// LocalState is all that is known, for a process that joins.
func (g *gossip) LocalState(join bool) (state []byte) {
	if join {
		g.do(func(r *machines.Record) { state, _ = r.AppendDelta(nil, nil) })
		g.sent.Add(int64(len(state)))
	}
	return state
}

// MergeRemoteState takes it.
func (g *gossip) MergeRemoteState(state []byte, join bool) {
	if join {
		g.merge(state)
	}
}

func (g *gossip) NodeMeta(int) []byte             { return nil }
func (g *gossip) GetBroadcasts(int, int) [][]byte { return nil }
