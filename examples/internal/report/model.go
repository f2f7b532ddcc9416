// Package report makes one model of a comparison, and writes the model as text, as JSON and as an HTML page.
package report

import (
	"fmt"

	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// Schema is the name and version of the model. The number rises if a field is renamed or removed, or if its meaning
// changes. New fields do not change the number.
const Schema = "straggler.replay/3"

// Report is the whole model. Times are in seconds. A share or a reduction of 0.2 is 20 %; a negative reduction is a
// loss. An unknown value is null or left out. docs/replay.md describes the JSON.
type Report struct {
	Schema string `json:"schema"`
	// Headline is the result in a few sentences: the answers Slow and Saves of the diagnosis.
	Headline  string    `json:"headline"`
	Diagnosis Diagnosis `json:"diagnosis"`
	Input     Input     `json:"input"`
	// Stragglers has the number of slow tasks, and the time that they cost.
	Stragglers Stragglers `json:"stragglers"`
	// Unended are the tasks without a success, on which no policy is replayed; null if all tasks succeeded.
	Unended  *why.Unended `json:"unended,omitempty"`
	NoAction NoAction     `json:"no_action"`
	Policies []Policy     `json:"policies"`
	// Ideals are not policies, because they know the future [Mantri §6.1]: every task takes the mean of its phase
	// (no-skew), or the mean of the fastest three quarters of the tasks (chop-tail).
	Ideals []Ideal `json:"ideals"`
	// Phases are the phases in which stragglers cost most, the costliest first. PhasesLeftOut is the number of
	// further phases.
	Phases        []Phase `json:"phases"`
	PhasesLeftOut int     `json:"phases_left_out"`
	// Worst are the stragglers that cost their phases most, the costliest first.
	Worst []Straggler `json:"worst_stragglers,omitempty"`
	// Schedules are pictures of phases, without action and under the first policy. The phases whose times the policy
	// changes most are first.
	Schedules []Schedule `json:"schedules,omitempty"`
	// Slowdown is the distribution of the tasks' times divided by the median of their phase.
	Slowdown []Point `json:"slowdown_distribution,omitempty"`
	Causes   *Causes `json:"causes,omitempty"`
	// Waits is who makes the others wait; null if the log has no steps with a barrier.
	Waits     *Waits `json:"waits,omitempty"`
	waitsOnly bool   // the report has nothing else
	// Apart describes the tasks that are not known to be alike, on which no policy is replayed; null if all tasks are
	// alike.
	Apart *Apart `json:"not_alike,omitempty"`
	// Workers are the machines on which stragglers cost most, the costliest first. WorkersLeftOut is the number of
	// further machines.
	Workers        []Worker `json:"workers,omitempty"`
	WorkersLeftOut int      `json:"workers_left_out"`
	// Heat is the slowness by machine and time; null if machines are not known.
	Heat *Heat `json:"heat,omitempty"`
	// Setting is the setting of the log's own engine; null if the engine has no known setting.
	Setting *Setting `json:"setting,omitempty"`
	Money   *Money   `json:"money,omitempty"`
	// Sample is null if all phases were replayed.
	Sample *Sample `json:"sample,omitempty"`
	// Failures counts the attempts that failed; null if they took hardly any slot time.
	Failures *Failures `json:"failures,omitempty"`
	// Against compares the run with another run; null without another run.
	Against *Against `json:"against,omitempty"`
	// Recorded counts the copies of the log's own engine; null if it made no copies.
	Recorded    *Copies   `json:"recorded_copies,omitempty"`
	Assumptions []string  `json:"assumptions"`
	Notes       []string  `json:"notes,omitempty"`
	Work        Work      `json:"work"`
	few         bool      // no phase has enough tasks to call one of them slow
	costs       []float64 // the time that stragglers cost each phase, in seconds; only until Explain
}

// Input describes the logs, or the generated workload.
type Input struct {
	// Name is the name of the logs, or of the generated workload.
	Name string   `json:"name"`
	Logs []string `json:"logs,omitempty"`
	// Engine is the format of the log, Began the time of its first attempt, and Hosts the number of machines with a
	// name in it.
	Engine    string `json:"engine,omitempty"`
	Began     string `json:"began,omitempty"`
	Hosts     int    `json:"hosts,omitempty"`
	Generated bool   `json:"generated"`
	Seed      uint64 `json:"seed"`
	Seeds     int    `json:"seeds"`
	Phases    int    `json:"phases"`
	Tasks     int    `json:"tasks"`
	// Chained is the number of phases with known input phases, whose output they read.
	Chained int `json:"phases_with_known_inputs"`
}

// Stragglers counts the tasks that take over 1.5 times the median of their phase [Mantri §4.1].
type Stragglers struct {
	Tasks int     `json:"tasks"`
	Share float64 `json:"share_of_tasks"`
	// FirstWave is the number of stragglers in the first wave of their phase. MoreData is the number of stragglers
	// that read over 1.5 times the median number of bytes. Unknown is the number of stragglers with unknown bytes.
	FirstWave int `json:"first_wave"`
	MoreData  int `json:"more_data"`
	Unknown   int `json:"bytes_unknown"`
	// Cost is the share of the phases' time that would be saved if every straggler took the median of its phase.
	Cost float64 `json:"time_share"`
	// Tail is the share of the phases' time after all but a tenth of their tasks have ended.
	Tail float64 `json:"last_tenth_share"`
}

// NoAction has the figures without any policy.
type NoAction struct {
	Time float64 `json:"time_seconds"`
	// Runs is the part of Time in phases of independent runs of the same task. It is a sum: the runs may have been
	// side by side, so nobody waited for the whole sum.
	Runs float64 `json:"runs_seconds"`
	Used float64 `json:"used_seconds"`
	// Wasted is the slot time of attempts that failed in the log.
	Wasted float64 `json:"wasted_seconds"`
	// Deviation is the difference between the phases' times in the replay and in the log, as a share: in all, and in
	// the worst phase. It is null without a log.
	Deviation      *float64 `json:"deviation"`
	WorstDeviation *float64 `json:"worst_deviation"`
	// EnginePhases is the number of phases with a time that the engine itself recorded, from submission to
	// completion. Engine is the sum of these times, and EngineReplayed the time of the same phases in the replay.
	EnginePhases   int     `json:"engine_phases"`
	Engine         float64 `json:"engine_seconds"`
	EngineReplayed float64 `json:"engine_replayed_seconds"`
}

// Phases returns the time of all phases except the phases of independent runs.
func (n NoAction) Phases() float64 { return n.Time - n.Runs }

// Figure is the mean of a number over the seeds, with its lowest and highest value.
type Figure struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Policy has the figures of one policy, compared with no action.
type Policy struct {
	Name string `json:"policy"`
	// The reductions of the phases' times. Half of the phases gain at least P50, and a quarter at least P75; each
	// phase is weighted by its time without action. In PlainP50 and PlainP75 all phases have the same weight. All is
	// the reduction of the sum.
	P50      Figure `json:"time_reduction_p50"`
	P75      Figure `json:"time_reduction_p75"`
	All      Figure `json:"time_reduction_all"`
	PlainP50 Figure `json:"time_reduction_plain_p50"`
	PlainP75 Figure `json:"time_reduction_plain_p75"`
	// Jobs is the reduction of the sum of the jobs' times. In a job, a phase waits for its input phases. Jobs is null
	// if no input phases are known.
	Jobs *Figure `json:"job_time_reduction"`
	// Resource is the reduction of the slot time.
	Resource Figure `json:"resource_reduction"`
	Copies   Figure `json:"copies_per_task"`
	Restarts Figure `json:"restarts_per_task"`
	// Won is the share of copies and restarts that ended their task before the task's own attempt would have; null if
	// there were none.
	Won *Figure `json:"won_share"`
	// Wasted is the slot time of attempts that did not end their task.
	Wasted  Figure   `json:"wasted_seconds"`
	Time    Figure   `json:"time_seconds"`
	Used    Figure   `json:"used_seconds"`
	Cloning *Cloning `json:"cloning,omitempty"`
}

// Ideal has the reductions of the phases' times in an ideal scheme.
type Ideal struct {
	Name string  `json:"ideal"`
	P50  float64 `json:"time_reduction_p50"`
	P75  float64 `json:"time_reduction_p75"`
	All  float64 `json:"time_reduction_all"`
}

// Cloning has the figures of a policy that clones small phases when they start.
type Cloning struct {
	Phases      int `json:"phases_cloned"`
	Small       int `json:"phases_of_at_most_10_tasks"`
	SmallCloned int `json:"phases_of_at_most_10_tasks_cloned"`
	// Reduction is the reduction of the sum of the cloned phases' times.
	Reduction float64 `json:"time_reduction_cloned"`
	Capacity  int     `json:"capacity_slots"`
	// Held is the share of the cluster's slot time that clones used. Most is the largest share of the slots that was
	// charged to the budget at once. Budget is the allowed share.
	Held   float64 `json:"extra_share_of_capacity"`
	Most   float64 `json:"largest_share_charged"`
	Budget float64 `json:"budget_share"`
	// Straggle is the last estimate of the probability that a task straggles; null if there is none.
	Straggle *float64 `json:"straggler_probability"`
}

// Phase is a phase, with its times without action and under the policies.
type Phase struct {
	ID    int     `json:"phase"` // number of the phase for -explain and -list
	Job   string  `json:"job"`
	Name  string  `json:"name"`
	Tasks int     `json:"tasks"`
	Slots int     `json:"slots"`
	Time  float64 `json:"time_seconds"`
	// Even is the time of the phase if every straggler took the median.
	Even float64 `json:"time_without_stragglers_seconds"`
	// With is the time of the phase under each of Report.Policies, with the first seed.
	With       []float64 `json:"with_policies_seconds"`
	Stragglers int       `json:"stragglers"`
	// Slowest is the task with the longest last attempt, and SlowestTime the time of this attempt.
	Slowest     int     `json:"slowest_task"`
	SlowestTime float64 `json:"slowest_task_seconds"`
	SlowestName string  `json:"slowest_task_name"`
	SlowestHost string  `json:"slowest_task_host,omitempty"`
	// Causes divide the time that the stragglers took beyond the median of the phase.
	Causes []Part `json:"causes,omitempty"`
}

// Schedule is a picture of a phase: the attempts on each slot over time.
type Schedule struct {
	Phase  int    `json:"phase"`
	Policy string `json:"policy"`
	Before []Bar  `json:"before"`
	After  []Bar  `json:"after"`
	// Seconds are the times of the phase: without action, and under the policy.
	Seconds [2]float64 `json:"seconds"`
	// Copies and Restarts are the numbers of copies and restarts by the policy in the phase.
	Copies   int `json:"copies"`
	Restarts int `json:"restarts"`
	// Lanes is the number of slots in the picture. They are the slots on which the last attempts of the phase ended.
	// Names has the machine of each slot, or its number. LanesLeftOut is the number of other slots.
	Lanes        int      `json:"lanes"`
	Names        []string `json:"lane_names"`
	LanesLeftOut int      `json:"lanes_left_out"`
}

// Bar is an attempt of a task in a picture.
type Bar struct {
	Lane  int     `json:"lane"`
	Task  int     `json:"task"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Kind  string  `json:"kind"` // "task", "straggler", "failed", "killed" or "copy"
	// Joined is the number of short attempts that follow each other and are drawn as this bar; 0 for one attempt. Of
	// these attempts, Kind is the last in the list above. All other fields describe the first attempt of this kind.
	Joined int `json:"joined,omitempty"`
	// Name is the name of the task in the log, Host the machine of the attempt, and Bytes the size of its input, if
	// they are known.
	Name  string  `json:"name"`
	Host  string  `json:"host,omitempty"`
	Bytes float64 `json:"bytes,omitempty"`
	// Cause is the main cause of a straggler. Decision has the decisions about the task, in words.
	Cause    string `json:"cause,omitempty"`
	Decision string `json:"decision,omitempty"`
}

// Copies counts the copies that the log's own engine ran beside another attempt of their task.
type Copies struct {
	// Launched is the number of copies, and Won the number of copies that ended their task. Unmarked is the number of
	// copies that the log does not mark as speculative, but that overlap with another attempt.
	Launched int `json:"launched"`
	Won      int `json:"won"`
	Unmarked int `json:"unmarked"`
	// Wasted is the slot time of attempts that ran beside another attempt and did not end their task.
	Wasted float64 `json:"wasted_seconds"`
}

// String returns sentences with the counts.
func (c Copies) String() string {
	return fmt.Sprintf("The log's own engine ran %s beside another attempt of their task; %d of them ended their task. "+
		"Attempts that ran beside another attempt and did not end their task used %s of slot time.",
		words.Plural(c.Launched, "1 copy", fmt.Sprintf("%d copies", c.Launched)), c.Won, Span(c.Wasted))
}

// Point is a point of a distribution: the share of values that are at most X.
type Point struct {
	X     float64 `json:"x"`
	Share float64 `json:"share"`
}

// Work has the number of simulated events and the time of the replay itself.
type Work struct {
	Events  int     `json:"events"`
	Seconds float64 `json:"elapsed_seconds"`
	Rate    float64 `json:"events_per_second_per_core"`
}
