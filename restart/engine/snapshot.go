package engine

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

const phaseVersion = 7

// AppendBinary appends a snapshot of the phase to dst: all that it observed and has in hand, except what the host gave
// it, which [Restore] takes again. It never fails. O(n log n), some 200 bytes a task. Between snapshots keep what
// changes: see [Phase.AppendChanges].
func (p *Phase) AppendBinary(dst []byte) ([]byte, error) {
	p.ready()
	return snapshot.Append(dst, phaseVersion, func(c *snapshot.Codec) {
		c.Part(tracked{p: p})
		hasOrder := p.config.Order != nil
		c.Bool(&hasOrder)
		p.code(c)
	})
}

// MarshalBinary returns a snapshot; see [Phase.AppendBinary].
func (p *Phase) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

// Saved is what a host keeps of a phase.
type Saved struct {
	// Snapshot is that of [Phase.AppendBinary].
	Snapshot []byte
	// Changes is what [Phase.AppendChanges] has given since, and perhaps before, one behind the other. What is cut short
	// at its end, by a crash while it was written, is passed over.
	Changes []byte
	// Journal is that of [Phase.Journal] at the moment of the snapshot, or nil: then that of the restored phase begins
	// there, and can be read by [journal.Resume] alone. It is read if Config.Journal is set.
	Journal []byte
}

// Restore returns the phase of a snapshot: it answers as if it had never stopped, and takes what the engine shows next.
// Then what has changed since is taken to the books: the same attempts run, have ended and have won; their progress
// they report again. Of the configuration it takes Hosts, which were written with or after the snapshot and restored
// before it, Order, Journal, OnEvent, and what tracker.Restore takes, with an error for what was not nil and is; all
// else stands in the snapshot. If the Hosts are those that still hold the phase as it was, call its Release first, or
// its slots count twice. What is not a snapshot is an error. O(n log n).
//
// What is [Phase.Outstanding] then may or may not have been carried out. Poll asks again for what is missing, so there
// is nothing to do but go on.
func Restore(c Config, saved Saved) (*Phase, error) {
	if c.Hosts == nil {
		c.Hosts = &Hosts{}
	}
	c.Hosts.fill()
	p := &Phase{view: view{config: c, hosts: c.Hosts, book: book{attempts: map[string]*attempt{}}, restored: true}}
	config := c.tracker()
	if c.Journal {
		p.recorder, p.recorded = new(journal.Recorder), saved.Journal
	}
	c.watch(&config, p.recorder)
	in := snapshot.Codec{In: snapshot.NewReader("restart/engine: Phase", phaseVersion, saved.Snapshot)}
	in.Part(tracked{p, config})
	hadOrder := false
	if in.Bool(&hadOrder); hadOrder && c.Order == nil {
		return nil, check.Bad(place, "Order", nil, "the one that the phase had, or another")
	}
	if in.OK() {
		p.takeConfig(p.tracker.Config())
		p.code(&in)
	}
	if err := in.In.Close(); err != nil {
		return nil, err
	}
	return p, p.redo(saved.Changes)
}

// takeConfig takes the configuration from the tracker that was restored.
func (p *Phase) takeConfig(c tracker.Config) {
	p.config.Tasks, p.config.Interval, p.config.Clones = c.Tasks, c.Interval, c.Clones
	p.config.Policy, p.config.Budget = c.Policy, c.Budget
	p.book.tasks = make([]task, c.Tasks)
}

// tracked codes the phase's tracker as a part.
type tracked struct {
	p      *Phase
	config tracker.Config // to restore it
}

func (t tracked) AppendBinary(dst []byte) ([]byte, error) { return t.p.tracker.AppendBinary(dst) }

func (t tracked) UnmarshalBinary(data []byte) (err error) {
	t.p.tracker, err = tracker.Restore(t.config, data)
	return err
}
