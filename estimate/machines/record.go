package machines

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
)

const (
	recent = 16 // ended attempts that a record remembers of each machine
	// ended attempts of each machine that may come from one process, if several processes share evidence
	maxFromOne  = 8
	maxMachines = 1 << 30
	maxClasses  = 256
	none        = -1
)

// MostRunning is how many running attempts a [Record] remembers of each machine: the attempts with the latest
// reports. If more attempts run on a machine, each further report replaces an attempt and computes the machine's
// factor again.
const MostRunning = 8

// Record holds the evidence about each machine of a cluster. The host may number machines in any way: numbers need
// not be dense, and a hash is a valid number. A negative number is no machine. The zero value is an empty record
// with the default configuration.
//
// The record takes its time from the instants passed to [Record.Running], [Record.End] and [Record.AddProgress]. A
// clock that steps back does no harm (x/time/rate's rule). An answer holds for the instant of the latest event.
//
// Every call takes O(log m) for m machines, unless its comment says otherwise, and does not allocate once the
// machines are known. A machine takes about 650 bytes, a class about 4,000.
//
// Not safe for concurrent use. [Record.Factor] and [Record.Judge] are not safe either, because they update the
// answer. Use a single Record for a cluster. A host whose phases share the Record can put a lock around the few
// methods that the phases call.
type Record struct {
	config   Config
	grid     grid
	clock    clock.Clock
	places   map[int]int32 // the index of each machine, by its number
	fleet    fleet
	machines []machine
	free     []int32
	// newest and oldest are the ends of the list of machines in use, in the order of their latest event.
	newest   int32
	oldest   int32
	all      estimate.Empirical // locations of the machines with evidence
	levels   levels             // lower median and best values of all
	classes  []classRecord
	flagged  []int32 // machines that may be slow or failing
	ended    num.Sum // sum of the weights of all ended attempts
	failed   num.Sum // sum of the weights of the failed attempts
	progress progress
	members  Member    // the next member
	asked    []int     // scratch of Elsewhere
	own      []float64 // scratch of Elsewhere
}

// classRecord holds the evidence about the machines of one class.
type classRecord struct {
	locations estimate.Empirical // locations of the class's machines with evidence
	base      float64            // the centre when machines were last flagged
	spread    spread             // ratios of the attempts on the class's machines
}

// machine holds the evidence about one machine. A machine with evidence has its location in the trees.
type machine struct {
	number       int    // none if the host has not numbered the machine
	name         string // empty if the host has not named the machine
	newer, older int32
	flag         int32 // index in flagged, or none
	class        int32
	known        bool          // location is in the trees
	location     float64       // median ratio
	weight       float64       // weight of the evidence behind location
	ended        float64       // part of Record.ended
	failed       float64       // part of Record.failed
	found        time.Duration // instant of the last update of location
	total        int64         // LATE's total progress, in steps
	past         [recent]evidence
	by           [recent]merge.Origin // origins of past
	pasts        uint8                // number of entries in past, oldest first
	present      [MostRunning]struct {
		key uint64
		evidence
	}
	presents uint8
}

// New returns an empty record, or an error that names the field out of range.
func New(c Config) (*Record, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := &Record{config: c}
	r.begin()
	return r, nil
}

// begin makes a zero record usable.
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
// attempts on the machine. Any number is a valid key, as long as each report of the attempt and its [Record.End]
// use the same number. The record remembers the [MostRunning] attempts with the latest reports on each machine.
// Running reports false for a negative machine.
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

// End records that an attempt has ended on a machine, and how. The attempt need not have been reported by
// [Record.Running]. For an attempt that must not count, such as an attempt that never began, pass a Usual of 0. End
// reports false for a negative machine and for an unknown outcome.
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

// SetClass puts a machine into a class, such as the class of machines with a GPU. A machine is called slow in
// comparison with its class. At first every machine is in class 0. SetClass reports false for a class outside 0 to
// 255, and for a negative machine.
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

// Forget drops all evidence about a machine. Call it if the machine has left, or if another machine has its number
// now.
func (r *Record) Forget(machine int) {
	if i, ok := r.places[machine]; ok {
		r.drop(i)
	}
}
