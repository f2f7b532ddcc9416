package restart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Sentence returns the decision as one sentence for people, with its numbers and their units. An example:
//
//	kept: trials must not lose too much; this trial might lose 40 s of slot time, and trials may lose 12 s more
//
// In a sentence the word "it" means the task, or the attempt that is killed. The sentence has at most three digits of
// each number, and each time in the unit that fits: 34,289 s is 9.52 h. A program should read the line of String instead.
func (d Decision) Sentence() string {
	cause := enumText(causes[:], d.Reason)
	if d.Fresh == 0 && d.Remaining == 0 && strings.Contains(cause, "{fresh}") {
		// The policy compared no times, so the placeholder {fresh} has no value.
		cause = "the policy says so"
	}
	text := enumText(verbs[:], d.Action) + ": " + cause
	if compared := enumText(measures[:], d.Measure); compared != "" {
		text += "; " + compared
	} else if d.Reason == NotSlow && d.Bar != 0 {
		text += "; it still needs {remaining}, and the limit is {bar}"
	}
	if d.Basis == ByEarlyProgress && (strings.Contains(text, "{remaining}") || d.Measure.readsRemaining()) {
		text += "; its remaining time rests on only a tenth of the run time that its progress predicts, since too few tasks have ended"
	}
	return strings.NewReplacer(
		"{value}", digits(d.Value), "{value%}", percent(d.Value), "{threshold}", digits(d.Threshold),
		"{threshold%}", percent(d.Threshold),
		"{value s}", seconds(d.Value), "{threshold s}", seconds(d.Threshold), "{remaining}", span(d.Remaining),
		"{fresh}", span(d.Fresh), "{bar}", span(d.Bar),
	).Replace(text)
}

// enumText returns the text for the value e from the list texts. If e has no text, it returns the text of the zero
// value.
func enumText[E ~uint8](texts []string, e E) string {
	if int(e) >= len(texts) {
		e = 0
	}
	return texts[e]
}

// verbs contains the word for each action, with which a sentence begins.
var verbs = [...]string{Keep: "kept", Copy: "copied", Restart: "restarted", Kill: "killed", Start: "started"}

// causes contains the part of a sentence that explains each reason. A placeholder in braces, such as {remaining}, is
// replaced by the number of the decision.
var causes = [...]string{
	NoReason:       "no reason is given",
	FreshSooner:    "it still needs {remaining}, and a new attempt takes {fresh}",
	SavesResources: "it still needs {remaining}, and a copy takes {fresh}, so that the two probably use less in all",
	IdleSlot:       "it still needs {remaining}, and a copy on an idle slot takes {fresh}",
	SlowerAttempt:  "other attempts of the task are faster",
	LongestToEnd:   "it is slow, and of the slow tasks it needs the most time, {remaining}",
	BehindAverage:  "it has done far less than the others have on average",
	NearEnd:        "nearly all tasks have finished",
	BeyondPeers:    "it has run for far longer than other tasks took",
	NextWaiting:    "it is the next of the tasks that wait",
	NotSlow:        "it is not slow enough",
	NoEstimate:     "too little is known of the time that it still needs, or that a new attempt takes",
	TooYoung:       "it has not run for long enough to be judged",
	TooFewFinished: "too few tasks have finished to compare it with",
	TasksWaiting:   "tasks that wait for a slot go first",
	NoFreeSlot:     "no slot is free for a copy",
	EnoughAttempts: "enough attempts of it run at once",
	CopyTooRecent:  "its last copy must first show how fast it is",
	RestartsSpent:  "it must not be restarted again",
	CapReached:     "enough copies run at once",
	BudgetSpent:    "the budget for copies is spent",
	NotEligible:    "two attempts of it must not run at once",
	SlowMachine:    "the machine that is free is too slow",
	SameMachine:    "an attempt of it runs on the machine that is free, or ran there",
	NothingToDo:    "no task needs the free slot",
	NotRunning:     "no attempt of it has begun to run",
	Disabled:       "the policy does nothing here",
	Overtaken:      "another attempt of the task has ended first",
	NoProgress:     "no attempt reports progress, and the policy needs that",
	BadUnits:       "its progress cannot be right: it has other units than the work",
	Unlikely:       "it is too doubtful that a new attempt ends sooner",
	Leaving:        "its machine goes before it can end there",
	Cloned:         "one more first attempt of it is wanted",
	BadAnswer:      "the policy has answered something impossible",
	FurthestOn:     "the slower attempt has run longest or has done most, and is not killed",
	Unproven:       "earlier trials do not yet show that it would pay",
	Held:           "nothing has begun or ended for long, and it can get no copy",
	LossBound:      "trials must not lose too much",
	CopyFaster:     "its copy is faster and will probably end first, so it had bad luck or a slow machine",
	NotRestartable: "it must not be killed and run again",
	CopiesSpent:    "it must not be copied again",
	BeatenMachine:  "the last attempt on the machine that is free was the slower of two, and other slots come free soon",
	NoFaster:       "it is no faster than the older attempt, so the task is probably long by itself",
	BadMachine:     "attempts take far longer on its machine than elsewhere",
}

// measures contains the part of a sentence that explains each comparison. {value} and {threshold} are replaced by the
// two numbers; {value%} and {threshold%} by the same numbers as percentages; {value s} and {threshold s} by the same
// numbers, which are seconds, in the unit that fits.
var measures = [...]string{
	NoMeasure:        "",
	SlotSeconds:      "to let it run costs {value s} of slot time, and the cheapest change {threshold s}",
	SavedSlotSeconds: "that saves {value s} of slot time, and must save {threshold s}",
	LostSlotSeconds:  "this trial might lose {value s} of slot time, and trials may lose {threshold s} more",
	SavedSeconds:     "a copy saves {value s}, and must save more than {threshold s}",
	RunSeconds:       "it has run for {value s}, and the limit is {threshold s}",
	SinceCopySeconds: "its last copy began or was killed {value s} ago, and {threshold s} must pass",
	UnitSeconds:      "it has run for {value s} for each unit of its work, and the limit is {threshold s}",
	Probability:      "the chance that a change pays is {value%}, and must be {threshold%}",
	WonTrials:        "{value} of the earlier trials won, and {threshold} must have",
	PastRestarts:     "it has used {value} of {threshold} restarts",
	PastCopies:       "it has used {value} of {threshold} copies",
	RunningAttempts:  "the number of its attempts is {value}, and at most {threshold} may run",
	FasterAttempts:   "the number of faster attempts is {value}, and {threshold} is enough",
	FinishedTasks:    "the number of finished tasks is {value}, and must be {threshold}",
	FinishedShare:    "{value%} of the tasks have finished, and {threshold%} must have",
	CopyShare:        "copies hold {value%} of the slots, and may hold {threshold%}",
	ProgressScore:    "its progress is {value}, and the limit is {threshold}",
	ProgressRate:     "it does {value%} of the task each second, and the limit is {threshold%}",
	WorkRate:         "it does {value} units of work each second, and the limit is {threshold}",
	MachineScore:     "the machine has done the work of {value} tasks, and the limit is {threshold}",
	SlowFactor:       "the machine takes {value} times as long as others, and the limit is {threshold}",
	WaitingTasks:     "the number of waiting tasks is {value}, and the limit is {threshold}",
}

// readsRemaining reports whether a comparison depends on the remaining time.
func (m Measure) readsRemaining() bool {
	switch m {
	case SlotSeconds, SavedSlotSeconds, LostSlotSeconds, SavedSeconds, Probability:
		return true
	}
	return false
}

// The scales of numbers in a sentence. A number is written with the first scale whose bound is above it.
var (
	// timeScales has the units of a time in seconds.
	timeScales = [...]scale{
		{1e-6, 1e-9, " ns"}, {0.1, 1e-3, " ms"}, {1000, 1, " s"}, {6000, 60, " min"}, {360_000, 3600, " h"}, {8.64e7, 86_400, " days"},
		{math.Inf(1), 31_557_600, " years"},
	}
	// countScales has the words of a number without a unit.
	countScales = [...]scale{
		{1000, 1, ""}, {1e6, 1e3, " thousand"}, {1e9, 1e6, " million"}, {1e12, 1e9, " billion"}, {math.Inf(1), 1e12, " trillion"},
	}
)

const (
	// mostDigits is how many digits of a number a sentence has.
	mostDigits = 3
	// leastWritten is the least size of a number that is not written as 0, and mostWritten the largest size of a number
	// that is written.
	leastWritten, mostWritten = 1e-9, 999e12
)

// scale is a unit or a word behind a number.
type scale struct {
	below float64 // sizes below this have the unit
	unit  float64 // the size of the unit
	name  string
}

// scaled writes x with three digits and the scale that fits its size.
func scaled(x float64, scales []scale) string {
	x = min(max(x, -mostWritten), mostWritten)
	if math.IsNaN(x) {
		return "an unknown number"
	}
	if math.Abs(x) < leastWritten {
		x = 0 // also in place of -0
	}
	at := 0
	for math.Abs(threeDigits(x)) >= scales[at].below {
		at++
	}
	return strconv.FormatFloat(threeDigits(x/scales[at].unit), 'f', -1, 64) + scales[at].name
}

// threeDigits returns the number with three digits that is nearest to x.
func threeDigits(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', mostDigits, 64), 64) // no error: the text is a number
	return y
}

// digits writes a number with three digits, for example 12345 as "12.3 thousand".
func digits(x float64) string { return scaled(x, countScales[:]) }

// percent writes a share as a percentage, for example 0.25 as "25 %".
func percent(x float64) string {
	return digits(float64(100*min(max(x, -mostWritten), mostWritten))) + " %"
}

// seconds writes a number of seconds in the unit that fits, for example 34,289 as "9.52 h".
func seconds(x float64) string {
	if math.Abs(x) < leastWritten {
		return "0 s"
	}
	return scaled(x, timeScales[:])
}

// span writes a duration, for example "12.5 s". An unknown duration is "an unknown time", and the largest duration is
// "for ever".
func span(d time.Duration) string {
	switch d {
	case estimate.Unknown:
		return "an unknown time"
	case num.MaxDuration:
		return "for ever"
	}
	return seconds(d.Seconds())
}
