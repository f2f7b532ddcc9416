package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Host is a machine, or a worker process: what is slow or lost as a whole.
type Host struct {
	// Name is what Attempt.Host and Action.Host say.
	Name string
	// Slots is how many attempts run on it at once. 0: the engine's own scheduler knows, and places.
	Slots int
}

// HostsConfig describes the hosts of a cluster.
type HostsConfig struct {
	// Hosts are the known ones. Either all of them have slots or none has. More are learned as they are seen if none has.
	Hosts []Host
	// Record is what is known of the machines, whose numbers are the hosts'. A host that it calls slow gets nothing new as
	// long as there are others. Nil: a record of their own. It lasts as long as the Hosts, so give a cluster's phases
	// the same.
	Record tracker.MachineRecord
	// Rest is for how long a host gets nothing new after it lost an attempt that was not cancelled. 0 means a minute.
	Rest time.Duration
}

const defaultRest = time.Minute

// Hosts is what is known of the hosts of a cluster: how many attempts they hold, which have proved bad. Share one among
// the phases of a cluster. Hosts are numbered in the order in which they were given or seen; the tracker's machines are
// these numbers. Not safe for concurrent use.
type Hosts struct {
	list    []hostState
	index   map[string]int
	record  tracker.MachineRecord
	rest    time.Duration
	changes int    // of what is down or has lost an attempt
	phases  uint64 // that know the hosts

	slow    []int // hosts that the record calls slow
	leaving int   // changes of when hosts leave

	resting []int    // hosts that rest, or did when it was last looked
	open    roomiest // hosts that may get something new
	sums    tally    // of all hosts
	allIdle bool     // all that are up are to get nothing new, and so all of them are open
}

// tally is what one host, or all, count for.
type tally struct {
	up, idle int // hosts that are not down, and those of them that are to get nothing new
	room     int // free slots of those that may get something new
}

type hostState struct {
	Host
	load      int // attempts that were submitted to it or run there, until they are known to have ended
	resting   bool
	restUntil time.Time
	slow      bool      // by the record
	leaves    time.Time // zero if it stays
	down      bool
	hidden    bool // for a while, it is not to be picked
	counted   tally
}

const nowhere = -1

// NewHosts returns the hosts, or an error that names the field that is out of range.
func NewHosts(c HostsConfig) (*Hosts, error) {
	if c.Rest < 0 {
		return nil, badField("HostsConfig.Rest", c.Rest, "a positive duration, or 0 for the default")
	}
	h := &Hosts{index: make(map[string]int, len(c.Hosts)), record: c.Record, rest: c.Rest}
	h.fill()
	h.list = make([]hostState, 0, len(c.Hosts))
	h.open.grow(len(c.Hosts))
	for i, host := range c.Hosts {
		if err := h.check(i, host, c.Hosts[0].Slots > 0); err != nil {
			return nil, err
		}
		h.add(host)
	}
	return h, nil
}

// fill makes a zero Hosts usable.
func (h *Hosts) fill() {
	if h.index == nil {
		h.index = map[string]int{}
	}
	if h.record == nil {
		h.record, _ = machines.New(machines.Config{}) // its defaults are valid
	}
	if h.rest == 0 {
		h.rest = defaultRest
	}
}

func (h *Hosts) check(i int, host Host, placing bool) error {
	field := fmt.Sprintf("HostsConfig.Hosts[%d]", i)
	_, known := h.index[host.Name]
	switch {
	case host.Name == "":
		return badField(field+".Name", `""`, "a name")
	case known:
		return badField(field+".Name", host.Name, "a name of its own")
	case host.Slots < 0, placing && host.Slots == 0:
		return badField(field+".Slots", host.Slots, "1 or more, or 0 for all hosts")
	case !placing && host.Slots > 0:
		return badField(field+".Slots", host.Slots, "0, as the first host has")
	}
	return nil
}

// add learns a host, and returns its number.
func (h *Hosts) add(host Host) int {
	i := len(h.list)
	h.index[host.Name] = i
	h.list = append(h.list, hostState{Host: host})
	h.open.grow(i + 1)
	h.changed(i)
	return i
}

// Record returns what is known of the machines, whose numbers are the hosts': the host's own, or the one that stands
// for nil. To replay the journal of a phase, keep a snapshot of it from when the phase began.
func (h *Hosts) Record() tracker.MachineRecord {
	h.fill()
	return h.record
}

// Resting returns the names of the hosts that get nothing new for a while since they lost an attempt, in the order of
// their numbers. O(hosts).
func (h *Hosts) Resting(now time.Time) []string {
	var names []string
	for i := range h.list {
		if h.rests(&h.list[i], now) {
			names = append(names, h.list[i].Name)
		}
	}
	return names
}

// Slow returns the names of the hosts that get nothing new since the record called them slow when a phase last asked,
// at its last Observe. See [Hosts.Resting].
func (h *Hosts) Slow() []string {
	var names []string
	for i := range h.list {
		if h.list[i].slow {
			names = append(names, h.list[i].Name)
		}
	}
	return names
}

// SetDown says that the engine knows a host to be out of order, or to be back. It gets nothing new, and does not count
// as a host that is left. What waits for it alone is withdrawn and submitted elsewhere, as often as Config.MaxLost lets
// it. Names that are not known are learned, if the engine places.
func (h *Hosts) SetDown(name string, down bool) {
	i := h.number(name)
	if i == nowhere || h.list[i].down == down {
		return
	}
	h.list[i].down = down
	h.changes++
	h.changed(i)
}

// placing reports whether hosts have slots, so that they are chosen here.
func (h *Hosts) placing() bool { return len(h.list) > 0 && h.list[0].Slots > 0 }

// Slots returns how many attempts the hosts may run in all; 0 if the engine knows. O(hosts).
func (h *Hosts) Slots() (n int) {
	for i := range h.list {
		n += h.list[i].Slots
	}
	return n
}

// number returns a host's number; a name that is new is learned if the engine places, and else is nowhere.
func (h *Hosts) number(name string) int {
	if i, ok := h.index[name]; ok {
		return i
	}
	if name == "" || h.placing() {
		return nowhere
	}
	h.fill()
	return h.add(Host{Name: name})
}

func (h *Hosts) name(host int) string {
	if host == nowhere {
		return ""
	}
	return h.list[host].Name
}

// SetLeaving says that a host will be gone at a time: a drain, a notice, maintenance. It gets nothing new, and what
// would not end there by then is copied as soon as a slot is free elsewhere, under every policy, restart.Never too. The
// zero time says that it stays after all. A name that is not known is passed over if the hosts have slots.
func (h *Hosts) SetLeaving(name string, at time.Time) {
	i := h.number(name)
	if i == nowhere {
		return
	}
	if at = inRange(at); h.list[i].leaves.Equal(at) {
		return
	}
	h.list[i].leaves = at
	h.leaving++
	h.changed(i)
}

// rests reports whether a host gets nothing new. A clock that has stepped back by more than a rest ends it.
func (h *Hosts) rests(s *hostState, now time.Time) bool {
	left := s.restUntil.Sub(now)
	return s.resting && left > 0 && left/2 <= h.rest
}

// settle ends the rests that are over.
func (h *Hosts) settle(now time.Time) {
	h.resting = slices.DeleteFunc(h.resting, func(i int) bool {
		s := &h.list[i]
		if h.rests(s, now) {
			return false
		}
		s.resting = false
		h.count(i)
		return true
	})
	for _, i := range h.slow {
		h.list[i].slow = false
	}
	was := h.slow
	h.slow = h.record.AppendAvoid(nil)
	h.slow = slices.DeleteFunc(h.slow, func(i int) bool { return i >= len(h.list) })
	for _, i := range h.slow {
		h.list[i].slow = true
	}
	for _, i := range slices.Concat(was, h.slow) {
		h.count(i)
	}
	h.settleAll()
}

// idles reports whether a host is to get nothing new although it is up.
func (s *hostState) idles() bool { return s.resting || s.slow || !s.leaves.IsZero() }

// usable reports whether a host may get something new: it is neither down nor rests, is not slow and does not leave. If
// all that are not down are so, these may.
func (h *Hosts) usable(s *hostState) bool { return !s.down && (!s.idles() || h.allIdle) }

// changed brings what is known of the open hosts up to date after one has changed.
func (h *Hosts) changed(i int) {
	h.count(i)
	h.settleAll()
}

// count counts a host anew.
func (h *Hosts) count(i int) {
	s := &h.list[i]
	var c tally
	usable := h.usable(s)
	if !s.down {
		c.up = 1
		if s.idles() {
			c.idle = 1
		}
	}
	if usable {
		c.room = max(s.Slots-s.load, 0)
	}
	h.sums.up += c.up - s.counted.up
	h.sums.idle += c.idle - s.counted.idle
	h.sums.room += c.room - s.counted.room
	s.counted = c
	h.open.set(i, s.Slots-s.load, usable && !s.hidden)
}

// settleAll opens all hosts that are up if all of these are to get nothing new, and closes them again once one is not.
func (h *Hosts) settleAll() {
	if all := h.sums.up == h.sums.idle; all != h.allIdle {
		h.allIdle = all
		for i := range h.list {
			if h.list[i].idles() {
				h.count(i)
			}
		}
	}
}

// load counts attempts that were submitted to a host or run there, or with a negative number takes them away.
func (h *Hosts) load(host, n int) {
	h.list[host].load += n
	h.count(host)
}

// hide keeps a host from being picked, until it is shown again.
func (h *Hosts) hide(host int, hidden bool) {
	h.list[host].hidden = hidden
	h.count(host)
}

// canRun reports whether there is a host that is up on which the attempt may run; also if no host is known. One that
// was submitted to a host waits for that alone.
func (h *Hosts) canRun(a *attempt) bool {
	if a.host != nowhere {
		return h.usable(&h.list[a.host])
	}
	for i := range h.list {
		if s := &h.list[i]; !s.down && !slices.Contains(a.avoid, s.Name) {
			return true
		}
	}
	return len(a.avoid) == 0
}

// retire gives a host its rest. What is heard late does not shorten one.
func (h *Hosts) retire(now time.Time, host int) {
	if host == nowhere {
		return
	}
	s := &h.list[host]
	if until := inRange(now.Add(h.rest)); !s.resting || until.After(s.restUntil) {
		s.restUntil = until
	}
	if !s.resting {
		s.resting = true
		h.resting = append(h.resting, host)
		h.changed(host)
	}
}

// pick returns the usable host with the most free slots of those that are not to be skipped, the first of equals, or
// nowhere. A full host is picked only if overfull is set; it is open if there is such a host, full or not. O(log n) for
// each host that is skipped.
func (h *Hosts) pick(skip func(host int) bool, overfull bool) (host int, open bool) {
	host = h.open.find(skip)
	if host == nowhere || overfull || h.open.room[host] > 0 {
		return host, host != nowhere
	}
	return nowhere, true
}
