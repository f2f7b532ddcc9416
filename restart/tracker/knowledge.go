package tracker

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
)

// These numbers are choices. They have two aims: to remember a daily job for a month, and to keep a phase of many
// tasks from outweighing the other phases.
const (
	// How long an observation of a kind is kept if KnowledgeConfig.Keep is 0.
	defaultKeep = 30 * 24 * time.Hour
	// The number of observations that are kept of a kind. This is enough for the run times of 16 phases of many tasks.
	mostEntries = 256
	// A trial has half its weight when this number of run times were added after it. So copies and restarts are tried
	// again in phases of a kind that has lost trials.
	halfAfter = 32
)

// KnowledgeConfig contains the settings of a [Knowledge]. Its zero value is usable.
type KnowledgeConfig struct {
	// Keep is how long a run time or the outcome of a trial is kept. 0 means 30 days. With Off none is kept: then phases
	// of a kind share nothing but the shape of progress.
	Keep time.Duration `want:"age"`
	// Machines are the settings of the record of machines. Its Origin and its MaxSkew hold for the observations of kinds,
	// too: Origin is the name of this process, if processes share their observations by [Knowledge.AppendDelta] and
	// [Knowledge.Merge]. If MaxMachines is Off, no machine is remembered from phase to phase. This is for a host whose
	// machine numbers mean other machines in each phase.
	Machines machines.Config
}

// Effective returns the configuration with each zero field replaced by its default.
func (c KnowledgeConfig) Effective() KnowledgeConfig {
	return KnowledgeConfig{Keep: check.Or(c.Keep, defaultKeep), Machines: c.Machines.Effective()}
}

// Validate returns an error for the first field that is out of range, or nil. The error states the value and the
// allowed range.
func (c KnowledgeConfig) Validate() error {
	if !c.remembersMachines() {
		c.Machines.MaxMachines = 0
	}
	return cmp.Or(check.Valid(c), c.Machines.Validate())
}

// remembersMachines reports whether there is a record of machines.
func (c *KnowledgeConfig) remembersMachines() bool { return c.Machines.MaxMachines != restart.Off }

// choices returns the settings in the form that package merge needs.
func (know *Knowledge) choices() merge.Choices {
	if know.shares.Keep == 0 {
		of := know.Config()
		know.shares = merge.Choices{Origin: of.Machines.Origin, Skew: of.Machines.MaxSkew, Keep: of.Keep}
	}
	return know.shares
}

// Knowledge is what phases learn from the phases before them. It has two parts:
//
//   - The machines of a cluster: which of them are slow or fail. All phases share this part.
//   - For each kind of phase: how long attempts took, how progress depends on time, and how many trials were won and
//     lost. The phases with the same [Config.Kind] share this part.
//
// The knowledge of a kind serves two purposes. A phase of few tasks can use the run times of other phases. And the bound
// on lost slot time holds for the kind: all its phases together may have no more trials open than a single phase.
//
// The host decides which phases are of the same kind: for example the same stage of the same job day after day, or
// the tasks of one queue. If the works of tasks are known, a run time is scaled by the work of its attempt. Phases
// without a kind share nothing but the machines.
//
// A phase uses only the newest observations: 32 run times of other phases, from some 16 tasks of each phase. Each
// task of the phase that ends replaces one of these 32 run times. So after 16 tasks the phase's own run times are the
// majority, and after 32 tasks it uses no others. A trial has half its weight when 32 run times were added after it.
// Trials of the phase itself are added to the trials of other phases.
//
// The zero value has no observations, and has the default settings. A kind takes up to some 20 kB, and a machine about
// 650 bytes. An event adds O(1) for the kind, and O(log m) for m machines. Events that several phases apply to a shared
// Knowledge take effect in the order of the calls. The same events in the same order give the same decisions.
//
// A Knowledge is not safe for concurrent use. Phases on several goroutines share one only if the host puts a lock around
// all calls of their trackers. Otherwise give each goroutine a Knowledge, and pass on the observations by AppendDelta
// and Merge.
type Knowledge struct {
	config   KnowledgeConfig
	shares   merge.Choices   // of the configuration; computed at the first use
	machines machines.Record // not used if the configuration says so
	clock    clock.Clock     // the time of the observations of kinds
	origins  merge.Origins   // the processes that have made these observations
	kinds    map[string]*kind
}

// kind is what phases of a kind share.
type kind struct {
	name   string
	shape  survival.Shape
	seen   merge.List[entry]
	stakes time.Duration // slot time at risk in the open trials of this process's phases; snapshots leave it out

	// The fields below are computed from seen: the entries in use, the weighted sums of trials, and whether there ever
	// were entries, which may be too old now.
	used      bool
	known     []merge.Observation[entry]
	lost, won float64
	cost      time.Duration
}

// entry is one observation: either the run time of an attempt, or the outcome of one or more trials.
type entry struct {
	about   about
	seconds float64 // the run time; or the slot time that trials lost, less the slot time that trials saved
	work    float64 // the work of the attempt
	lost    float64 // the number of lost trials
	won     float64 // the number of won trials
}

// about says what an entry is about: trials, or a run time with the flags below.
type about uint8

const (
	ofTrials  about = 0
	ofRunTime about = 1 << (iota - 1)
	ended           // flag of a run time: the attempt ended with success; otherwise it was killed
	sized           // flag of a run time: the work of the attempt is known
	abouts          // one more than the largest value
)

// NewKnowledge returns a Knowledge without observations. If a field of c is out of range, it returns an error that
// contains the name of the field.
func NewKnowledge(c KnowledgeConfig) (*Knowledge, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	know := &Knowledge{config: c}
	if c.remembersMachines() {
		record, _ := machines.New(c.Machines) // c is valid
		know.machines = *record
	}
	return know, nil
}

// Config returns the configuration with each zero field replaced by its default.
func (know *Knowledge) Config() KnowledgeConfig { return know.config.Effective() }

// Machines returns the record of the machines, or nil if the configuration says that no machine is remembered. The host
// may name machines, put them into classes, forget them, and read what is known about them.
func (know *Knowledge) Machines() *machines.Record {
	if know == nil || !know.config.remembersMachines() {
		return nil
	}
	return &know.machines
}

// Kinds returns the names of the kinds about which something is known, in ascending order. O(n log n) for n kinds.
func (know *Knowledge) Kinds() (names []string) {
	for _, k := range know.inOrder() {
		if len(k.known) > 0 || k.shape != (survival.Shape{}) {
			names = append(names, k.name)
		}
	}
	return names
}

// kind returns the kind with the given name.
func (know *Knowledge) kind(name string) *kind {
	k := know.kinds[name]
	if k == nil {
		if k = (&kind{name: name}); know.kinds == nil {
			know.kinds = map[string]*kind{}
		}
		know.kinds[name] = k
	}
	return k
}

// keeps reports whether run times and trials of the kind are kept.
func (know *Knowledge) keeps(name string) bool {
	return know != nil && name != "" && know.config.Keep != restart.Off
}

// inOrder returns the kinds in the order of their names.
func (know *Knowledge) inOrder() []*kind {
	return slices.SortedFunc(maps.Values(know.kinds), func(a, b *kind) int { return cmp.Compare(a.name, b.name) })
}

// at converts an instant of the host to the time of the observations of kinds. If the host's clock has stepped back, at once
// or little by little, at removes observations that are then in the future.
func (know *Knowledge) at(now time.Time) time.Duration {
	c := know.choices()
	at := c.At(&know.clock, now)
	if know.origins.Ahead(c.By(at)) {
		know.forgetOld(at)
	}
	return at
}

// forgetOld removes observations that no other process would accept, because they are too old or too far in the future.
func (know *Knowledge) forgetOld(at time.Duration) {
	for _, k := range know.kinds {
		k.sum(know, at)
	}
	c := know.choices()
	know.origins.Forget(c.Since(at), c.By(at))
}

// add adds an entry to a kind. O(1), because the number of entries is bounded.
func (know *Knowledge) add(now time.Time, k *kind, e entry) {
	at := know.at(now)
	k.seen.Add(&know.origins, know.choices(), at, e)
	k.sum(know, at)
}

// sum computes the weighted sums of trials, and the list of entries that are in use. At is the current time.
func (k *kind) sum(of *Knowledge, at time.Duration) {
	times, cost := 0.0, 0.0 // number of run times seen so far, newest first; weighted cost of trials
	k.lost, k.won = 0, 0
	k.used = k.used || len(k.seen.All()) > 0
	k.known = k.seen.Newest(&of.origins, codeEntry, of.choices(), at, mostEntries)
	for i := len(k.known) - 1; i >= 0; i-- {
		e := &k.known[i].Fact
		if e.about&ofRunTime > 0 {
			times++
			continue
		}
		weight := 1 / (1 + float64((times/halfAfter)*(times/halfAfter))) // no fused multiply-add: one answer everywhere
		cost += float64(weight * e.seconds)
		k.lost += float64(weight * e.lost)
		k.won += float64(weight * e.won)
	}
	k.cost, _ = num.Duration(math.Abs(cost))
	if cost < 0 {
		k.cost = -k.cost
	}
}

// risk adds to the slot time at risk in the open trials of the kind, and subtracts what a phase had at risk before.
func (k *kind) risk(is, was time.Duration) { k.stakes = num.Sub(num.Add(k.stakes, is), was) }

// Longest returns the longest time that a task of a kind and of an amount of work is known to take, in seconds, and the
// number of run times from which it was computed. The run times are those of attempts that ended with success. With a
// work of 0, which means that the work is not known, all of them count. With a positive work, tasks of known work count,
// and the time of a smaller task is scaled by the work. Then tasks of less than an eighth of the work are left out if
// there are others: the time of a small task is hardly its work. A scheduler can derive a hard timeout from the answer;
// see engine.Config.Patience. Of a phase of many tasks, 16 to 31 attempts count. O(1), because the number of entries is
// bounded.
func (know *Knowledge) Longest(kind string, work float64) (seconds float64, attempts int) {
	k := know.kinds[kind]
	if k == nil {
		return 0, 0
	}
	near, far := 0.0, 0.0
	for i := range k.known {
		e := &k.known[i].Fact
		isSized := e.about&sized > 0 && e.work > 0
		if e.about&ended == 0 || work > 0 && !isSized {
			continue
		}
		attempts++
		scaled := e.seconds
		if work > e.work && isSized {
			scaled *= work / e.work
		}
		if far = max(far, scaled); e.work >= work/farSmaller {
			near = max(near, scaled)
		}
	}
	if near > 0 {
		return near, attempts
	}
	return far, attempts
}

// farSmaller is the factor by which a task is so much smaller than another that its time says little about the other.
const farSmaller = 8

// appendRunTimes appends the newest run times to dst, newest first, at most the number most in all. If bySize is set, it
// appends run times of attempts whose work is known, otherwise of attempts whose work is not known.
func (k *kind) appendRunTimes(dst []runTime, most int, bySize bool) []runTime {
	for i := len(k.known) - 1; i >= 0 && len(dst) < most; i-- {
		if e := &k.known[i].Fact; e.about&ofRunTime > 0 && (e.about&sized > 0) == bySize {
			dst = append(dst, runTime{float32(e.seconds), e.about&ended > 0, e.work})
		}
	}
	return dst
}

// The functions below merge the knowledge of several processes, and write and read snapshots of it.

// kindEntry is an entry with the name of its kind.
type kindEntry struct {
	kind string
	entry
}

// kindsForm describes to package merge how the entries of kinds are encoded and decoded.
func kindsForm() merge.Form[kindEntry] {
	return merge.Form[kindEntry]{
		Place: "restart/tracker: Knowledge", Kind: 'x',
		Fact: func(c *snapshot.Codec, e *kindEntry) { codeEntry(c, &e.entry) },
		Name: func(e *kindEntry) *string { return &e.kind },
	}
}

// codeEntry encodes or decodes an entry.
func codeEntry(c *snapshot.Codec, e *entry) {
	snapshot.Small(c, &e.about, 0, int(abouts-1))
	if e.about == ofTrials {
		c.Real(&e.seconds)
		c.Check(e.seconds >= -estimate.MaxSample, "holds trials that have saved too much")
		c.Amount(&e.lost)
		c.Amount(&e.won)
		c.Check(e.lost <= mostAtOnce && e.won <= mostAtOnce, "holds an event of too many trials")
	} else {
		c.Amount(&e.seconds)
		c.Amount(&e.work)
		c.Check(e.about&ofRunTime > 0, "holds an entry that is no run time and no trial")
	}
	c.Check(e.seconds <= estimate.MaxSample, "holds a time that is too long")
}

// mostAtOnce is the largest number of trials that a single event may win or lose. It is far above the number of
// copies of a task.
const mostAtOnce = 1 << 20

// shared is a version or a delta: of the record of machines, and of the kinds. A part that the process does not have is
// empty.
type shared struct{ machines, kinds []byte }

// sharedForm is the first byte of versions and deltas.
const sharedForm = 'k'

// appendTo appends the bytes of a version or a delta to dst.
func (s *shared) appendTo(dst []byte) []byte {
	dst, _ = snapshot.Append(dst, sharedForm, func(c *snapshot.Codec) { c.Bytes(&s.machines); c.Bytes(&s.kinds) })
	return dst
}

// readShared reads a version or a delta.
func readShared(what string, data []byte) (s shared, err error) {
	c := snapshot.Codec{In: snapshot.NewReader("restart/tracker: Knowledge: "+what, sharedForm, data)}
	c.Bytes(&s.machines)
	c.Bytes(&s.kinds)
	return s, c.In.Close()
}

// AppendVersion appends the version of the knowledge to dst. The version says which observations are known here. Send it
// to another process, and call AppendDelta there: the result contains the observations that are missing here. A version
// has some 50 bytes for each process.
func (know *Knowledge) AppendVersion(dst []byte) []byte {
	s := shared{kinds: kindsForm().AppendVersion(nil, &know.origins)}
	if record := know.Machines(); record != nil {
		s.machines = record.AppendVersion(nil)
	}
	return s.appendTo(dst)
}

// AppendDelta appends to dst the observations that another process lacks: ended attempts on machines that have a name,
// run times, and outcomes of trials. The argument since is the version of that process, made by its AppendVersion. A nil
// version means that the process has no observations yet. If origins are given, the delta contains only the observations
// that these processes have made. The delta does not contain the shape of progress or open trials. If the argument since
// is not a version, AppendDelta returns an error. An attempt takes some 10 bytes, a run time some 20 bytes.
func (know *Knowledge) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	var from, s shared
	var err, other error
	if since != nil {
		if from, err = readShared("version", since); err != nil {
			return dst, err
		}
	}
	s.kinds, err = kindsForm().AppendDelta(nil, from.kinds, &know.origins, know.choices(), know.clock.Since, origins, know.entries())
	if record := know.Machines(); record != nil {
		s.machines, other = record.AppendDelta(nil, from.machines, origins...)
	}
	if err = cmp.Or(err, other); err != nil {
		return dst, err
	}
	return s.appendTo(dst), nil
}

// entries returns an iterator over the entries of all kinds.
func (know *Knowledge) entries() iter.Seq[merge.Observation[kindEntry]] {
	return func(yield func(merge.Observation[kindEntry]) bool) {
		for _, k := range know.inOrder() {
			for _, v := range k.seen.All() {
				if !yield(merge.Observation[kindEntry]{At: v.At, Fact: kindEntry{k.name, v.Fact}, Origin: v.Origin}) {
					return
				}
			}
		}
	}
}

// Merge adds the observations of another process, from the result of its AppendDelta. Deltas may come in any order,
// and a delta may come twice. Of the 256 entries that are kept of a kind, at most half come from any single process. Of
// machines, [machines.Record.Merge] says what is kept.
//
// Merge returns an error, and changes nothing, if the configuration has no Origin, or if delta is damaged or is not a
// delta. If the times in delta are ahead of now by more than MaxSkew, the error is a FieldError. O(1) for each
// observation here and in delta.
func (know *Knowledge) Merge(now time.Time, delta []byte) error {
	if know.config.Machines.Origin == "" {
		return check.Bad("restart/tracker: KnowledgeConfig", "Machines.Origin", "", "a name: without one nothing is passed on")
	}
	s, err := readShared("delta", delta)
	if err != nil {
		return err
	}
	at, origins := know.at(now), know.origins.Clone()
	seen, err := kindsForm().Read(&origins, know.choices(), at, s.kinds)
	if record := know.Machines(); err == nil && record != nil && len(s.machines) > 0 {
		err = record.Merge(now, s.machines)
	}
	if err != nil {
		return err
	}
	know.origins = origins
	for _, v := range seen {
		know.kind(v.Fact.kind).seen.Put(merge.Observation[entry]{At: v.At, Fact: v.Fact.entry, Origin: v.Origin})
	}
	know.forgetOld(at)
	return nil
}

// AppendBinary appends a snapshot of the knowledge to dst. The snapshot does not contain the stakes of open trials.
// The stake of a trial is the slot time that it puts at risk. When a phase is restored, [Restore] adds its stakes
// again. A kind whose observations are all older than KnowledgeConfig.Keep is left out. AppendBinary never fails. A kind
// takes at most some 11 kB, and a machine at most 400 bytes.
func (know *Knowledge) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, know.code)
}

// MarshalBinary returns a snapshot of the knowledge; see [Knowledge.AppendBinary].
func (know *Knowledge) MarshalBinary() ([]byte, error) { return know.AppendBinary(nil) }

// UnmarshalBinary sets the knowledge to the state of a snapshot, with the configuration of the snapshot. Call it before
// phases use the knowledge. If data is not a snapshot of a Knowledge, UnmarshalBinary returns an error and changes
// nothing. O(n log n) for n bytes. The memory that it uses is at most a multiple of the length of data.
func (know *Knowledge) UnmarshalBinary(data []byte) error {
	return snapshot.RestoreTo(Knowledge{}, data, snapshot.Version, know, (*Knowledge).code)
}

// code encodes or decodes the knowledge.
func (know *Knowledge) code(c *snapshot.Codec) {
	k := know.Config()
	remembers := k.remembersMachines()
	c.Field(1, "config").Fields(func() {
		c.Field(1, "keep").Duration(&k.Keep)
		c.Field(2, "origin").Text(&k.Machines.Origin)
		c.Field(3, "max-skew").Duration(&k.Machines.MaxSkew)
		c.Field(4, "remembers-machines").Bool(&remembers)
	})
	if !remembers {
		k.Machines.MaxMachines = restart.Off
	}
	c.Valid(k == k.Effective(), k)
	know.config = k
	c.Field(2, "clock").Clock(&know.clock)
	know.origins.State(c.Field(3, "origins"))
	know.codeKinds(c)
	if remembers {
		c.Field(7, "machines").Part(&know.machines)
		know.config.Machines = know.machines.Config()
		of := know.config.Machines
		c.Check(of.Origin == k.Machines.Origin && of.MaxSkew == k.Machines.MaxSkew, "has machines of another origin")
	}
}

// codeKinds encodes or decodes the kinds, in the order of their names.
func (know *Knowledge) codeKinds(c *snapshot.Codec) {
	last := ""
	kinds := slices.DeleteFunc(know.inOrder(), func(k *kind) bool {
		k.sum(know, know.clock.Since)
		return len(k.known) == 0 && (k.used || k.shape == survival.Shape{})
	})
	snapshot.List(c.Field(4, "kinds"), &kinds, func(k **kind) {
		if !c.Writes() {
			*k = new(kind)
		}
		c.Text(&(*k).name)
		c.Check(*k == kinds[0] || (*k).name > last, "holds kinds that are out of order")
		last = (*k).name
		c.Check(len(last) <= merge.MostName, "holds a name that is too long")
	})
	snapshot.Each(c.Field(5, "shapes"), kinds, func(k **kind) { c.Item(&(*k).shape) })
	snapshot.Each(c.Field(6, "observations"), kinds, func(k **kind) {
		(*k).seen.State(&know.origins, codeEntry, c, know.choices().Latest(know.clock))
	})
	if !c.Reading() {
		return
	}
	know.kinds = make(map[string]*kind, len(kinds))
	for _, k := range kinds {
		k.sum(know, know.clock.Since)
		know.kinds[k.name] = k
	}
}
