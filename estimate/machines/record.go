package machines

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
)

const (
	recent = 16 // number of ended attempts that a record remembers of each machine
	// the largest number of ended attempts of one machine that come from a single process, if processes share
	// evidence
	maxFromOne  = 8
	maxMachines = 1 << 30
	maxClasses  = 256
	none        = -1
)

// MostRunning is the number of running attempts that a [Record] remembers of each machine: the attempts with the
// latest reports. If more attempts run on a machine, each report of another attempt replaces one of them, and
// computes the machine's factor again.
const MostRunning = 8

// Record contains the evidence about each machine of a cluster. The host may number machines in any way. There may
// be gaps between the numbers, and a hash is a valid number. A negative number is no machine. The zero value is an
// empty record with the default configuration.
//
// The record takes its time from the instants that are passed to [Record.Running], [Record.End] and
// [Record.AddProgress]. If the host's clock steps back, the record continues without harm, by the same rule as
// x/time/rate. An answer describes the machines at the instant of the latest event.
//
// Every call takes O(log m) for m machines, unless its comment says otherwise. A call does not allocate if its
// machine is known. A machine needs about 650 bytes, and a class about 4,000 bytes.
//
// Not safe for concurrent use. Even [Record.Factor] and [Record.Judge] are not safe, because they may compute the
// answer again and store it. Use a single Record for a cluster. If several phases share the Record, the host can
// put a lock around the few methods that the phases call.
type Record struct {
	config   Config
	grid     grid
	clock    clock.Clock
	places   map[int]int32 // the index of each machine, by its number
	fleet    fleet
	machines []machine
	free     []int32
	// All machines in use are in a linked list, in the order of their latest event. newest and oldest are its two
	// ends.
	newest   int32
	oldest   int32
	all      estimate.Empirical // locations of the machines about which there is evidence
	levels   levels             // the lower median and the two smallest values of all
	classes  []classRecord
	flagged  []int32 // indexes of the machines that may be slow or failing
	ended    num.Sum // sum of the present weights of all ended attempts
	failed   num.Sum // sum of the present weights of the failed attempts
	progress progress
	members  Member    // the member that the next Join returns
	asked    []int     // scratch memory of Elsewhere
	own      []float64 // scratch memory of Elsewhere
}

// classRecord contains the evidence about the machines of one class.
type classRecord struct {
	locations estimate.Empirical // locations of the class's machines about which there is evidence
	base      float64            // median location of the class when its machines were last flagged
	spread    spread             // ratios of the attempts on the class's machines
}

// machine contains the evidence about one machine.
type machine struct {
	number       int    // the host's number of the machine; none if the host has not numbered it
	name         string // empty if the host has not named the machine
	newer, older int32
	flag         int32 // index in Record.flagged, or none if the machine is not flagged
	class        int32
	known        bool          // the machine has evidence, and its location is in the sets of locations
	location     float64       // median of time/typical time over the attempts
	weight       float64       // sum of the weights of the attempts behind location
	ended        float64       // present weights of the machine's ended attempts
	failed       float64       // present weights of the machine's failed attempts
	found        time.Duration // instant at which location was last computed
	total        int64         // LATE's total progress; step units are one task
	past         [recent]evidence
	by           [recent]merge.Origin // for each entry of past, the process that reported it
	pasts        uint8                // number of entries in past, which are sorted from old to new
	present      [MostRunning]struct {
		key uint64
		evidence
	}
	presents uint8
}

// New returns an empty record, or an error that names the field of c that is out of range.
func New(c Config) (*Record, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := &Record{config: c}
	r.begin()
	return r, nil
}

// begin makes a record with the zero value usable. In other records it changes nothing.
func (r *Record) begin() {
	if r.places != nil {
		return
	}
	r.config, r.fleet.names = r.config.Effective(), map[string]int32{}
	r.grid, r.places, r.newest, r.oldest = newGrid(r.config.Limit, slowShare), map[int]int32{}, none, none
	r.classes = []classRecord{{base: 1}}
}

// Config returns the configuration with its defaults filled in.
func (r *Record) Config() Config {
	r.begin()
	return r.config
}

// Len returns the number of machines that the record remembers.
func (r *Record) Len() int { return len(r.machines) - len(r.free) }

// Running records the present state of a running attempt on a machine. The key distinguishes the attempt from other
// attempts on the same machine. Any number is a valid key, as long as each report of the attempt and its
// [Record.End] use the same number. For each machine, the record remembers the [MostRunning] attempts with the
// latest reports. Running reports false for a negative machine.
func (r *Record) Running(now time.Time, machine int, key uint64, a Attempt) bool {
	at := r.at(now)
	i := r.touch(machine)
	if i == none {
		return false
	}
	m := &r.machines[i]
	shown := a.evidence(at, false, r.config.Limit)
	place, stalest := -1, 0
	for j := range m.present[:m.presents] {
		if m.present[j].key == key {
			place = j
		}
		if m.present[j].at < m.present[stalest].at {
			stalest = j
		}
	}
	switch {
	case place >= 0 && shown.near(m.present[place].evidence):
		m.present[place].at = at
		r.refresh(i)
		return true
	case place >= 0:
	case m.presents < MostRunning:
		place = int(m.presents)
		m.presents++
	default:
		place = stalest
	}
	times := &r.classes[m.class].spread
	times.count(m.present[place].evidence, -1)
	times.count(shown, 1)
	m.present[place].key, m.present[place].evidence = key, shown
	r.update(i)
	return true
}

// End records that an attempt on a machine has ended, and how it ended. The attempt may never have been reported by
// [Record.Running]. If an attempt is no evidence about the speed of the machine, for example because it never
// began, pass a Usual of 0. End reports false for a negative machine and for an unknown outcome.
func (r *Record) End(now time.Time, machine int, key uint64, a Attempt, how Outcome) bool {
	at := r.at(now)
	i := r.touch(machine)
	if i == none || how > Failed {
		return false
	}
	m := &r.machines[i]
	for j := range m.present[:m.presents] {
		if m.present[j].key == key {
			r.classes[m.class].spread.count(m.present[j].evidence, -1)
			m.presents--
			m.present[j], m.present[m.presents].evidence = m.present[m.presents], evidence{}
			break
		}
	}
	shown := a.evidence(at, how == Finished, r.config.Limit)
	shown.failed = how == Failed
	by := merge.Nobody
	if r.config.Origin != "" {
		by, shown.at = r.fleet.origins.Stamp(r.config.choices(), at)
	}
	r.put(m, shown, by)
	r.update(i)
	return true
}

// SetClass puts a machine into a class, such as the class of machines with a GPU. To decide whether a machine is
// slow, the record compares the machine with its class. At first every machine is in class 0. SetClass reports
// false for a class outside 0 to 255, and for a negative machine.
func (r *Record) SetClass(machine, class int) bool {
	if class < 0 || class >= maxClasses {
		return false
	}
	i := r.touch(machine)
	if i == none {
		return false
	}
	for len(r.classes) <= class {
		r.classes = append(r.classes, classRecord{base: 1})
	}
	m := &r.machines[i]
	if m.class == int32(class) {
		return true
	}
	r.removeFromTrees(m)
	r.classes[m.class].spread.countAll(m, -1)
	m.class = int32(class)
	r.classes[m.class].spread.countAll(m, 1)
	r.update(i)
	return true
}

// Forget removes all evidence about a machine. Call it if the machine has left, or if another machine has its
// number now.
func (r *Record) Forget(machine int) {
	if i, ok := r.places[machine]; ok {
		r.drop(i)
	}
}
