// Package worlds holds small worlds in which a policy can do good or harm, and a simulator that takes a phase through
// one of them under a policy. It is a host like any other: what it knows of the library is the tracker that it tells of
// starts, reports and ends, and asks what to do. It shares no code with the other simulations here, so that a mistake
// in one of them is not a mistake in all.
//
// [All] lists the worlds, [Later] and [Latest] those that were invented after constants of the default policy were fixed.
// [World.Run] plays a world under a policy; [World.Ideal] is what one who knows everything makes of it. The luck of an
// attempt belongs to its task and number: all policies meet the same.
package worlds

// World is a phase, or several one after the other, on machines of one slot each. Times are in seconds. Everything is
// well, tasks take 75 to 125 s and report every 10 s, unless a field says otherwise. Of what a task takes beyond 75 s
// one half is its own, and the other its attempt's.
type World struct {
	Name     string
	Tasks    int // of each phase; 1 to so many, drawn evenly, if there are several phases
	Phases   int // 0 stands for 1
	Machines int // 0 stands for 20
	// Load is which share of the slots' time the phases would use without a policy, if they arrive when they like, in a
	// stream; 0: each arrives when the one before it has ended.
	Load float64

	Sizes Sizes
	Known bool // the host knows the sizes

	Slow    float64 // the share of attempts that are slow wherever they run, by the factor SlowBy; 0 stands for 8
	SlowBy  float64
	Hang    float64 // the share of attempts that never end, and are failed at the age of Timeout; 0 stands for 1500
	Timeout float64
	Lag     float64 // from the launch of an attempt until it runs

	Bad     []Bad   // machines that are slow
	Spell   Bad     // a while in which all machines are slow
	Fast    int     // so many machines are three times as fast
	Classes bool    // the record knows these as a class of their own
	Deaths  []Death // machines that die

	Far        float64 // the share of tasks whose data is far away, by the factor FarBy; 0 stands for 5
	FarBy      float64
	Everywhere bool // it is far from every machine; otherwise from one half of them
	Paths      bool // the host knows the way

	Interference float64 // how much slower each copy of a task makes all of them
	Checkpoint   float64 // the share of its work after which an attempt saves what it has done; 0: never

	Noise float64 // multiplies both σ of noisy progress; 0 stands for 1
}

// Bad says that so many machines are slower by a factor, from an instant to another; an end of 0 is never.
type Bad struct {
	Machines       int
	By, From, Till float64
}

// Death is of a machine that dies at an instant, and is back at another; 0: never.
type Death struct{ At, Back float64 }

// Sizes says how the sizes of tasks scatter.
type Sizes uint8

const (
	Even      Sizes = iota // 75 to 100 s, and up to 25 by the attempt
	LogNormal              // with a σ of 1, 100 s in the mean
	Pareto                 // with an index of 1.3, 60 s at least, 50 times that at most
	TwoKinds               // three in four take 40 to 60 s, the others 200 to 300
)

// Model is what copies report of their progress.
type Model uint8

const (
	// Linear: the share of their time that is over.
	Linear Model = iota
	// Noisy: that, times a log-normal factor (σ = .15) of the copy's own, and one (σ = .05) of the report's.
	Noisy
	// Stalls: by a curve of the copy's own, whose twelfths take log-normal parts of the time (σ = .5), the first five 1.3
	// times as long; and one copy in eight spends 60 to 95 % of its time in one of the first three.
	Stalls
	// None: nothing.
	None
)

// Models lists the models of progress.
var Models = []Model{Linear, Noisy, Stalls, None}

var modelNames = [...]string{"linear", "noisy", "stalls", "none"}

func (m Model) String() string { return modelNames[m] }

// Interval is how often copies report and the host looks at what runs, in seconds.
const Interval = 10

func or(value, usual float64) float64 {
	if value == 0 {
		return usual
	}
	return value
}

func (w *World) machines() int {
	if w.Machines == 0 {
		return 20
	}
	return w.Machines
}

func (w *World) phases() int { return max(w.Phases, 1) }

// size is how many tasks a phase has.
func (w *World) size(l *luck, phase int) int {
	if w.Phases > 1 {
		return 1 + l.of(ofPhase, uint64(phase)).IntN(w.Tasks)
	}
	return w.Tasks
}

// gap is the mean time between two phases of a stream, by which they use Load of the slots: a task takes 100 s in the
// mean, and longer by bad luck.
func (w *World) gap() float64 {
	task := 100 * (1 + float64(w.Slow*(or(w.SlowBy, 8)-1)))
	return task * float64(1+w.Tasks) / 2 / (float64(w.machines()) * w.Load)
}

// factor is how many times longer work takes on the i-th of the machines at an instant: the first ones are the bad
// ones, the last ones the fast.
func (w *World) factor(machine int, at float64) float64 {
	f := 1.0
	first := 0
	for _, b := range w.Bad {
		if machine >= first && machine < first+b.Machines && b.during(at) {
			f *= b.By
		}
		first += b.Machines
	}
	if w.Spell.By != 0 && w.Spell.during(at) {
		f *= w.Spell.By
	}
	if machine >= w.machines()-w.Fast {
		f /= 3
	}
	return f
}

func (b Bad) during(at float64) bool { return at >= b.From && (b.Till == 0 || at < b.Till) }

// changes are the instants at which some machine becomes slower or faster, dies or returns.
func (w *World) changes() (at []float64) {
	for _, b := range append(w.Bad[:len(w.Bad):len(w.Bad)], w.Spell) {
		at = append(at, b.From, b.Till)
	}
	for _, d := range w.Deaths {
		at = append(at, d.At, d.Back)
	}
	return at
}

// bad counts the machines that are bad at some time.
func (w *World) bad() (n int) {
	for _, b := range w.Bad {
		n += b.Machines
	}
	return n
}

// dead reports whether a machine is dead at an instant. Those that die stand behind the bad ones.
func (w *World) dead(machine int, at float64) bool {
	i := machine - w.bad()
	if i < 0 || i >= len(w.Deaths) {
		return false
	}
	d := w.Deaths[i]
	return at >= d.At && (d.Back == 0 || at < d.Back)
}
