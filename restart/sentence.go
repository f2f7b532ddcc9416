package restart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Sentence returns the decision as one sentence for people, with its numbers and their units. An example:
//
//	kept: trials must not lose too much; this trial might lose 40 s of slot time, and trials may lose 12 s more
//
// In a sentence the word "it" means the task, or the attempt that is killed. The sentence has at most three digits of
// each number, and each time in the unit that fits: 34,289 s is 9.52 h. A program should read the line of String
// instead.
func (d Decision) Sentence() string {
	cause := textOf(reasons[:], d.Reason)
	if d.Fresh == 0 && d.Remaining == 0 && strings.Contains(cause, "{fresh}") {
		// The policy compared no times, so the placeholder {fresh} has no value.
		cause = "the policy says so"
	}
	text := textOf(actions[:], d.Action) + ": " + cause
	if compared := textOf(measures[:], d.Measure); compared != "" {
		text += "; " + compared
	} else if d.Reason == NotSlow && d.Bar != 0 {
		text += "; it still needs {remaining}, and the limit is {bar}"
	}
	if strings.Contains(text, "{remaining}") || d.Measure.readsRemaining() {
		switch d.Basis {
		case ByAge:
			text += "; its remaining time is judged by its age alone"
		case ByEarlyProgress:
			text += "; its remaining time rests on only a tenth of the run time that its progress predicts, since too few tasks have ended"
		}
	}
	return strings.NewReplacer(
		"{value}", digits(d.Value), "{value%}", percent(d.Value), "{threshold}", digits(d.Threshold),
		"{threshold%}", percent(d.Threshold),
		"{value s}", seconds(d.Value), "{threshold s}", seconds(d.Threshold), "{remaining}", span(d.Remaining),
		"{fresh}", span(d.Fresh), "{bar}", span(d.Bar),
	).Replace(text)
}

// words are the texts of an enumeration's value: its name, and its part of a sentence.
type words struct{ name, text string }

// nameOf returns the name of the value e from its table.
func nameOf[E ~uint8](table []words, e E) string {
	if int(e) < len(table) {
		return table[e].name
	}
	return enum.Name(nil, e)
}

// textOf returns the part of a sentence for the value e from its table, and that of the zero value if e does not exist.
func textOf[E ~uint8](table []words, e E) string {
	if int(e) >= len(table) {
		e = 0
	}
	return table[e].text
}

// names returns the names of an enumeration.
func names(table []words) []string {
	list := make([]string, len(table))
	for i := range table {
		list[i] = table[i].name
	}
	return list
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
	// Smaller sizes are written as 0, and larger sizes as this one.
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
