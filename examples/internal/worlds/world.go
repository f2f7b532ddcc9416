// Package worlds has small worlds in which a policy can do good or harm, and a simulator that runs a phase in a world
// under a policy. The simulator is a host like any other: it tells a tracker of starts, reports and ends, and asks it
// for decisions. It shares no code with the other simulations in this repository, so that an error in one simulation
// is not an error in all.
//
// The lists of worlds are in lists.json, and [List] returns their cells: some lists were invented after constants of
// the default policy were chosen. [World.Run] simulates a world under a policy. [World.Ideal] simulates a host that knows
// everything. The luck of an attempt depends only on its task and number, so all policies meet the same luck.
package worlds

// World is a phase, or several phases one after the other. Times are in seconds. By default nothing goes wrong: tasks
// take 75 to 125 s and report every 10 s. Of the time beyond 75 s, one half belongs to the task, and the other half to
// the attempt.
type World struct {
	Name     string
	Tasks    int // number of tasks of each phase; for several phases, the largest number: each number from 1 to Tasks is equally likely
	Phases   int // 0 stands for 1
	Machines int // 0 stands for 20
	Slots    int // slots of each machine; 0 stands for 1
	Asks     Asks
	// Load makes a stream: phases arrive at random, and without a policy they use this share of the slots' time. 0: a
	// phase arrives when the phase before it has ended.
	Load float64

	Sizes    Sizes
	Scale    float64 // factor of all sizes; 0 stands for 1
	Long     int     // number of tasks that are longer than their size, by the factor LongBy
	LongBy   float64
	Known    bool    // the host knows the sizes
	Told     bool    // the host knows the sizes, except in the run without action
	Wrong    float64 // σ of the log-normal error of the sizes that the host knows
	Interval float64 // time between two reports of an attempt, and between two polls of the host; 0 stands for 10

	Slow    float64 // share of attempts that are slow on any machine, by the factor SlowBy; SlowBy 0 is replaced by 8
	SlowBy  float64
	Tail    float64 // index of the Pareto-distributed factor by which each attempt is slower; 0: none
	Hang    float64 // share of attempts that never end and fail at the age of Timeout; Timeout 0 is replaced by 1500
	Timeout float64
	Lag     float64 // time from the decision to start an attempt until it runs

	Bad     []Bad   // machines that are slow
	Spell   Bad     // a span of time in which all machines are slow
	Fast    int     // number of machines that are three times as fast
	Classes bool    // the record has the fast machines as a class of their own
	Deaths  []Death // machines that die

	Far        float64 // share of tasks with data far away, by the factor FarBy; FarBy 0 is replaced by 5
	FarBy      float64
	Everywhere bool // the data is far from every machine; otherwise far from one half of the machines
	Paths      bool // the host knows the distance to the data

	Interference float64 // each copy of a task makes all its attempts slower by this share
	Checkpoint   float64 // share of the work after which an attempt saves its progress; 0: never

	Noise float64 // factor for both σ of noisy progress; 0 is replaced by 1
}

// Bad is a number of machines that are slower by a factor, from one instant to another. An end of 0 means never.
type Bad struct {
	Machines       int
	By, From, Till float64
}

// Death is a machine that dies at the instant At and returns at the instant Back; 0: never.
type Death struct{ At, Back float64 }

// Sizes is the distribution of the sizes of tasks.
type Sizes uint8

const (
	Even        Sizes = iota // 75 to 100 s, and up to 25 by the attempt
	LogNormal                // log-normal with a σ of 1 and a mean of 100 s
	Pareto                   // Pareto with an index of 1.3, at least 60 s, at most 50 times as long
	TwoKinds                 // three of four tasks take 40 to 60 s, and the others 200 to 300 s
	Mild                     // log-normal with a σ of .25 and a median of 100 s
	Below                    // half of the tasks take 90 to 110 s, and the others 10 to 90 s
	Exponential              // 20 s, and exponential with a mean of 80 s
	Stretched                // 10 s, and 45 s times the square of an exponential variable
)

// Asks is the order in which idle slots ask for work.
type Asks uint8

const (
	Shuffled Asks = iota // a random order, the same for the whole phase
	BadFirst             // the machines that are bad at some time ask first
	BadLast              // the machines that are bad at some time ask last
	EachTime             // a random order each time that slots are filled
)

// Model is a model of the progress that attempts report.
type Model uint8

const (
	// Linear progress is the share of its time that an attempt has run.
	Linear Model = iota
	// Noisy progress is linear progress, multiplied by two log-normal factors: one of the attempt (σ = .15), and one
	// of the report (σ = .05).
	Noisy
	// Stalls is progress along a random curve of the attempt. The times of its twelve parts are log-normal (σ = .5),
	// and the first five parts are 1.3 times as long. One of eight attempts also spends 60 to 95 % of its time in one
	// of the first three parts.
	Stalls
	// None is the model in which attempts report nothing.
	None
)

// Models lists the models of progress.
var Models = []Model{Linear, Noisy, Stalls, None}

var modelNames = [...]string{Linear: "linear", Noisy: "noisy", Stalls: "stalls", None: "none"}

func (m Model) String() string { return modelNames[m] }

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

// slotsEach returns the number of slots of each machine.
func (w *World) slotsEach() int { return max(w.Slots, 1) }

func (w *World) interval() float64 { return or(w.Interval, 10) }

// size returns the number of tasks of a phase.
func (w *World) size(l *luck, phase int) int {
	if w.Phases > 1 {
		return 1 + l.of(ofPhase, uint64(phase)).IntN(w.Tasks)
	}
	return w.Tasks
}

// gap returns the mean time between two phases of a stream, so that the phases use the share Load of the slots. A
// task takes 100 s on average, and longer with bad luck.
func (w *World) gap() float64 {
	task := 100 * or(w.Scale, 1) * (1 + float64(w.Slow*(or(w.SlowBy, 8)-1)))
	return task * float64(1+w.Tasks) / 2 / (float64(w.machines()*w.slotsEach()) * w.Load)
}

// factor returns the factor by which work takes longer on a machine at an instant. The bad machines are first, and
// the fast machines last.
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

// changes returns the instants at which a machine becomes slower or faster, dies or returns.
func (w *World) changes() (at []float64) {
	for _, b := range append(w.Bad[:len(w.Bad):len(w.Bad)], w.Spell) {
		at = append(at, b.From, b.Till)
	}
	for _, d := range w.Deaths {
		at = append(at, d.At, d.Back)
	}
	return at
}

// bad returns the number of machines that are bad at some time.
func (w *World) bad() (n int) {
	for _, b := range w.Bad {
		n += b.Machines
	}
	return n
}

// dead reports whether a machine is dead at an instant. The machines that die have numbers after the bad machines.
func (w *World) dead(machine int, at float64) bool {
	i := machine - w.bad()
	if i < 0 || i >= len(w.Deaths) {
		return false
	}
	d := w.Deaths[i]
	return at >= d.At && (d.Back == 0 || at < d.Back)
}
