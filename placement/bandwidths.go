package placement

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// BandwidthRule is a rule to estimate the bandwidth that each link will have during a phase. The values and the
// names of the constants will not change.
type BandwidthRule uint8

// The rules that the paper compares [Mantri §6.4].
const (
	// Hybrid is Mantri's own rule: it uses Start for a short phase and Equal for a long phase.
	Hybrid BandwidthRule = iota
	// Start uses the bandwidths that were measured at the start of the phase. It suits a short phase, which ends
	// before the bandwidths change.
	Start
	// Equal gives all links the same bandwidth. It suits a long phase, in which temporary differences between
	// links even out.
	Equal
)

var bandwidthRuleNames = [...]string{Hybrid: "hybrid", Start: "start", Equal: "equal"}

// String returns the name of the rule.
func (r BandwidthRule) String() string { return enum.Name(bandwidthRuleNames[:], r) }

// MarshalText returns the name of the rule. It returns an error if the value has no name.
func (r BandwidthRule) MarshalText() ([]byte, error) { return enum.Text(bandwidthRuleNames[:], r) }

// UnmarshalText sets the rule to the constant whose name is text. It returns an error if no constant has this name.
func (r *BandwidthRule) UnmarshalText(text []byte) error {
	return enum.Parse(bandwidthRuleNames[:], text, r)
}

// BandwidthConfig estimates the bandwidth that each link will have during a phase from the bandwidths that were
// measured at the start of the phase [Mantri §5.2, §6.4]. The zero value uses Mantri's hybrid rule. A
// BandwidthConfig is safe for concurrent use.
type BandwidthConfig struct {
	// Rule is the rule of the estimate. The zero value is Hybrid.
	Rule BandwidthRule
	// Short is the longest duration of a phase that the rule Hybrid treats as short. The duration is estimated: it
	// is the time to move all input over the links at the measured bandwidths, if the input is spread as evenly as
	// possible. Zero means one minute; the paper states no value. The other rules ignore Short.
	Short time.Duration `want:"length" default:"1m"`
}

// Effective returns the configuration with its zero fields replaced by their defaults, for example for a log.
func (b BandwidthConfig) Effective() BandwidthConfig { return check.Filled(b) }

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (b BandwidthConfig) Validate() error { return check.Valid(b) }

// MarshalJSON returns a JSON object with the fields that are not zero. Its keys are the names of the fields in
// kebab case, and durations are in seconds. UnmarshalJSON reads this form.
func (b BandwidthConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&b)) }
func (b *BandwidthConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, b, wire.Struct) }

// Estimate returns a copy of the problem with the bandwidths that Assign should use, and the rule that was
// applied: Start or Equal. The fields Up and Down of measured are the bandwidths that were measured at the start
// of the phase.
//
// The rule Start does not change the problem. The rule Equal sets every bandwidth to the mean of all measured
// bandwidths. A bandwidth of 0 is included in the mean. A bandwidth of +Inf is not included in the mean and stays
// +Inf.
//
// Estimate returns an error for a field of b, or for a number of the problem, that is out of range. Cost: O(n r)
// for n tasks and r racks. Under the rule Equal, Estimate allocates two slices of length r.
func (b BandwidthConfig) Estimate(measured Problem) (Problem, BandwidthRule, error) {
	if err := b.Validate(); err != nil {
		return Problem{}, b.Rule, err
	}
	if err := measured.check(); err != nil {
		return Problem{}, b.Rule, err
	}
	rule := b.Rule
	if rule == Hybrid {
		rule = Equal
		if measured.evenly() <= b.Effective().Short.Seconds() {
			rule = Start
		}
	}
	if rule == Start {
		return measured, rule, nil
	}
	mean := meanFinite(measured.Up, measured.Down)
	measured.Up = levelled(measured.Up, mean)
	measured.Down = levelled(measured.Down, mean)
	return measured, rule, nil
}

// evenly returns the time in seconds to move all input over the links, if each link always carries as much as it
// can.
func (p *Problem) evenly() float64 {
	bytes := 0.0
	for _, row := range p.Input {
		bytes += sum(row)
	}
	return max(seconds(bytes, sum(p.Up)), seconds(bytes, sum(p.Down)))
}

// meanFinite returns the mean of all finite bandwidths in the slices, or 0 if no bandwidth is finite.
func meanFinite(groups ...[]float64) float64 {
	mean, count := 0.0, 0.0
	for _, group := range groups {
		for _, v := range group {
			if !math.IsInf(v, 1) {
				count++
				mean += (v - mean) / count // a running mean, because the sum of finite bandwidths may overflow
			}
		}
	}
	return mean
}

// levelled returns a copy of the bandwidths in which each finite bandwidth is replaced by mean.
func levelled(bandwidth []float64, mean float64) []float64 {
	out := make([]float64, len(bandwidth))
	for j, v := range bandwidth {
		out[j] = mean
		if math.IsInf(v, 1) {
			out[j] = v
		}
	}
	return out
}
