// Package report turns a comparison into one model, and writes the model as text, as JSON and as a page.
package report

import "fmt"

// Schema names the model and its version. The number rises when a field is renamed, removed, or changes its meaning; new
// fields do not raise it.
const Schema = "straggler.replay/1"

// Report is the whole model. Times are in seconds. Shares are of 1: a reduction of 0.2 is a fifth less, a negative one is
// a loss. What is not known is null, or left out. docs/replay.md describes the JSON for those who read it.
type Report struct {
	Schema string `json:"schema"`
	// Headline is the result in a sentence or two.
	Headline string `json:"headline"`
	Input    Input  `json:"input"`
	// Stragglers says how many tasks were slow, and what they cost.
	Stragglers Stragglers `json:"stragglers"`
	NoAction   NoAction   `json:"no_action"`
	Policies   []Policy   `json:"policies"`
	// Ideals are no policies, since they know the future [Mantri §6.1]: every task takes its phase's mean
	// (no-skew), or the mean of the best three quarters (chop-tail).
	Ideals []Ideal `json:"ideals"`
	// Phases are those in which stragglers cost most, that first; PhasesLeftOut is how many more there are.
	Phases        []Phase `json:"phases"`
	PhasesLeftOut int     `json:"phases_left_out"`
	// Schedules show the first of the phases without action, and under the first policy.
	Schedules []Schedule `json:"schedules,omitempty"`
	// Slowdown is the distribution of the tasks' times as multiples of their phases' medians.
	Slowdown []Point `json:"slowdown_distribution,omitempty"`
	Causes   *Causes `json:"causes,omitempty"`
	// Apart is what can be said of the tasks that are not known to be alike, which no policy is replayed on; null if all
	// are.
	Apart *Apart `json:"not_alike,omitempty"`
	// Workers are the machines, those first on which stragglers cost most; WorkersLeftOut is how many more there are.
	Workers        []Worker `json:"workers,omitempty"`
	WorkersLeftOut int      `json:"workers_left_out"`
	// Heat is slowness by machine and time; null if machines are not known.
	Heat *Heat `json:"heat,omitempty"`
	// Setting is what the log's own engine could be told; null if it is none that is known.
	Setting *Setting `json:"setting,omitempty"`
	Money   *Money   `json:"money,omitempty"`
	// Sample is there if not all phases were replayed.
	Sample *Sample `json:"sample,omitempty"`
	// Against is another run that this one was compared with.
	Against *Against `json:"against,omitempty"`
	// Recorded is what the log's own engine did about stragglers; null if it launched no copies.
	Recorded    *Copies  `json:"recorded_copies,omitempty"`
	Assumptions []string `json:"assumptions"`
	Notes       []string `json:"notes,omitempty"`
	Work        Work     `json:"work"`
}

// Input is what was read or generated.
type Input struct {
	// Name is how people call it: the logs' names, or the generated workload's.
	Name string   `json:"name"`
	Logs []string `json:"logs,omitempty"`
	// Engine is the kind of log; Began is when its first attempt did, Hosts how many machines it names.
	Engine    string `json:"engine,omitempty"`
	Began     string `json:"began,omitempty"`
	Hosts     int    `json:"hosts,omitempty"`
	Generated bool   `json:"generated"`
	Seed      uint64 `json:"seed"`
	Seeds     int    `json:"seeds"`
	Phases    int    `json:"phases"`
	Tasks     int    `json:"tasks"`
	// Chained is of how many phases it is known which others' output they read.
	Chained int `json:"phases_with_known_inputs"`
}

// Stragglers are tasks that take over 1.5 times the median of their phase [Mantri §4.1].
type Stragglers struct {
	Tasks int     `json:"tasks"`
	Share float64 `json:"share_of_tasks"`
	// FirstWave of them began in their phase's first wave; MoreData read over 1.5 times the median bytes; of Unknown it is
	// not known what they read.
	FirstWave int `json:"first_wave"`
	MoreData  int `json:"more_data"`
	Unknown   int `json:"bytes_unknown"`
	// Cost is the share of the phases' time that would not have been, had every straggler taken its phase's median.
	Cost float64 `json:"time_share"`
	// Tail is the share of the phases' time in which the last tenth of their tasks ended.
	Tail float64 `json:"last_tenth_share"`
}

// NoAction is what happens without any policy.
type NoAction struct {
	Time float64 `json:"time_seconds"`
	// Runs is the part of Time that is runs of the same task, added up. They may have run side by side: nobody waited for
	// their sum.
	Runs float64 `json:"runs_seconds"`
	Used float64 `json:"used_seconds"`
	// Wasted is the slots' time of attempts that failed in the log.
	Wasted float64 `json:"wasted_seconds"`
	// Deviation is by how much the replay misses the phase times that the log's attempts show, in all and in the worst
	// phase; null without a log.
	Deviation      *float64 `json:"deviation"`
	WorstDeviation *float64 `json:"worst_deviation"`
	// Engine is the sum of the phase times that the engine itself recorded, from submission to completion, of the
	// EnginePhases that have one, and EngineReplayed what the replay gives for these.
	EnginePhases   int     `json:"engine_phases"`
	Engine         float64 `json:"engine_seconds"`
	EngineReplayed float64 `json:"engine_replayed_seconds"`
}

// Phases is the time of the phases that are no runs of the same task.
func (n NoAction) Phases() float64 { return n.Time - n.Runs }

// Figure is a number over the seeds.
type Figure struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Policy is what one policy made of the phases, against no action.
type Policy struct {
	Name string `json:"policy"`
	// Reductions of the phases' times. P50 and P75: half, and a quarter, of the phases gain at least this much, each
	// weighing by its time without action; the plain ones weigh all phases alike; All is that of the sum.
	P50      Figure `json:"time_reduction_p50"`
	P75      Figure `json:"time_reduction_p75"`
	All      Figure `json:"time_reduction_all"`
	PlainP50 Figure `json:"time_reduction_plain_p50"`
	PlainP75 Figure `json:"time_reduction_plain_p75"`
	// Jobs is the reduction of the sum of the jobs' times, with phases that wait for those whose output they read; null if
	// that is known of no phase.
	Jobs *Figure `json:"job_time_reduction"`
	// Resource is the reduction of the slots' time in use.
	Resource Figure `json:"resource_reduction"`
	Copies   Figure `json:"copies_per_task"`
	Restarts Figure `json:"restarts_per_task"`
	// Won is the share of copies and restarts that ended their task before its own attempt would have; null if there were
	// none.
	Won *Figure `json:"won_share"`
	// Wasted is the slots' time of copies that did not end their task.
	Wasted  Figure   `json:"wasted_seconds"`
	Time    Figure   `json:"time_seconds"`
	Used    Figure   `json:"used_seconds"`
	Cloning *Cloning `json:"cloning,omitempty"`
}

// Ideal is what an ideal schedule would save of the phases' times.
type Ideal struct {
	Name string  `json:"ideal"`
	P50  float64 `json:"time_reduction_p50"`
	P75  float64 `json:"time_reduction_p75"`
	All  float64 `json:"time_reduction_all"`
}

// Cloning is what cloning small phases up front came to.
type Cloning struct {
	Phases      int `json:"phases_cloned"`
	Small       int `json:"phases_of_at_most_10_tasks"`
	SmallCloned int `json:"phases_of_at_most_10_tasks_cloned"`
	// Reduction of the cloned phases' times, of their sum.
	Reduction float64 `json:"time_reduction_cloned"`
	Capacity  int     `json:"capacity_slots"`
	// Held is the share of the capacity that extra copies used, over the whole time; Most is the largest that was charged
	// to the budget at once, of which Budget is allowed.
	Held   float64 `json:"extra_share_of_capacity"`
	Most   float64 `json:"largest_share_charged"`
	Budget float64 `json:"budget_share"`
	// Straggle is the last estimate of the probability that a task straggles; null if there was none.
	Straggle *float64 `json:"straggler_probability"`
}

// Phase is one phase without action and under the policies.
type Phase struct {
	ID    int     `json:"phase"` // -explain and -list know it by this number
	Job   string  `json:"job"`
	Name  string  `json:"name"`
	Tasks int     `json:"tasks"`
	Slots int     `json:"slots"`
	Time  float64 `json:"time_seconds"`
	// Even is its time if every straggler had taken the median.
	Even float64 `json:"time_without_stragglers_seconds"`
	// With is its time under each of Report.Policies, with the first seed.
	With       []float64 `json:"with_policies_seconds"`
	Stragglers int       `json:"stragglers"`
	// Slowest is the task whose last attempt took longest, and SlowestTime how long.
	Slowest     int     `json:"slowest_task"`
	SlowestTime float64 `json:"slowest_task_seconds"`
	SlowestName string  `json:"slowest_task_name"`
	SlowestHost string  `json:"slowest_task_host,omitempty"`
	// Causes share out what its stragglers took beyond its median.
	Causes []Part `json:"causes,omitempty"`
}

// Schedule is the picture of a phase: who ran where and when.
type Schedule struct {
	Phase  int    `json:"phase"`
	Policy string `json:"policy"`
	Before []Bar  `json:"before"`
	After  []Bar  `json:"after"`
	// Lanes is how many slots the picture shows, those on which the phase's last tasks ended; LanesLeftOut how many not.
	Lanes        int `json:"lanes"`
	LanesLeftOut int `json:"lanes_left_out"`
}

// Bar is one copy of a task.
type Bar struct {
	Lane  int     `json:"lane"`
	Task  int     `json:"task"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Kind  string  `json:"kind"` // "task", "straggler", "copy", "failed", "killed"
	// Name is what the log calls the task; Host ran it, and it read Bytes, as far as that is known.
	Name  string  `json:"name"`
	Host  string  `json:"host,omitempty"`
	Bytes float64 `json:"bytes,omitempty"`
	// Cause is the main one of a straggler, Decision the policy's line about it.
	Cause    string `json:"cause,omitempty"`
	Decision string `json:"decision,omitempty"`
}

// Copies are attempts that ran beside another of their task.
type Copies struct {
	// Launched copies, of which Won ended their task. Unmarked are not called speculative by the log, but overlap.
	Launched int `json:"launched"`
	Won      int `json:"won"`
	Unmarked int `json:"unmarked"`
	// Wasted is the slots' time of attempts that ran beside another and did not end their task.
	Wasted float64 `json:"wasted_seconds"`
}

// String says it in a sentence.
func (c Copies) String() string {
	return fmt.Sprintf("The log's own engine ran %s beside another attempt of their task; %d of them ended their task. Attempts that ran "+
		"beside another attempt and did not end their task used %s of slot time.",
		plural(c.Launched, "1 copy", fmt.Sprintf("%d copies", c.Launched)), c.Won, Span(c.Wasted))
}

// Point is a point of a distribution: the share of values that are at most X.
type Point struct {
	X     float64 `json:"x"`
	Share float64 `json:"share"`
}

// Work is what the replay itself took.
type Work struct {
	Events  int     `json:"events"`
	Seconds float64 `json:"elapsed_seconds"`
	Rate    float64 `json:"events_per_second_per_core"`
}
