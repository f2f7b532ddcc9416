package engine

import (
	"fmt"
	"slices"
	"time"
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
	// Strikes is how many copies in a row may be given up on a host by the policy, or overtaken by one that was submitted
	// later elsewhere, with none that succeeds in between, before the host rests. 0 means 3, as in Hadoop, whose list of
	// excluded nodes counts failed tasks; Off: any number. No more than half of the hosts rest for their strikes at once.
	Strikes int
	// Rest is for how long a host gets nothing new after its strikes, or after it lost an attempt that was not
	// cancelled. 0 means a minute.
	Rest time.Duration
}

// Off turns off the rule of a field whose zero value means the default.
const Off = -1

const (
	defaultStrikes = 3
	defaultRest    = time.Minute
)

// Hosts is what is known of the hosts of a cluster: how many attempts they hold, which have proved bad. Share one among
// the phases of a cluster. Hosts are numbered in the order in which they were given or seen; the tracker's machines are
// these numbers. Not safe for concurrent use.
type Hosts struct {
	list    []hostState
	index   map[string]int
	strikes int
	rest    time.Duration
	changes int // of what is down or has lost an attempt
}

type hostState struct {
	Host
	load      int // attempts that were submitted to it or run there, until they are known to have ended
	strikes   int
	resting   bool
	restUntil time.Time
	down      bool
}

const nowhere = -1

// NewHosts returns the hosts, or an error that names the field that is out of range.
func NewHosts(c HostsConfig) (*Hosts, error) {
	switch {
	case c.Strikes < 0 && c.Strikes != Off:
		return nil, badField("HostsConfig.Strikes", c.Strikes, "a positive number, 0 for the default, or Off")
	case c.Rest < 0:
		return nil, badField("HostsConfig.Rest", c.Rest, "a positive duration, or 0 for the default")
	}
	h := &Hosts{index: make(map[string]int, len(c.Hosts)), strikes: c.Strikes, rest: c.Rest}
	if h.strikes == 0 {
		h.strikes = defaultStrikes
	}
	if h.rest == 0 {
		h.rest = defaultRest
	}
	for i, host := range c.Hosts {
		if err := h.add(i, host, c.Hosts[0].Slots > 0); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (h *Hosts) add(i int, host Host, placing bool) error {
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
	h.index[host.Name] = len(h.list)
	h.list = append(h.list, hostState{Host: host})
	return nil
}

// Resting returns the names of the hosts that get nothing new now, in the order of their numbers. O(hosts).
func (h *Hosts) Resting(now time.Time) []string {
	var names []string
	for i := range h.list {
		if h.list[i].rests(now) {
			names = append(names, h.list[i].Name)
		}
	}
	return names
}

// SetDown says that the engine knows a host to be out of order, or to be back. It gets nothing new, and does not count as
// a host that is left. Names that are not known are learned, if the engine places.
func (h *Hosts) SetDown(name string, down bool) {
	if i := h.number(name); i != nowhere && h.list[i].down != down {
		h.list[i].down = down
		h.changes++
	}
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
	h.index[name] = len(h.list)
	h.list = append(h.list, hostState{Host: Host{Name: name}})
	return len(h.list) - 1
}

func (h *Hosts) name(host int) string {
	if host == nowhere {
		return ""
	}
	return h.list[host].Name
}

func (s *hostState) rests(now time.Time) bool { return s.resting && now.Before(s.restUntil) }

// usable returns a test of a host: it may get something new if it is neither down nor rests. If all that are not down
// rest, these may.
func (h *Hosts) usable(now time.Time) func(*hostState) bool {
	if slices.ContainsFunc(h.list, func(s hostState) bool { return !s.down && !s.rests(now) }) {
		return func(s *hostState) bool { return !s.down && !s.rests(now) }
	}
	return func(s *hostState) bool { return !s.down }
}

// canRun reports whether there is a host that is up on which the attempt may run; also if no host is known. One that was
// submitted to a host waits for that alone.
func (h *Hosts) canRun(a *attempt, usable func(*hostState) bool) bool {
	if a.host != nowhere {
		return usable(&h.list[a.host])
	}
	for i := range h.list {
		if s := &h.list[i]; !s.down && !slices.Contains(a.avoid, s.Name) {
			return true
		}
	}
	return len(a.avoid) == 0
}

// upAndResting returns how many hosts are not down, and how many of them rest.
func (h *Hosts) upAndResting(now time.Time) (up, resting int) {
	for i := range h.list {
		if s := &h.list[i]; !s.down {
			up++
			if s.rests(now) {
				resting++
			}
		}
	}
	return up, resting
}

// free returns how many attempts could be submitted now.
func (h *Hosts) free(now time.Time) (n int) {
	usable := h.usable(now)
	for i := range h.list {
		if s := &h.list[i]; usable(s) {
			n += max(s.Slots-s.load, 0)
		}
	}
	return n
}

// strike notes that a copy was given up or overtaken there. The host rests after several, unless half of the hosts rest.
func (h *Hosts) strike(now time.Time, host int) {
	if host == nowhere || h.strikes == Off {
		return
	}
	s := &h.list[host]
	s.strikes++
	up, resting := h.upAndResting(now)
	if s.strikes >= h.strikes && (s.rests(now) || 2*(resting+1) <= up) {
		h.retire(now, host)
	}
}

// retire gives a host its rest. What is heard late does not shorten one.
func (h *Hosts) retire(now time.Time, host int) {
	if host == nowhere {
		return
	}
	s := &h.list[host]
	if until := now.Add(h.rest); !s.resting || until.After(s.restUntil) {
		s.restUntil = until
	}
	s.strikes, s.resting = 0, true
}

// clear notes that a copy succeeded there. It does not end a rest: a slow host succeeds, too.
func (h *Hosts) clear(host int) {
	if host != nowhere {
		h.list[host].strikes = 0
	}
}

// pick returns the usable host with the most free slots of those that are not to be skipped, the first of equals, or
// nowhere. A full host is picked only if overfull is set; it is open if there is such a host, full or not.
func (h *Hosts) pick(now time.Time, skip func(host int) bool, overfull bool) (host int, open bool) {
	usable := h.usable(now)
	host = nowhere
	most := 0
	for i := range h.list {
		s := &h.list[i]
		if !usable(s) || skip(i) {
			continue
		}
		if free := s.Slots - s.load; free > most || overfull && (host == nowhere || free > most) {
			host, most = i, free
		}
		open = true
	}
	return host, open
}
